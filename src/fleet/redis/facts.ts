/** Facts about a Redis that decide whether it suits a fleet. */
import type { Redis } from 'ioredis'
import type { Log } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { notAppendOnly } from '../../core/fleet.ts'
import { connectRedis, shownAddress } from './connect.ts'

export interface RedisFacts {
  /** URL without the password. */
  readonly address: string
  readonly version: string
  /** Whether the append-only file is on, which survives crashes. */
  readonly appendOnly: boolean
  /** Policy for deleting keys when it is full; a fleet needs `noeviction`. */
  readonly evictionPolicy: string
  /** Shortest round trip, in milliseconds. */
  readonly latencyMs: number
  /** Time by which the clock of Redis is ahead of this machine's, in milliseconds. */
  readonly clockAheadMs: number
}

/** @throws BaxError `fleet_unavailable` if it cannot be reached, or is too old. */
export async function redisFacts(url: string): Promise<RedisFacts> {
  const redis = await connectRedis({ url, log: () => {} }, { connectTimeout: 5000 })
  try {
    const info = await redis.info()
    return {
      address: shownAddress(url),
      version: fieldOf(info, 'redis_version'),
      appendOnly: isAppendOnly(info),
      evictionPolicy: fieldOf(info, 'maxmemory_policy'),
      ...(await compareClocks(redis)),
    }
  } catch (cause) {
    const message = `cannot read the state of Redis: ${(cause as Error).message}`
    throw new BaxError('fleet_unavailable', message, { cause, hint: 'allow INFO and TIME to this user of Redis' })
  } finally {
    redis.disconnect()
  }
}

/** Warns if a crash of Redis loses data. */
export async function warnIfNotAppendOnly(redis: Redis, log: Log): Promise<void> {
  if (isAppendOnly(await redis.info('persistence'))) return
  log('warn', `Redis: ${notAppendOnly.found}`, { hint: notAppendOnly.mend })
}

const fieldOf = (info: string, name: string): string =>
  new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? 'unknown'

const isAppendOnly = (info: string): boolean => fieldOf(info, 'aof_enabled') === '1'

/** Takes the fastest of some round trips, which tells most about the difference of the clocks. */
async function compareClocks(redis: Redis): Promise<Pick<RedisFacts, 'latencyMs' | 'clockAheadMs'>> {
  let best = { latencyMs: Infinity, clockAheadMs: 0 }
  for (let round = 0; round < 5; round += 1) {
    const [startedAt, startedMs] = [Date.now(), performance.now()]
    const [seconds, micros] = await redis.time()
    const latencyMs = performance.now() - startedMs
    const redisAt = Number(seconds) * 1000 + Number(micros) / 1000
    if (latencyMs < best.latencyMs) best = { latencyMs, clockAheadMs: redisAt - (startedAt + latencyMs / 2) }
  }
  return best
}
