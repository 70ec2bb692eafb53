/** Number of pages that a crawl visits at the same time: its share of the slots of all workers. */
import { limits } from '../../../core/limits/limits.ts'
import type { Concurrency } from '../../../engine/crawl/pacing/concurrency.ts'

const { ahead, slotsMs } = limits.crawl.fleet

/** Numbers of the whole fleet. */
export interface FleetLoad {
  /** Pages that its workers visit at the same time. */
  readonly slots: number
  /** Running crawls. */
  readonly crawls: number
}

/** Returns the outstanding pages of one crawl: its share, and some more that wait for a worker. */
const shareOf = ({ slots, crawls }: FleetLoad): number =>
  Math.min(limits.crawl.ahead, Math.max(2, Math.ceil((slots * (1 + ahead)) / Math.max(1, crawls))))

/** Adapts to the load of the fleet; calls `onChange` when the number grows. */
export function fleetConcurrency(load: () => Promise<FleetLoad>, onChange: () => void): Concurrency {
  let atOnce = 2
  const update = async () => {
    const before = atOnce
    // Fails while Redis is away, when nothing is visited anyway.
    atOnce = await load().then(shareOf, () => before)
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
