import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../../../../src/core/limits/limits.ts'
import { EventBuffer, type NewEvent } from '../../../../src/engine/relay/events/buffer.ts'

const said = (text: string, level = 'info'): NewEvent => ({
  ts: 1,
  kind: 'console',
  type: 'log',
  target_id: 'A',
  data: { level, text },
})
const all = { since: 0, limit: 100_000, order: 'asc' } as const
const seqs = (page: { events: readonly { seq: number }[] }) => page.events.map(({ seq }) => seq)

describe('event buffer of a relay session', () => {
  test('numbers events from 1 without gaps', () => {
    const buffer = new EventBuffer()
    buffer.add([said('a'), said('b')])
    buffer.add([said('c')])
    expect(buffer.read(all)).toMatchObject({ first_seq: 1, last_seq: 3, next: 3, more: false, gap: null })
    expect(seqs(buffer.read(all))).toEqual([1, 2, 3])
  })

  test('continues from `next` without losing or repeating events for any page size', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.integer({ min: 1, max: 9 }), (count, limit) => {
        const buffer = new EventBuffer()
        buffer.add(Array.from({ length: count }, (_, at) => said(String(at), at % 3 ? 'info' : 'error')))
        const seen: number[] = []
        for (let since = 0, more = true; more;) {
          const page = buffer.read({ since, limit, order: 'asc', level: 'error' })
          seen.push(...seqs(page))
          ;({ next: since, more } = page)
        }
        expect(seen).toEqual(Array.from({ length: Math.ceil(count / 3) }, (_, at) => at * 3 + 1))
      }),
    )
  })

  test('drops the oldest events beyond the limit and reports the gap', () => {
    const buffer = new EventBuffer()
    buffer.add(Array.from({ length: limits.relay.events + 5 }, (_, at) => said(String(at))))
    expect(buffer.count).toBe(limits.relay.events)
    expect(buffer.read({ ...all, since: 2, limit: 1 })).toMatchObject({
      gap: { from: 3, to: 5, count: 3 },
      first_seq: 6,
      events: [{ seq: 6 }],
    })
  })

  test('stays within its size limit', () => {
    const buffer = new EventBuffer()
    const big = said('x'.repeat(1024 * 1024))
    for (let at = 0; at < 40; at++) buffer.add([big])
    expect(buffer.bytes).toBeLessThanOrEqual(limits.relay.eventBytes)
    expect(buffer.count).toBe(15)
  })

  test('clears without a gap and continues numbering', () => {
    const buffer = new EventBuffer()
    buffer.add([said('a'), said('b')])
    buffer.clear()
    expect(buffer.read(all)).toMatchObject({ events: [], gap: null, first_seq: 3, last_seq: 2 })
    buffer.add([said('c')])
    expect(buffer.read(all)).toMatchObject({ events: [{ seq: 3 }], gap: null })
  })

  test('reads the newest first in descending order', () => {
    const buffer = new EventBuffer()
    buffer.add([said('a'), said('b'), said('c')])
    const page = buffer.read({ ...all, order: 'desc', limit: 2 })
    expect(seqs(page)).toEqual([3, 2])
    expect(page).toMatchObject({ more: true, next: 3 })
  })

  test('filters by kind, type, target, level, URL and text', () => {
    const buffer = new EventBuffer()
    buffer.add([
      said('Out of Memory', 'error'),
      { ts: 2, kind: 'network', type: 'request', target_id: 'B', data: { url: 'https://a.test/x.js', method: 'GET' } },
    ])
    expect(seqs(buffer.read({ ...all, kinds: ['network'] }))).toEqual([2])
    expect(seqs(buffer.read({ ...all, types: ['log'] }))).toEqual([1])
    expect(seqs(buffer.read({ ...all, targetId: 'B' }))).toEqual([2])
    expect(seqs(buffer.read({ ...all, level: 'error' }))).toEqual([1])
    expect(seqs(buffer.read({ ...all, url: (url) => url.endsWith('.js') }))).toEqual([2])
    expect(seqs(buffer.read({ ...all, text: 'out of memory' }))).toEqual([1])
  })

  test('counts events that were lost before they arrived', () => {
    const buffer = new EventBuffer()
    buffer.lost({ console: 3, network: 2 })
    buffer.lost({ console: 1 })
    expect(buffer.dropped).toEqual({ total: 6, console: 4, network: 2, page: 0, cdp: 0 })
  })

  test('wakes a reader that waits for the next event', async () => {
    const buffer = new EventBuffer()
    const woken = buffer.next(new AbortController().signal)
    buffer.add([said('a')])
    await expect(woken).resolves.toBeUndefined()
    const gone = new AbortController()
    const aborted = buffer.next(gone.signal)
    gone.abort()
    await expect(aborted).resolves.toBeUndefined()
  })
})
