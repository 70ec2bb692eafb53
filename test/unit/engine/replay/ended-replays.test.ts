import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { limits } from '../../../../src/core/limits/limits.ts'
import { EndedReplays } from '../../../../src/engine/browser/replay/ended-replays.ts'

const { keptChars } = limits.replay

const session = (sessionId: string, chars: number) => ({
  sessionId,
  replay: { chars, begin: () => Promise.reject(new Error('ended')), observed: () => {} },
})
type Recorded = ReturnType<typeof session>

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('the oldest recordings make room for new ones, of which the last is always kept', () => {
  const replays = new EndedReplays<Recorded>()
  for (const [id, part] of [
    ['a', 0.5],
    ['b', 0.4],
    ['c', 0.3],
  ] as const)
    replays.keep(session(id, keptChars * part))
  expect(['a', 'b', 'c'].map((id) => replays.find(id) !== undefined)).toEqual([false, true, true])
  replays.keep(session('large', keptChars * 2))
  expect(['b', 'c', 'large'].map((id) => replays.find(id) !== undefined)).toEqual([false, false, true])
})

test('recordings are kept as long as the records of ended sessions', () => {
  const replays = new EndedReplays<Recorded>()
  replays.keep(session('a', 1))
  vi.advanceTimersByTime(limits.session.tombstoneMs - 1)
  expect(replays.find('a')).toBeDefined()
  vi.advanceTimersByTime(1)
  expect(replays.find('a')).toBeUndefined()
})
