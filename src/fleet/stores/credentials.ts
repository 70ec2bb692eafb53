/** Encrypted credentials in Redis: `bax:credentials` has their records by ID. */
import type { Redis } from 'ioredis'
import { stateKinds } from '../../core/state/state-kinds.ts'
import { decodeRecord, encodeRecord } from '../../core/state/state-record.ts'
import type { CredentialRecords } from '../../engine/store/credentials.ts'
import type { EncryptedText } from '../../engine/store/encryption.ts'
import { ask } from '../redis/ask.ts'
import { luaScript } from '../redis/script.ts'

const key = 'bax:credentials'

/**
 * Replaces a record that contains a tag, which every encryption makes anew; returns 0 if it was changed or deleted.
 * KEYS: credentials. ARGV: ID, tag, record.
 */
const replaceCredential = luaScript<number>(
  'replace_credential',
  1,
  `local now = redis.call('HGET', KEYS[1], ARGV[1])
  if not now or not string.find(now, ARGV[2], 1, true) then return 0 end
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
  return 1`,
)

export class RedisCredentialRecords implements CredentialRecords {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  async readAll(isWanted: (id: string) => boolean): ReturnType<CredentialRecords['readAll']> {
    const ids = (await ask(this.#redis, () => this.#redis.hkeys(key))).filter(isWanted)
    if (ids.length === 0) return []
    const texts = await ask(this.#redis, () => this.#redis.hmget(key, ...ids))
    // Some may have been deleted meanwhile.
    return ids.flatMap((id, at) => {
      const text = texts[at]
      return typeof text === 'string' ? [{ id, stored: decoded(text) }] : []
    })
  }

  async read(id: string): ReturnType<CredentialRecords['read']> {
    const text = await ask(this.#redis, () => this.#redis.hget(key, id))
    return text === null ? undefined : decoded(text)
  }

  async add(id: string, stored: EncryptedText): Promise<boolean> {
    return (await ask(this.#redis, () => this.#redis.hsetnx(key, id, encodeRecord(stored)))) === 1
  }

  async replace(id: string, stored: EncryptedText, before: EncryptedText): Promise<boolean> {
    return (
      (await ask(this.#redis, () => replaceCredential(this.#redis, key, id, before.tag, encodeRecord(stored)))) === 1
    )
  }

  async delete(id: string): Promise<boolean> {
    return (await ask(this.#redis, () => this.#redis.hdel(key, id))) === 1
  }
}

function decoded(text: string): EncryptedText | 'damaged' {
  const record = decodeRecord<EncryptedText>(text, stateKinds.credential)
  return 'content' in record ? record.content : 'damaged'
}
