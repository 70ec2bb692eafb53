/** Repeats the decision about the number of workers, in one gateway at a time. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Log } from '../../core/config/config.ts'
import { limits } from '../../core/limits/limits.ts'
import { decide, type DecisionOptions } from './decision.ts'
import { Lease } from './lease.ts'
import type { ScalerError } from './scaler.ts'
import { loadProgress, saveProgress } from './state.ts'

export interface AutoscalerOptions extends DecisionOptions {
  readonly redis: Redis
  readonly log: Log
  /** Replacements of the times in the limits, in milliseconds. */
  readonly everyMs?: number
  readonly leaseMs?: number
}

export interface Autoscaler {
  /** Stops, so that another gateway can go on at once. */
  close(): Promise<void>
}

export function startAutoscaler(options: AutoscalerOptions): Autoscaler {
  const { redis, log, everyMs = limits.scaling.everyMs, leaseMs = limits.scaling.leaseMs } = options
  const lease = new Lease(redis, randomUUID(), leaseMs)
  const closing = new AbortController()
  let lastError: string | null = null
  const report = (error: string | null, hint?: string) => {
    if (error !== null && error !== lastError) log('error', `cannot scale: ${error}`, { ...(hint && { hint }) })
    if (error === null && lastError !== null) log('info', 'scaling works again')
    lastError = error
  }
  const loop = async () => {
    while (!closing.signal.aborted) {
      let rest = everyMs
      try {
        if (await lease.hold()) {
          await lease.during(() => runOnce(options))
          report(null)
        }
      } catch (error) {
        report((error as Error).message, (error as ScalerError).hint)
        rest = Math.max(everyMs, Math.min(limits.scaling.retryMs, leaseMs / 2))
      }
      await pause(rest, undefined, { signal: closing.signal }).catch(() => {})
    }
  }
  const looping = loop()
  return {
    async close() {
      closing.abort()
      await looping
      await lease.release().catch(() => {})
    },
  }
}

/** Decides once, and saves what was done, also when a part of it failed. */
async function runOnce(options: AutoscalerOptions): Promise<void> {
  const { redis, scaler, min, max } = options
  const progress = await loadProgress(redis)
  let error: string | null = null
  try {
    await decide(options, progress)
  } catch (thrown) {
    error = (thrown as Error).message
    throw thrown
  } finally {
    await saveProgress(redis, progress, { scaler: scaler.describe(), min, max, error })
  }
}
