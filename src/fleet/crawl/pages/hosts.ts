/** Slots of hosts that all crawls of the fleet share, as leases in Redis. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Log } from '../../../core/config/config.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { HostLimits, SharedHosts } from '../../../engine/crawl/pacing/host-gate.ts'
import { luaScript } from '../../redis/script.ts'
import { hostKey, hostNextKey } from '../keys.ts'

const { hostLeaseMs, hostPollMs } = limits.crawl.fleet

/**
 * Takes a slot of a host. KEYS: slots, time of the next request. ARGV: token, maximum, delay, lease in milliseconds.
 * Returns 0 if the slot was taken, otherwise the time to wait, -1 if it depends on others.
 */
const takeSlot = luaScript<number>(
  'host_take',
  2,
  `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local most, delay, lease = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
  if delay > 0 then
    most = 1
    local next = tonumber(redis.call('GET', KEYS[2]) or '0')
    if next > now then return next - now end
  end
  if redis.call('ZCARD', KEYS[1]) >= most then return -1 end
  redis.call('ZADD', KEYS[1], now + lease, ARGV[1])
  redis.call('PEXPIRE', KEYS[1], lease)
  if delay > 0 then redis.call('SET', KEYS[2], now + delay, 'PX', delay) end
  return 0`,
)

/** Renews a lease. KEYS: slots. ARGV: token, lease in milliseconds. */
const renewSlot = luaScript<number>(
  'host_renew',
  1,
  `
  local time = redis.call('TIME')
  local till = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return redis.call('ZADD', KEYS[1], 'XX', till, ARGV[1])`,
)

/** Slots that the crawls of this process hold; leases of a killed process expire. */
export class FleetHosts implements SharedHosts {
  readonly #redis: Redis
  readonly #log: Log
  /** Hosts of the slots that are held, by token. */
  readonly #held = new Map<string, string>()
  /** Ends of the queues of this process, one for each host, so that only their first members send requests. */
  readonly #queues = new Map<string, Promise<void>>()
  readonly #timer: NodeJS.Timeout

  constructor(redis: Redis, log: Log) {
    this.#redis = redis
    this.#log = log
    this.#timer = setInterval(() => this.#renew(), hostLeaseMs / 3).unref()
  }

  async enter(host: HostLimits, signal: AbortSignal): Promise<() => void> {
    const token = randomUUID()
    const before = this.#queues.get(host.host) ?? Promise.resolve()
    const taking = before.then(() => this.#take(host, token, signal))
    const turn = taking.catch(() => {})
    this.#queues.set(host.host, turn)
    try {
      await taking
    } finally {
      if (this.#queues.get(host.host) === turn) this.#queues.delete(host.host)
    }
    this.#held.set(token, host.host)
    return () => {
      if (!this.#held.delete(token)) return
      this.#redis.zrem(hostKey(host.host), token).catch(this.#report)
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #take({ host, most, delayMs }: HostLimits, token: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const wait = await takeSlot(this.#redis, hostKey(host), hostNextKey(host), token, most, delayMs, hostLeaseMs)
      if (wait === 0) return
      await pause(wait > 0 ? wait : hostPollMs, undefined, { signal })
    }
  }

  #renew(): void {
    for (const [token, host] of this.#held)
      renewSlot(this.#redis, hostKey(host), token, hostLeaseMs).catch(this.#report)
  }

  readonly #report = (error: Error): void =>
    this.#log('warn', 'the slot of a host was not updated', { error: error.message })
}
