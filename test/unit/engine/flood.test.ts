import { expect, test } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
import { Flood } from '../../../src/engine/browser/tabs/flood.ts'

const most = limits.flood.messagesPerSec
const said = (text: string, sessionId = 'one', timestamp = 0) =>
  Buffer.from(
    JSON.stringify({
      method: 'Runtime.consoleAPICalled',
      params: { type: 'log', args: [{ type: 'string', value: text }], executionContextId: 3, timestamp },
      sessionId,
    }),
  )
const textOf = (heard: string) => JSON.parse(heard).params.args[0].value as string

function floodAt(start: number) {
  const clock = { now: start }
  const ended: string[] = []
  const flood = new Flood(
    (sessionId) => ended.push(sessionId),
    () => clock.now,
    () => 0,
  )
  const say = (count: number, sessionId?: string) =>
    Array.from({ length: count }, (_, at) => flood.heard(said(`${at}`, sessionId))).filter((one) => one !== undefined)
  return { flood, clock, ended, say }
}

test('what a page says beyond a second’s worth is left out, with one word of it', () => {
  const { flood, clock, ended, say } = floodAt(0)
  const heard = say(most * 2)
  expect(heard).toHaveLength(most + 1)
  expect(heard.slice(0, most).map(textOf)).toEqual(Array.from({ length: most }, (_, at) => `${at}`))
  expect(textOf(heard[most]!)).toContain(`more than ${most} messages in a second`)
  expect(JSON.parse(heard[most]!)).toMatchObject({
    sessionId: 'one',
    params: { type: 'warning', executionContextId: 3 },
  })
  clock.now = 1000
  expect(textOf(flood.heard(said('next second'))!)).toBe('next second')
  expect(ended).toEqual([])
})

test('a page that floods takes nothing from the others, and answers are never left out', () => {
  const { flood, say } = floodAt(0)
  say(most * 2)
  expect(textOf(flood.heard(said('quiet', 'two'))!)).toBe('quiet')
  const answer = JSON.stringify({ id: 7, result: {}, sessionId: 'one' })
  expect(flood.heard(Buffer.from(answer))).toBe(answer)
})

test('a page that goes on and on is ended, once', () => {
  const { clock, ended, say } = floodAt(0)
  for (; ended.length === 0 && clock.now < 60_000; clock.now += 1000) say(most + 5000)
  expect(clock.now).toBe(5000)
  say(most + 5000)
  expect(ended).toEqual(['one'])
})

test('a page that says too much now and then is let be', () => {
  const { clock, ended, say } = floodAt(0)
  for (; clock.now < 60_000; clock.now += 1000) say(clock.now % 2000 === 0 ? most + 5000 : 10)
  expect(ended).toEqual([])
})

test('a page that says more than can be read, at whatever pace that is, is ended', () => {
  const ended: string[] = []
  const flood = new Flood(
    (sessionId) => ended.push(sessionId),
    () => 0,
    () => 10_000,
  )
  const late = said('"timestamp":1', 'one', 10_000 - limits.flood.lateMs - 1)
  for (let at = 0; at <= limits.flood.lateMessages; at += 1) flood.heard(late)
  expect(ended).toEqual(['one'])
  for (let at = 0; at <= limits.flood.lateMessages; at += 1) flood.heard(said('in time', 'two', 9000))
  expect(ended).toEqual(['one'])
})
