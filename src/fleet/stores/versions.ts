/**
 * Versions of pages in Redis, for the format changeTracking: `bax:version:KEY:PAGE` has one, `bax:versions:KEY` the pages
 * of a caller by time, and `bax:versions:KEY:sizes` their sizes, with the total in the field "total".
 */
import type { Redis } from 'ioredis'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { decodeRecord, encodeRecord } from '../../core/state/state-record.ts'
import { stateKinds } from '../../core/state/state-kinds.ts'
import type { PageVersion, PageVersionKey, PageVersionStore } from '../../core/stores.ts'
import { ask } from '../redis/ask.ts'
import { luaScript } from '../redis/script.ts'

/**
 * Stores a version, and deletes the oldest ones of a caller who has too many.
 * KEYS: versions, sizes. ARGV: prefix of their keys, page, record, size, age in ms, most versions, most bytes.
 */
const saveVersion = luaScript<number>(
  'save_version',
  2,
  `local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('SET', ARGV[1] .. ARGV[2], ARGV[3], 'PX', ARGV[5])
  local before = tonumber(redis.call('HGET', KEYS[2], ARGV[2]) or '0')
  redis.call('HSET', KEYS[2], ARGV[2], ARGV[4])
  local total = redis.call('HINCRBY', KEYS[2], 'total', ARGV[4] - before)
  redis.call('ZADD', KEYS[1], now, ARGV[2])
  while true do
    local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
    local isFull = redis.call('ZCARD', KEYS[1]) > tonumber(ARGV[6]) or total > tonumber(ARGV[7])
    if not oldest[1] or not (isFull or now - oldest[2] > tonumber(ARGV[5])) then break end
    redis.call('DEL', ARGV[1] .. oldest[1])
    redis.call('ZREM', KEYS[1], oldest[1])
    total = redis.call('HINCRBY', KEYS[2], 'total', -tonumber(redis.call('HGET', KEYS[2], oldest[1]) or '0'))
    redis.call('HDEL', KEYS[2], oldest[1])
  end
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
  return redis.call('PEXPIRE', KEYS[2], ARGV[5])`,
)

export class RedisVersions implements PageVersionStore {
  readonly #redis: Redis
  readonly #most: { readonly versions: number; readonly fleetBytes: number; readonly ageMs: number }

  constructor(redis: Redis, most: { versions: number; fleetBytes: number; ageMs: number } = limits.changes) {
    this.#redis = redis
    this.#most = most
  }

  async find({ owner, page }: PageVersionKey): Promise<PageVersion | undefined> {
    const text = await ask(this.#redis, () => this.#redis.get(`bax:version:${owner ?? ''}:${page}`))
    if (text === null) return undefined
    const record = decodeRecord<PageVersion>(text, stateKinds.pageVersion)
    if ('content' in record) return record.content
    await ask(this.#redis, () => this.#redis.del(`bax:version:${owner ?? ''}:${page}`))
    throw new BaxError('engine_failed', `the stored version of the page is damaged: ${record.damage}`)
  }

  async save({ owner, page }: PageVersionKey, version: PageVersion): Promise<void> {
    const record = encodeRecord(version)
    const { versions, fleetBytes, ageMs } = this.#most
    const names = [`bax:versions:${owner ?? ''}`, `bax:versions:${owner ?? ''}:sizes`] as const
    const prefix = `bax:version:${owner ?? ''}:`
    const size = Buffer.byteLength(record)
    await ask(this.#redis, () =>
      saveVersion(this.#redis, ...names, prefix, page, record, size, ageMs, versions, fleetBytes),
    )
  }
}
