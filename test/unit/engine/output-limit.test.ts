import { describe, expect, test } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
import { OutputLimit } from '../../../src/engine/browser/tabs/output-limit.ts'

const most = limits.flood.messagesPerSec
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
  const flood = new OutputLimit(
    (sessionId) => ended.push(sessionId),
    () => clock.now,
    () => 0,
  )
  const send = (count: number, sessionId?: string) =>
    Array.from({ length: count }, (_, at) => flood.filter(message(`${at}`, sessionId))).filter(
      (one) => one !== undefined,
    )
  return { flood, clock, ended, send }
}

test('drops messages beyond the rate limit, with one notice', () => {
  const { flood, clock, ended, send } = floodAt(0)
  const passed = send(most * 2)
  expect(passed).toHaveLength(most + 1)
  expect(passed.slice(0, most).map(textOf)).toEqual(Array.from({ length: most }, (_, at) => `${at}`))
  expect(textOf(passed[most]!)).toContain(`more than ${most} messages per second`)
  expect(JSON.parse(passed[most]!)).toMatchObject({
    sessionId: 'one',
    params: { type: 'warning', executionContextId: 3 },
  })
  clock.now = 1000
  expect(textOf(flood.filter(message('next second'))!)).toBe('next second')
  expect(ended).toEqual([])
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
  for (; ended.length === 0 && clock.now < 60_000; clock.now += 1000) send(most + 5000)
  expect(clock.now).toBe(5000)
  send(most + 5000)
  expect(ended).toEqual(['one'])
})

test('does not end a page with occasional bursts', () => {
  const { clock, ended, send } = floodAt(0)
  for (; clock.now < 60_000; clock.now += 1000) send(clock.now % 2000 === 0 ? most + 5000 : 10)
  expect(ended).toEqual([])
})

describe('messages that arrive late', () => {
  /** Sends too many late messages, which the page sent during this time; returns the pages that are ended. */
  function endedAfter(durationMs: number): string[] {
    const ended: string[] = []
    const flood = new OutputLimit(
      (sessionId) => ended.push(sessionId),
      () => 0,
      () => 100_000,
    )
    const count = limits.flood.lateMessages + 2
    const last = 100_000 - limits.flood.lateMs - 1
    for (let at = 0; at < count; at += 1)
      flood.filter(message('"timestamp":1', 'one', last - durationMs + (durationMs * at) / (count - 1)))
    for (let at = 0; at <= limits.flood.lateMessages; at += 1) flood.filter(message('in time', 'two', 99_000))
    return ended
  }

  test('end a page that has sent them for some time', () => {
    expect(endedAfter(limits.flood.lateForMs + 1)).toEqual(['one'])
  })

  test('do not end a page that sent all of them at once', () => {
    expect(endedAfter(100)).toEqual([])
  })
})
