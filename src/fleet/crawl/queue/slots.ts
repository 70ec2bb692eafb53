/**
 * Number of pages that a crawl visits at the same time: keys have equal parts of the slots of all workers, and so have the
 * crawls of a key.
 */
import { limits } from '../../../core/limits/limits.ts'
import { reserveFor } from '../../../core/process/fair-queue.ts'
import type { Origin } from '../../../core/process/turns.ts'
import type { Concurrency } from '../../../engine/crawl/pacing/concurrency.ts'

const { ahead, slotsMs } = limits.crawl.fleet

/** Numbers of the whole fleet. */
export interface FleetLoad {
  /** Pages that its workers visit at the same time. */
  readonly slots: number
  /** Owners of the running crawls, one for each crawl. */
  readonly owners: readonly Origin[]
}

/**
 * Returns the outstanding pages of one crawl: its share, and some more that wait for a worker. The pages of one key leave
 * some of the jobs that workers hold to others, unless it has more crawls than pages.
 */
export function shareOf({ slots, owners }: FleetLoad, owner: Origin): number {
  const keys = new Set(owners).add(owner).size
  const own = owners.filter((one) => one === owner).length
  return Math.min(limits.crawl.ahead, Math.max(1, Math.floor((slots * (1 + ahead)) / keys / Math.max(1, own))))
}

/** Returns the jobs that a worker holds: some more than it visits at the same time, for keys with few pages. */
export const heldJobs = (pages: number): number => pages + reserveFor(pages)

/** Adapts to the load of the fleet; calls `onChange` when the number grows. */
export function fleetConcurrency(load: () => Promise<FleetLoad>, owner: Origin, onChange: () => void): Concurrency {
  let atOnce = 1
  const update = async () => {
    const before = atOnce
    // Fails while Redis is away, when nothing is visited anyway.
    atOnce = await load().then(
      (found) => shareOf(found, owner),
      () => before,
    )
    if (atOnce > before) onChange()
  }
  void update()
  const timer = setInterval(() => void update(), slotsMs).unref()
  return {
    get atOnce() {
      return atOnce
    },
    close: () => clearInterval(timer),
  }
}
