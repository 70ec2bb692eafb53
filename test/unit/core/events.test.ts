import { describe, expect, test } from 'vitest'
import { EventLog, type SessionEvent } from '../../../src/core/events/events.ts'
import { limits } from '../../../src/core/limits/limits.ts'

const count = (log: EventLog, from: number, to: number) => {
  for (let number = from; number <= to; number++) log.emit('console', { text: String(number) })
}
const take = async (events: AsyncGenerator<SessionEvent>, many: number): Promise<SessionEvent[]> => {
  const taken: SessionEvent[] = []
  while (taken.length < many) {
    const { value, done } = await events.next()
    if (done) break
    taken.push(value)
  }
  return taken
}
const seqs = (events: readonly SessionEvent[]) => events.map(({ seq }) => seq)

describe('following a log', () => {
  test('yields buffered events, then new ones, without a gap', async () => {
    const log = new EventLog()
    count(log, 1, 3)
    const events = log.follow(1, new AbortController().signal)
    expect(seqs(await take(events, 2))).toEqual([2, 3])
    const next = take(events, 2)
    count(log, 4, 5)
    expect(seqs(await next)).toEqual([4, 5])
  })

  test('reports to a slow reader how many events it has lost', async () => {
    const log = new EventLog()
    count(log, 1, 1)
    const events = log.follow(0, new AbortController().signal)
    await take(events, 1)
    count(log, 2, limits.events.ring + 101)
    const [lagged, next] = await take(events, 2)
    expect(lagged).toMatchObject({ type: 'lagged', seq: 101, data: { dropped: 100 } })
    expect(next!.seq).toBe(102)
    expect(log.since(0)).toHaveLength(limits.events.ring)
  })

  test('limits the total length of events, drops the oldest first, and counts every lost one', async () => {
    const log = new EventLog()
    const events = log.follow(0, new AbortController().signal)
    const text = 'x'.repeat(limits.eventChars / 8)
    for (let at = 0; at < 20; at++) log.emit('command.started', { command: 'click', context: { deep: [{ text }] } })
    expect(seqs(log.since(0))).toEqual([14, 15, 16, 17, 18, 19, 20])
    const [lagged, ...rest] = await take(events, 8)
    expect(lagged).toMatchObject({ type: 'lagged', seq: 13, data: { dropped: 13 } })
    expect(seqs(rest)).toEqual([14, 15, 16, 17, 18, 19, 20])
  })

  test('delivers an event longer than the whole buffer, and reports it as lost', async () => {
    const log = new EventLog()
    const heard: number[] = []
    log.listen(({ seq }) => heard.push(seq))
    count(log, 1, 2)
    const events = log.follow(0, new AbortController().signal)
    log.emit('dialog.opened', { message: 'x'.repeat(limits.eventChars) })
    expect([heard, seqs(log.since(0))]).toEqual([
      [1, 2, 3],
      [1, 2],
    ])
    const [lagged, ...rest] = await take(events, 3)
    expect(lagged).toMatchObject({ type: 'lagged', seq: 0, data: { dropped: 1 } })
    expect(seqs(rest)).toEqual([1, 2])
    count(log, 4, 4)
    expect(seqs(await take(events, 1))).toEqual([4])
  })

  test.each([
    ['network.request', 'dialog.opened'],
    ['page.navigated', 'command.finished'],
    ['download.started', 'console'],
    ['page.error', 'tab.opened'],
    ['command.started', 'session.expiring'],
  ] as const)('keeps other events when %s floods the log, and reports what is lost', async (flooding, other) => {
    const log = new EventLog()
    log.emit(other)
    for (let at = 0; at < 3 * limits.events.ring; at++) log.emit(flooding)
    log.emit(other)
    for (let at = 0; at < 3 * limits.events.ring; at++) log.emit(flooding)
    const kept = log.since(0)
    const last = log.lastSeq
    expect(seqs(kept.filter(({ type }) => type === other))).toEqual([1, 2 + last / 2 - 1])
    expect(kept.length).toBe(limits.events.ring + 2)
    // The last events have no gaps.
    expect(seqs(kept.slice(2))).toEqual(
      Array.from({ length: limits.events.ring }, (_, at) => last - limits.events.ring + 1 + at),
    )
    expect(await take(log.follow(0, new AbortController().signal), 3)).toMatchObject([
      { type: 'lagged', seq: 0, data: { dropped: 5 * limits.events.ring } },
      { type: other, seq: 1 },
      { type: other },
    ])
  })

  test('limits what is kept of each kind', () => {
    const log = new EventLog()
    const flood = () => count(log, 1, 2 * limits.events.ring)
    for (let at = 0; at < 10 * limits.events.perKind; at++) log.emit('tab.opened')
    flood()
    expect(log.since(0)).toHaveLength(limits.events.ring + limits.events.perKind)
    for (let at = 0; at < 10; at++) log.emit('tab.opened', { title: 'x'.repeat(limits.events.kindChars / 2) })
    flood()
    expect(log.since(0).filter(({ type }) => type === 'tab.opened').length).toBe(1)
  })

  test('starts with the next event when the number is in the future', async () => {
    const log = new EventLog()
    count(log, 1, 2)
    const events = log.follow(999, new AbortController().signal)
    const next = take(events, 1)
    count(log, 3, 3)
    expect(seqs(await next)).toEqual([3])
  })

  test('ends after session.closed, and immediately when aborted', async () => {
    const log = new EventLog()
    log.emit('session.closed', { reason: 'deleted' })
    expect((await take(log.follow(0, new AbortController().signal), 5)).map(({ type }) => type)).toEqual([
      'session.closed',
    ])
    const gone = new AbortController()
    const waiting = take(new EventLog().follow(0, gone.signal), 1)
    gone.abort()
    expect(await waiting).toEqual([])
  })
})
