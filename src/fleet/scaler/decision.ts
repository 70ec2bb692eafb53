/** One decision about the number of workers: removes those that were drained, requests more, drains idle ones. */
import type { Directory } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'
import type { ProvisionStore } from '../provision/store.ts'
import { isIdle, neededWorkers, removableWorkers, sizeOf, type WorkerLoad } from './policy.ts'
import { type Scaler, StillRunningError } from './scaler.ts'
import type { Progress } from './state.ts'

export interface DecisionOptions {
  readonly scaler: Scaler
  readonly directory: Pick<Directory, 'workers' | 'drain'>
  readonly provisions: Pick<ProvisionStore, 'waiting' | 'markScaling'>
  /** Returns the number of pages that wait for a worker. */
  readonly jobs: () => Promise<number>
  readonly min: number
  readonly max: number
  /** Replacements of the times in the limits, in milliseconds. */
  readonly quietMs?: number
  readonly repeatMs?: number
}

interface Facts {
  readonly workers: readonly WorkerLoad[]
  readonly waiting: number
  readonly jobs: number
  /** Number that the platform maintains, if it reports it. */
  readonly current: number | undefined
}

/** Decides and acts; `progress` is changed as soon as an action has succeeded. @throws ScalerError */
export async function decide(options: DecisionOptions, progress: Progress): Promise<void> {
  const { directory, provisions, scaler, jobs } = options
  const [workers, waiting, pending, current] = await Promise.all([
    directory.workers(),
    provisions.waiting(),
    jobs(),
    scaler.current(),
  ])
  const facts = { workers, waiting, jobs: pending, current }
  const size = sizeOf(workers)
  if (size) progress.size = size
  const isKnown = (id: string) => workers.some((worker) => worker.id === id)
  progress.released = progress.released.filter(isKnown)
  // Somebody else may have added workers.
  const before = progress.wanted ?? current ?? workers.length
  progress.wanted = Math.max(before, current ?? 0)
  const removed = await removeDrained(options, progress, facts)
  const target = targetOf(options, progress, facts)
  await requestMore(options, progress, facts, { target, removed })
  await drainIdle(options, progress, target)
}

/** Lowers the number by the drained workers that can be removed now; returns whether it did. */
async function removeDrained(
  { scaler, repeatMs = limits.scaling.repeatMs }: DecisionOptions,
  progress: Progress,
  { workers }: Facts,
): Promise<boolean> {
  const isKnown = (id: string) => workers.some((worker) => worker.id === id)
  const removable = scaler.removal === 'exited' ? progress.leaving.filter((id) => !isKnown(id)) : progress.leaving
  if (removable.length === 0) return false
  const remaining = progress.wanted! - removable.length
  try {
    await scaler.want(remaining)
  } catch (error) {
    if (!(error instanceof StillRunningError)) throw error
    if (Date.now() - progress.drained_at < repeatMs) return false
    // The platform has replaced a worker that crashed instead of exiting.
    if (scaler.removal === 'exited') progress.leaving = progress.leaving.filter(isKnown)
    throw error
  }
  progress.wanted = remaining
  progress.leaving = progress.leaving.filter((id) => !removable.includes(id))
  progress.released.push(...removable.filter(isKnown))
  return true
}

/** Returns the number of workers to run: those that the load needs, and drained ones that still occupy a place. */
function targetOf({ min, max }: DecisionOptions, progress: Progress, { workers, waiting, jobs }: Facts): number {
  const need = neededWorkers({ workers, waiting, jobs }, progress.size, { min, max })
  const drained = workers.filter(({ id, state }) => state === 'draining' && !progress.released.includes(id))
  return Math.min(max, need + drained.length)
}

async function requestMore(
  { scaler, provisions, repeatMs = limits.scaling.repeatMs }: DecisionOptions,
  progress: Progress,
  { workers, waiting, current }: Facts,
  { target, removed }: { target: number; removed: boolean },
): Promise<void> {
  const { wanted, leaving } = progress
  const isSettled = !removed && leaving.length === 0
  // A platform that reports nothing may still be starting the workers.
  const isShort =
    current === undefined
      ? workers.length < wanted! && Date.now() - progress.requested_at > repeatMs
      : current < wanted!
  if (target > wanted! || (isSettled && isShort)) {
    const count = Math.max(target, wanted!)
    await scaler.want(count)
    progress.wanted = count
    progress.requested_at = Date.now()
  }
  if (waiting > 0 && progress.wanted! > workers.length) await provisions.markScaling()
}

/** Drains workers that were not needed for a while, so that they can be removed. */
async function drainIdle(
  { directory, scaler, quietMs = limits.scaling.quietMs }: DecisionOptions,
  progress: Progress,
  target: number,
): Promise<void> {
  const excess = progress.wanted! - target
  const now = Date.now()
  progress.quiet_since = excess > 0 ? (progress.quiet_since ?? now) : null
  if (progress.quiet_since === null || now - progress.quiet_since < quietMs || progress.leaving.length > 0) return
  const chosen = removableWorkers(await directory.workers(), scaler.removal, excess).map(({ id }) => id)
  for (const id of chosen) await directory.drain(id)
  const after = await directory.workers()
  // One that got work in the meantime finishes it first; its place counts as occupied until then.
  progress.leaving = chosen.filter((id) => after.every((worker) => worker.id !== id || isIdle(worker)))
  progress.drained_at = now
}
