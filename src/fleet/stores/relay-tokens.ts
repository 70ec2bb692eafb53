/**
 * Relay tokens in Redis: `bax:relay-tokens` has their records by the hash of the token, `bax:relay-token-uses` the time
 * of the last use by ID.
 */
import type { Redis } from 'ioredis'
import type { Log } from '../../core/config/config.ts'
import { limits } from '../../core/limits/limits.ts'
import { relayTokenRecord } from '../../core/shapes/relay.ts'
import { decodeRecord, encodeRecord } from '../../core/state/state-record.ts'
import type { StoredToken, TokenRecords } from '../../engine/relay/hub/tokens.ts'
import { ask } from '../redis/ask.ts'
import { luaScript } from '../redis/script.ts'
import type { Subscriptions } from '../redis/subscriptions.ts'

const names = { tokens: 'bax:relay-tokens', uses: 'bax:relay-token-uses', removed: 'bax:relay-tokens:removed' }

/**
 * Stores a use. Returns -1 if the token was removed, 1 if it was used before, else 0.
 * KEYS: tokens, uses. ARGV: hash, ID, time.
 */
const useToken = luaScript<number>(
  'use_relay_token',
  2,
  `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return -1 end
  return 1 - redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])`,
)

/** Removes a token and notifies all processes. KEYS: tokens, uses. ARGV: hash, ID, channel. */
const removeToken = luaScript<number>(
  'remove_relay_token',
  2,
  `local removed = redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[2], ARGV[2])
  if removed == 1 then redis.call('PUBLISH', ARGV[3], ARGV[2]) end
  return removed`,
)

/** Writes a token; returns false if there is one and it must be kept. */
export async function storeToken(redis: Redis, token: StoredToken, keepExisting: boolean): Promise<boolean> {
  const record = encodeRecord(token)
  if (keepExisting) return (await ask(redis, () => redis.hsetnx(names.tokens, token.sha256, record))) === 1
  await ask(redis, () => redis.hset(names.tokens, token.sha256, record))
  return true
}

/** Returns the text of the record of a token. */
export const storedToken = (redis: Redis, sha256: string): Promise<string | null> =>
  ask(redis, () => redis.hget(names.tokens, sha256))

export class RedisTokenRecords implements TokenRecords {
  readonly #redis: Redis
  readonly #log: Log
  readonly #timer: NodeJS.Timeout
  /** Tokens used here, by ID: what they admitted ends when they are removed. */
  readonly #used = new Map<string, StoredToken>()
  /** Hashes of the damaged records that were reported. */
  readonly #reported = new Set<string>()
  #isChecking = false
  #onRemoved: (tokenId: string) => void = () => {}

  static async open(redis: Redis, subscriptions: Subscriptions, log: Log): Promise<RedisTokenRecords> {
    const records = new RedisTokenRecords(redis, log)
    try {
      await ask(redis, () => subscriptions.listen(names.removed, (tokenId) => tokenId && records.#remove(tokenId)))
      return records
    } catch (error) {
      records.close()
      throw error
    }
  }

  private constructor(redis: Redis, log: Log) {
    this.#redis = redis
    this.#log = log
    this.#timer = setInterval(() => this.#checkSoon(), limits.stores.refreshMs).unref()
  }

  async all(): Promise<StoredToken[]> {
    const [tokens, uses] = await ask(this.#redis, () =>
      Promise.all([this.#redis.hgetall(names.tokens), this.#redis.hgetall(names.uses)]),
    )
    const good = Object.entries(tokens).flatMap(([sha256, text]) => {
      const token = this.#decoded(sha256, text)
      return token ? [withUse(token, uses[token.token_id])] : []
    })
    return good.filter(isUnexpired).toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1))
  }

  async find(sha256: string): Promise<StoredToken | undefined> {
    const text = await storedToken(this.#redis, sha256)
    const token = text === null ? undefined : this.#decoded(sha256, text)
    return token && isUnexpired(token) ? token : undefined
  }

  async add(token: StoredToken): Promise<void> {
    await storeToken(this.#redis, token, false)
    await this.#removeExpired()
  }

  async remove({ sha256, token_id: id }: StoredToken): Promise<boolean> {
    const remove = () => removeToken(this.#redis, names.tokens, names.uses, sha256, id, names.removed)
    const isRemoved = (await ask(this.#redis, remove)) === 1
    if (isRemoved) this.#remove(id)
    return isRemoved
  }

  async use(token: StoredToken): Promise<boolean | undefined> {
    const { sha256, token_id: id, last_used_at: lastUse } = token
    const now = new Date().toISOString()
    const used = await ask(this.#redis, () => useToken(this.#redis, names.tokens, names.uses, sha256, id, now))
    if (used === -1) return undefined
    this.#used.set(id, token)
    // An imported token may have been used on its machine.
    return used === 1 || lastUse !== null
  }

  onRemoved(listener: (tokenId: string) => void): void {
    this.#onRemoved = listener
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #remove(tokenId: string): void {
    if (this.#used.delete(tokenId)) this.#onRemoved(tokenId)
  }

  /** Finds removed tokens in the background, since notifications may be lost. */
  #checkSoon(): void {
    if (this.#used.size === 0 || this.#isChecking) return
    this.#isChecking = true
    void this.#check()
      // The next check follows soon.
      .catch(() => {})
      .finally(() => (this.#isChecking = false))
  }

  async #check(): Promise<void> {
    // The session of a token may outlive it, unless it is revoked.
    for (const [id, token] of this.#used) if (!isUnexpired(token)) this.#used.delete(id)
    const used = [...this.#used.values()]
    if (used.length === 0) return
    const hashes = used.map(({ sha256 }) => sha256)
    const texts = await ask(this.#redis, () => this.#redis.hmget(names.tokens, ...hashes))
    for (const [at, { token_id: id }] of used.entries()) if (texts[at] === null) this.#remove(id)
  }

  async #removeExpired(): Promise<void> {
    const tokens = await ask(this.#redis, () => this.#redis.hgetall(names.tokens))
    for (const [sha256, text] of Object.entries(tokens)) {
      const token = this.#decoded(sha256, text)
      if (!token || isUnexpired(token)) continue
      await ask(this.#redis, () =>
        Promise.all([this.#redis.hdel(names.tokens, sha256), this.#redis.hdel(names.uses, token.token_id)]),
      )
    }
  }

  #decoded(sha256: string, text: string): StoredToken | undefined {
    const record = decodeRecord<StoredToken>(text, { isContent: isToken })
    if ('content' in record && record.content.sha256 === sha256) return record.content
    if (!this.#reported.has(sha256))
      this.#log('error', 'the record of a relay token is damaged and grants no access', { sha256 })
    this.#reported.add(sha256)
    return undefined
  }
}

function isToken(value: object): boolean {
  const { owner = null, sha256 } = value as Partial<StoredToken>
  const hasOwner = owner === null || typeof owner === 'string'
  return relayTokenRecord.safeParse(value).success && hasOwner && /^[0-9a-f]{64}$/.test(String(sha256))
}

const isUnexpired = ({ expires_at: end }: StoredToken): boolean => Date.parse(end) > Date.now()

const withUse = (token: StoredToken, use: string | undefined): StoredToken =>
  use === undefined || Number.isNaN(Date.parse(use)) ? token : { ...token, last_used_at: new Date(use).toISOString() }
