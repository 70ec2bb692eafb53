/** Decides how many workers a fleet needs, and which idle ones to remove. Without side effects. */
import { type SlotKind, slotKinds, type WorkerRecord } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Removal } from './scaler.ts'

/** The part of a worker's record that decisions depend on. */
export type WorkerLoad = Pick<WorkerRecord, 'id' | 'url' | 'state' | 'slots' | 'used' | 'pages' | 'busy_pages'>

export interface Load {
  readonly workers: readonly WorkerLoad[]
  /** Sessions that wait for a worker. */
  readonly waiting: number
  /** Pages that wait for a worker. */
  readonly jobs: number
}

/** Slots of each kind and pages of one worker, on average. */
export type Size = Readonly<Record<SlotKind | 'pages', number>>

const kinds = Object.keys(slotKinds) as SlotKind[]

/** Returns the average size of the workers that get work; undefined without any. */
export function sizeOf(all: readonly WorkerLoad[]): Size | undefined {
  const workers = all.filter(({ state }) => state === 'ready')
  if (workers.length === 0) return undefined
  const average = (of: (worker: WorkerLoad) => number) =>
    workers.reduce((sum, worker) => sum + of(worker), 0) / workers.length
  const slots = kinds.map((kind) => [kind, average((worker) => worker.slots[kind])] as const)
  return { ...(Object.fromEntries(slots) as Record<SlotKind, number>), pages: average(({ pages }) => pages) }
}

/**
 * Returns the number of workers for the load and a reserve of free slots, between `min` and `max`. What drained workers
 * hold stays there.
 */
export function neededWorkers(load: Load, size: Size | undefined, { min, max }: { min: number; max: number }): number {
  const ready = load.workers.filter(({ state }) => state === 'ready')
  const sum = (of: (worker: WorkerLoad) => number) => ready.reduce((total, worker) => total + of(worker), 0)
  const pages = sum(({ busy_pages }) => busy_pages) + load.jobs
  const used = kinds.map((kind) => sum((worker) => worker.used[kind]) + (kind === 'session' ? load.waiting : 0))
  const isIdle = pages === 0 && used.every((count) => count === 0)
  // Only a fleet that may shrink to nothing does without a reserve.
  const reserve = isIdle && min === 0 ? 0 : limits.scaling.reserveSlots
  // The size of workers is unknown before the first one.
  const each = size ?? { session: 1, shell: 0, relay: 0, pages: 1 }
  const perKind = kinds.map((kind, at) => (each[kind] > 0 ? (used[at]! + reserve) / each[kind] : 0))
  const perPages = each.pages > 0 ? pages / each.pages : 0
  // Workers may differ in size: without a free slot, one more is needed in any case.
  const total = (kind: SlotKind) => sum((worker) => worker.slots[kind])
  const isFull = kinds.some((kind, at) => each[kind] > 0 && total(kind) - used[at]! < reserve)
  const least = isFull || load.waiting > 0 ? ready.length + 1 : 0
  return Math.min(max, Math.max(min, least, Math.ceil(Math.max(perPages, ...perKind))))
}

/** Returns up to `count` ready workers that hold nothing and that the platform is able to remove next. */
export function removableWorkers(
  workers: readonly WorkerLoad[],
  removal: Removal,
  count: number,
): readonly WorkerLoad[] {
  if (removal !== 'last') return workers.filter((worker) => worker.state === 'ready' && isIdle(worker)).slice(0, count)
  const numbered = workers.map((worker) => ({ worker, number: numberOf(worker.url) }))
  // Without all numbers it is unknown which one goes.
  if (numbered.some(({ number }) => number === undefined)) return []
  const last = numbered.toSorted((a, b) => b.number! - a.number!).map(({ worker }) => worker)
  const busy = last.findIndex((worker) => worker.state !== 'ready' || !isIdle(worker))
  return last.slice(0, Math.min(count, busy === -1 ? last.length : busy))
}

export const isIdle = ({ used, busy_pages }: WorkerLoad): boolean =>
  busy_pages === 0 && kinds.every((kind) => used[kind] === 0)

/** Returns the number at the end of the first label of a host name, as pods of a StatefulSet have it. */
function numberOf(url: string): number | undefined {
  const number = /-(\d+)$/.exec(new URL(url).hostname.split('.')[0]!)?.[1]
  return number === undefined ? undefined : Number(number)
}
