/**
 * Keys in Redis. Checks of callers must not wait, so every process has a copy, which notifications and a timer keep up to
 * date. `bax:keys` has the record of each key, `bax:keys:version` changes with every write, and `bax:key-uses` has the
 * times when keys were last used.
 */
import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Log } from '../../core/config/config.ts'
import { limits } from '../../core/limits/limits.ts'
import { stateKinds } from '../../core/state/state-kinds.ts'
import { decodeRecord, encodeRecord } from '../../core/state/state-record.ts'
import { type KeptKey, type KeyRecords, knownKey, type KnownKey } from '../../engine/store/key-records.ts'
import { ask } from '../redis/ask.ts'
import { luaScript } from '../redis/script.ts'
import type { Subscriptions } from '../redis/subscriptions.ts'
import { damageWarning } from './records.ts'

const names = { keys: 'bax:keys', version: 'bax:keys:version', uses: 'bax:key-uses', changed: 'bax:keys:changed' }

/**
 * Writes the record of a key and notifies all processes. Returns whether it was written.
 * KEYS: keys, version. ARGV: ID, record, new version, channel, 1 to keep an existing record.
 */
const writeKey = luaScript<number>(
  'write_key',
  2,
  `if ARGV[5] == '1' and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 0 end
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('SET', KEYS[2], ARGV[3])
  redis.call('PUBLISH', ARGV[4], ARGV[3])
  return 1`,
)

/** Writes the record of a key; returns false if there is one and it must be kept. */
export async function storeKey(redis: Redis, key: KeptKey, keepExisting: boolean): Promise<boolean> {
  const keep = keepExisting ? 1 : 0
  const record = encodeRecord(key)
  const { keys, version, changed } = names
  return (await ask(redis, () => writeKey(redis, keys, version, key.key_id, record, randomUUID(), changed, keep))) === 1
}

/** Returns the text of the record of a key. */
export const storedKey = (redis: Redis, keyId: string): Promise<string | null> =>
  ask(redis, () => redis.hget(names.keys, keyId))

/** Returns the key of a record; undefined if it is damaged, or the record of another key. */
export function decodedKey(keyId: string, text: string): KeptKey | undefined {
  const record = decodeRecord<KeptKey>(text, stateKinds.key)
  return 'content' in record && record.content.key_id === keyId ? record.content : undefined
}

interface Copy {
  /** Version and number of the records. */
  readonly state: string
  readonly keys: readonly KnownKey[]
  /** IDs of damaged records. */
  readonly damaged: readonly string[]
}

export class RedisKeyRecords implements KeyRecords {
  readonly place = names.keys
  readonly #redis: Redis
  readonly #log: Log
  readonly #timer: NodeJS.Timeout
  #copy: Copy = { state: '', keys: [], damaged: [] }
  /** When the copy was last compared with Redis, on the monotonic clock. */
  #comparedAt = -Infinity
  #comparing: Promise<void> | undefined
  #required = false

  /** Resolves with a current copy. @throws BaxError `fleet_unavailable` */
  static async open(redis: Redis, subscriptions: Subscriptions, log: Log): Promise<RedisKeyRecords> {
    const records = new RedisKeyRecords(redis, log)
    try {
      await ask(redis, () => subscriptions.listen(names.changed, () => records.#refreshSoon()))
      await records.refresh()
      return records
    } catch (error) {
      records.close()
      throw error
    }
  }

  private constructor(redis: Redis, log: Log) {
    this.#redis = redis
    this.#log = log
    const refresh = () => this.#comparing ?? this.#refreshSoon()
    this.#timer = setInterval(refresh, limits.stores.refreshMs).unref()
  }

  get required(): boolean {
    return this.#required
  }

  all(): readonly KnownKey[] {
    const age = performance.now() - this.#comparedAt
    if (age <= limits.stores.keysAgeMs) return this.#copy.keys
    throw new Error(`the copy of the keys is ${Math.round(age / 1000)} s old`)
  }

  /** Makes the copy at least as new as this call. @throws BaxError `fleet_unavailable` */
  async refresh(): Promise<void> {
    // A comparison that has begun may have missed the latest change.
    await this.#comparing?.catch(() => {})
    await (this.#comparing ??= this.#compare().finally(() => (this.#comparing = undefined)))
  }

  warning(): string | undefined {
    return damageWarning(stateKinds.key, this.#copy.damaged)
  }

  damagedNameOf(keyId: string): string | undefined {
    return this.#copy.damaged.includes(keyId) ? `${names.keys} ${keyId}` : undefined
  }

  async write(key: KeptKey): Promise<void> {
    await storeKey(this.#redis, key, false)
    await this.refresh()
  }

  storeUse(keyId: string, at: number): void {
    // The key is valid even if this cannot be stored.
    void this.#redis.hset(names.uses, keyId, new Date(at).toISOString()).catch(() => {})
  }

  async lastUses(keyIds: readonly string[]): Promise<(string | null)[]> {
    if (keyIds.length === 0) return []
    const uses = await ask(this.#redis, () => this.#redis.hmget(names.uses, ...keyIds))
    return uses.map((use) => (use !== null && !Number.isNaN(Date.parse(use)) ? new Date(use).toISOString() : null))
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Refreshes the copy in the background; while that fails, the copy grows too old. */
  #refreshSoon(): void {
    void this.refresh().catch(() => {})
  }

  async #compare(): Promise<void> {
    const sentAt = performance.now()
    const state = await ask(this.#redis, () => this.#state())
    if (state !== this.#copy.state) this.#take(state, await ask(this.#redis, () => this.#redis.hgetall(names.keys)))
    this.#comparedAt = sentAt
  }

  async #state(): Promise<string> {
    const [version, count] = await Promise.all([this.#redis.get(names.version), this.#redis.hlen(names.keys)])
    return `${version ?? ''} ${count}`
  }

  #take(state: string, stored: Readonly<Record<string, string>>): void {
    const keys: KnownKey[] = []
    const damaged: string[] = []
    for (const [id, text] of Object.entries(stored)) {
      const key = decodedKey(id, text)
      if (key) keys.push(knownKey(key))
      else damaged.push(id)
    }
    for (const id of damaged) {
      if (this.#copy.damaged.includes(id)) continue
      this.#log('error', 'the record of a key is damaged and grants no access', { key_id: id })
    }
    this.#required ||= keys.length > 0 || damaged.length > 0
    this.#copy = { state, keys, damaged }
  }
}
