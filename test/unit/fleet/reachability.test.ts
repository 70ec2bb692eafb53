import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { WorkerRecord } from '../../../src/core/fleet.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import { Reachability } from '../../../src/fleet/reachability.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const workers = (...ids: string[]) => ids.map((id) => ({ id })) as WorkerRecord[]

test('asks each worker at most once per heartbeat, also when several callers ask at once', async () => {
  const asked: string[] = []
  const reachability = new Reachability(async ({ id }) => {
    asked.push(id)
    return id === 'cut' ? 'timed out' : null
  })
  const [first, second] = await Promise.all([
    reachability.of(workers('a', 'cut')),
    reachability.of(workers('a', 'cut')),
  ])
  expect([first, second]).toEqual([
    [null, 'timed out'],
    [null, 'timed out'],
  ])
  expect(asked).toEqual(['a', 'cut'])
  vi.advanceTimersByTime(limits.fleet.heartbeatMs - 1)
  expect(await reachability.of(workers('cut', 'b'))).toEqual(['timed out', null])
  expect(asked).toEqual(['a', 'cut', 'b'])
  vi.advanceTimersByTime(1)
  expect(await reachability.of(workers('cut', 'b'))).toEqual(['timed out', null])
  expect(asked).toEqual(['a', 'cut', 'b', 'cut'])
})
