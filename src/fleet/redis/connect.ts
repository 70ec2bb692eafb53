/** Connections to the Redis that gateways and workers share. */
import { Redis, type RedisOptions } from 'ioredis'
import { BaxError } from '../../core/errors/errors.ts'
import type { Log } from '../../core/config/config.ts'

/** Prefix of every key. */
export const keyPrefix = 'bax:'

/** Oldest supported version, which Valkey reports too. */
const leastVersion = [7, 0] as const

export interface FleetAddress {
  /** `redis://[[user]:password@]host[:port][/db]`, or `rediss://` for TLS. */
  readonly url: string
  readonly log: Log
}

/**
 * Connects to Redis. Commands wait while the connection is lost, and continue when it is back.
 * @throws BaxError `fleet_unavailable` if the first connection fails, or Redis is too old.
 */
export async function connectRedis({ url, log }: FleetAddress, options: RedisOptions = {}): Promise<Redis> {
  const redis = new Redis(url, {
    lazyConnect: true,
    // BullMQ requires it; callers limit how long they wait.
    maxRetriesPerRequest: null,
    retryStrategy: (times) => Math.min(50 * 2 ** times, 2000),
    ...options,
  })
  let isOpen = false
  let lost = false
  let cause: string | undefined
  redis.on('error', (error: Error) => (cause = error.message))
  redis.on('reconnecting', () => {
    if (isOpen && !lost) log('warn', 'the connection to Redis is lost', { ...(cause && { error: cause }) })
    lost = isOpen
  })
  redis.on('ready', () => {
    if (lost) log('info', 'the connection to Redis is back')
    lost = false
  })
  try {
    await redis.connect()
    assertVersion(await redis.info('server'))
    isOpen = true
    return redis
  } catch (error) {
    redis.disconnect()
    throw error instanceof BaxError ? error : unavailable(url, cause ?? (error as Error).message, error)
  }
}

/** Returns the address for messages, without the password. */
export const shownAddress = (url: string): string => url.replace(/\/\/[^/]*@/, '//')

const unavailable = (url: string, reason: string, cause: unknown): BaxError =>
  new BaxError('fleet_unavailable', `cannot connect to Redis at ${shownAddress(url)}: ${reason}`, {
    cause,
    hint: 'start Redis, or correct --fleet',
  })

/** @throws BaxError `fleet_unavailable` */
export function assertVersion(info: string): void {
  const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown'
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > leastVersion[0] || (major === leastVersion[0] && minor >= leastVersion[1])) return
  throw new BaxError('fleet_unavailable', `Redis ${version} is too old: ${leastVersion.join('.')} or newer is needed`, {
    hint: 'upgrade Redis, or use Valkey',
  })
}
