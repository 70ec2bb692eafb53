import { describe, expect, test } from 'vitest'
import { neededWorkers, removableWorkers, sizeOf, type WorkerLoad } from '../../../src/fleet/scaler/policy.ts'

const none = { session: 0, shell: 0, relay: 0 }
const worker = (id: string, changes: Partial<WorkerLoad> = {}): WorkerLoad => ({
  id,
  url: `http://${id}:4101`,
  state: 'ready',
  slots: { ...none, session: 4 },
  used: none,
  pages: 2,
  busy_pages: 0,
  ...changes,
})
const using = (session: number) => ({ used: { ...none, session } })
const range = { min: 1, max: 10 }

/** Returns the number of workers that these need. */
const need = (workers: WorkerLoad[], load: { waiting?: number; jobs?: number } = {}, limits = range) =>
  neededWorkers({ workers, waiting: 0, jobs: 0, ...load }, sizeOf(workers), limits)

describe('the number of workers', () => {
  test('leaves one slot free', () => {
    expect(need([worker('a', using(3))])).toBe(1)
    expect(need([worker('a', using(4))])).toBe(2)
    expect(need([worker('a', using(4)), worker('b', using(4))])).toBe(3)
  })

  test('grows with the sessions and pages that wait', () => {
    expect(need([worker('a', using(4))], { waiting: 8 })).toBe(4)
    expect(need([worker('a', { busy_pages: 2 })], { jobs: 6 })).toBe(4)
    expect(need([worker('a', { slots: { ...none, shell: 1 }, used: { ...none, shell: 1 } })])).toBe(2)
  })

  test('grows for waiting sessions also when workers differ in size', () => {
    const [large, small] = [
      worker('a', { ...using(4), state: 'draining' }),
      worker('b', { slots: { ...none, session: 1 }, ...using(1) }),
    ]
    expect(need([large, small], { waiting: 1 })).toBe(3)
    expect(
      need(
        [
          worker('a', { slots: { ...none, session: 50 } }),
          worker('b', { slots: { ...none, session: 1 }, ...using(1) }),
        ],
        { waiting: 1 },
      ),
    ).toBe(3)
  })

  test('does not count what drained workers hold', () => {
    expect(need([worker('a', using(1)), worker('b', { ...using(4), state: 'draining' })])).toBe(1)
  })

  test('stays within the limits', () => {
    expect(need([worker('a', using(4))], { waiting: 1000 })).toBe(10)
    expect(need([worker('a')], {}, { min: 3, max: 10 })).toBe(3)
  })

  test('starts with one worker per session while the size of workers is unknown', () => {
    expect(need([], { waiting: 3 })).toBe(4)
  })

  test('an idle fleet can shrink to nothing, and grows again from nothing', () => {
    expect(need([worker('a')], {}, { min: 0, max: 3 })).toBe(0)
    expect(need([], { waiting: 1 }, { min: 0, max: 3 })).toBe(2)
  })
})

describe('workers to remove', () => {
  const idle = (...workers: WorkerLoad[]) => workers
  const ids = (workers: readonly WorkerLoad[]) => workers.map(({ id }) => id)

  test('are ready and hold nothing', () => {
    const all = idle(
      worker('a', using(1)),
      worker('b'),
      worker('c', { state: 'draining' }),
      worker('d', { busy_pages: 1 }),
      worker('e'),
    )
    expect(ids(removableWorkers(all, 'exited', 5))).toEqual(['b', 'e'])
    expect(ids(removableWorkers(all, 'unready', 1))).toEqual(['b'])
  })

  test('are the last ones where the platform removes by number', () => {
    const all = idle(worker('bax-9'), worker('bax-10'), worker('bax-2', using(1)), worker('bax-1'))
    expect(ids(removableWorkers(all, 'last', 5))).toEqual(['bax-10', 'bax-9'])
    expect(ids(removableWorkers([...all, worker('bax-11', using(1))], 'last', 5))).toEqual([])
    expect(ids(removableWorkers([...all, worker('other')], 'last', 5))).toEqual([])
  })
})
