/** The state of the scaler in Redis, with which any gateway can go on. */
import type { Redis } from 'ioredis'
import { limits } from '../../core/limits/limits.ts'
import type { ScalingState } from '../../core/scaling.ts'
import { keyPrefix } from '../redis/connect.ts'
import type { Size } from './policy.ts'

const key = `${keyPrefix}scaler`

/** Times are in milliseconds since 1970. */
export interface Progress {
  /** Number of workers that was last requested; undefined before the first decision. */
  wanted: number | undefined
  requested_at: number
  /** Idle workers that were drained, and wait to be removed. */
  leaving: string[]
  drained_at: number
  /** Workers that the platform is already removing. */
  released: string[]
  /** Since when fewer workers would suffice. */
  quiet_since: number | null
  /** Average size of the last known workers. */
  size?: Size
}

type Stored = Progress & ScalingState

/** Returns the progress of the last decision, unless it is so old that the fleet may have changed since. */
export async function loadProgress(redis: Redis): Promise<Progress> {
  const stored = await load(redis)
  const isFresh = stored && Date.now() - Date.parse(stored.updated_at) < limits.scaling.quietMs
  return isFresh
    ? stored
    : { wanted: undefined, requested_at: 0, leaving: [], drained_at: 0, released: [], quiet_since: null }
}

export async function saveProgress(
  redis: Redis,
  progress: Progress,
  facts: Pick<ScalingState, 'scaler' | 'min' | 'max' | 'error'>,
): Promise<void> {
  const { wanted = 0 } = progress
  const stored: Stored = { ...progress, ...facts, wanted, updated_at: new Date().toISOString() }
  await redis.set(key, JSON.stringify(stored))
}

/** Returns the state for `bax fleet status`; undefined before a scaler has run. */
export async function scalingState(redis: Redis): Promise<ScalingState | undefined> {
  const stored = await load(redis)
  if (!stored) return undefined
  const { scaler, wanted, min, max, leaving, error, updated_at } = stored
  return { scaler, wanted, min, max, leaving, error, updated_at }
}

async function load(redis: Redis): Promise<Stored | undefined> {
  const text = await redis.get(key)
  return text === null ? undefined : (JSON.parse(text) as Stored)
}
