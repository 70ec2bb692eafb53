/** A lease in Redis that one process holds at a time. */
import type { Redis } from 'ioredis'
import { keyPrefix } from '../redis/connect.ts'
import { evenIfFull, luaScript } from '../redis/script.ts'

const key = `${keyPrefix}scaler:gateway`

/** KEYS: 1 lease. ARGV: 1 holder, 2 duration in ms; 0 releases it. Returns 1 if the holder has, or had, the lease. */
const holdLease = luaScript<number>(
  'scaler_lease',
  1,
  `local holder = redis.call('GET', KEYS[1])
  if holder and holder ~= ARGV[1] then return 0 end
  if ARGV[2] == '0' then redis.call('DEL', KEYS[1])
  else redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
  return 1`,
  evenIfFull,
)

export class Lease {
  readonly #run: (ms: number) => Promise<number>
  readonly #ms: number

  constructor(redis: Redis, holder: string, ms: number) {
    this.#run = (duration) => holdLease(redis, key, holder, duration)
    this.#ms = ms
  }

  /** Takes or renews the lease; returns whether this process has it. */
  async hold(): Promise<boolean> {
    return (await this.#run(this.#ms)) === 1
  }

  /** Renews the lease while the work runs, which takes less than the lease unless a platform hangs. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    // A failed renewal is repeated; without Redis no other process can take the lease either.
    const timer = setInterval(() => void this.hold().catch(() => {}), this.#ms / 3)
    try {
      return await work()
    } finally {
      clearInterval(timer)
    }
  }

  async release(): Promise<void> {
    await this.#run(0)
  }
}
