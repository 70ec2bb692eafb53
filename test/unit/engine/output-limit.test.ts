import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
import { OutputLimit } from '../../../src/engine/browser/cdp/output-limit.ts'

const { messagesPerSec: most, endlessPerSec: endless } = limits.flood
const message = (text: string, sessionId = 'one', timestamp = 0) =>
  Buffer.from(
    JSON.stringify({
      method: 'Runtime.consoleAPICalled',
      params: { type: 'log', args: [{ type: 'string', value: text }], executionContextId: 3, timestamp },
      sessionId,
    }),
  )
const textOf = (passed: string) => JSON.parse(passed).params.args[0].value as string

function floodAt(start: number) {
  const clock = { now: start }
  const ended: string[] = []
  const notices: string[] = []
  const flood = new OutputLimit({
    onEndless: (sessionId) => ended.push(sessionId),
    onNotice: (text) => notices.push(text),
    now: () => clock.now,
    clock: () => 0,
  })
  const send = (count: number, sessionId?: string) =>
    Array.from({ length: count }, (_, at) => flood.filter(message(`${at}`, sessionId))).filter(
      (one) => one !== undefined,
    )
  return { flood, clock, ended, notices, send }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('drops messages beyond the rate limit, and reports how many', () => {
  const { flood, clock, ended, notices, send } = floodAt(0)
  const passed = send(most * 2)
  expect(passed.map(textOf)).toEqual(Array.from({ length: most }, (_, at) => `${at}`))
  vi.advanceTimersByTime(1000)
  expect(notices.map((text) => JSON.parse(text))).toMatchObject([
    {
      method: 'Log.entryAdded',
      sessionId: 'one',
      params: { entry: { level: 'warning', text: expect.stringContaining(`dropped ${most} console messages`) } },
    },
  ])
  vi.advanceTimersByTime(5000)
  expect(notices).toHaveLength(1)
  clock.now = 1000
  expect(textOf(flood.filter(message('next second'))!)).toBe('next second')
  expect(ended).toEqual([])
})

test('reports dropped messages of workers as console messages: they have no log', () => {
  const { flood, notices, send } = floodAt(0)
  const attached = { method: 'Target.attachedToTarget', params: { sessionId: 'one', targetInfo: { type: 'worker' } } }
  flood.filter(Buffer.from(JSON.stringify(attached)))
  send(most + 3)
  vi.advanceTimersByTime(1000)
  const { method, params } = JSON.parse(notices[0]!)
  expect(method).toBe('Runtime.consoleAPICalled')
  expect(params.args[0].value).toContain('dropped 3 console messages')
})

test('drops messages beyond the rate limit of the browser', () => {
  const { clock, notices, send } = floodAt(0)
  const { browserMessagesPerSec, reservedPerSec } = limits.flood
  const pages = Array.from({ length: 10 }, (_, at) => `page ${at}`)
  const passed = () => pages.reduce((sum, page) => sum + send(most, page).length, 0)
  const full = browserMessagesPerSec / most
  const expected = browserMessagesPerSec + (pages.length - full) * reservedPerSec
  expect(passed()).toBe(expected)
  clock.now = 1000
  expect(passed()).toBe(expected)
  vi.advanceTimersByTime(1000)
  const dropped = notices.map((text) => Number(/dropped (\d+)/.exec(text)![1]))
  expect(dropped.reduce((sum, count) => sum + count, 0)).toBe(2 * (pages.length * most - expected))
})

test('limits each page separately, and never drops responses', () => {
  const { flood, send } = floodAt(0)
  send(most * 2)
  expect(textOf(flood.filter(message('quiet', 'two'))!)).toBe('quiet')
  const answer = JSON.stringify({ id: 7, result: {}, sessionId: 'one' })
  expect(flood.filter(Buffer.from(answer))).toBe(answer)
})

test('ends a page that does not stop, once', () => {
  const { clock, ended, send } = floodAt(0)
  for (; ended.length === 0 && clock.now < 60_000; clock.now += 1000) send(endless + 5000)
  expect(clock.now).toBe(5000)
  send(endless + 5000)
  expect(ended).toEqual(['one'])
})

test('does not end a page with occasional bursts', () => {
  const { clock, ended, send } = floodAt(0)
  for (; clock.now < 60_000; clock.now += 1000) send(clock.now % 2000 === 0 ? endless + 5000 : 10)
  expect(ended).toEqual([])
})

test('does not end a page that logs in every frame', () => {
  const { clock, ended, send } = floodAt(0)
  for (; clock.now < 600_000; clock.now += 1000) send(most + 100)
  expect(ended).toEqual([])
})

describe('messages that arrive late', () => {
  /** Sends late messages, by default too many, which the page sent during this time; returns the pages that are ended. */
  function endedAfter(durationMs: number, count = limits.flood.lateMessages + 2, text = ''): string[] {
    const ended: string[] = []
    const flood = new OutputLimit({
      onEndless: (sessionId) => ended.push(sessionId),
      onNotice: () => {},
      now: () => 0,
      clock: () => 100_000,
    })
    const last = 100_000 - limits.flood.lateMs - 1
    for (let at = 0; at < count; at += 1)
      flood.filter(message(`"timestamp":1${text}`, 'one', last - durationMs + (durationMs * at) / (count - 1)))
    for (let at = 0; at <= limits.flood.lateMessages; at += 1) flood.filter(message('in time', 'two', 99_000))
    return ended
  }

  test('end a page that has sent them for some time', () => {
    expect(endedAfter(limits.flood.lateForMs + 1)).toEqual(['one'])
  })

  test('end a page whose messages are large', () => {
    const large = 'x'.repeat(1024 * 1024)
    expect(endedAfter(limits.flood.lateForMs + 1, limits.flood.lostBytes / large.length + 2, large)).toEqual(['one'])
  })

  test('do not end a page for a burst, however long it takes on a busy machine', () => {
    expect(endedAfter(60_000, 3000)).toEqual([])
  })

  test('do not end a page that sent all of them at once', () => {
    expect(endedAfter(100)).toEqual([])
  })
})
