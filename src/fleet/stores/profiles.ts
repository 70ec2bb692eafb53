/**
 * Saved profiles in Redis, encrypted as on disk: `bax:profiles` has their records by ID. `bax:profiles:revision` counts
 * new profiles, so that gateways that add one at the same time do not give its name twice.
 */
import type { Redis } from 'ioredis'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { uuidPattern } from '../../core/shapes/fields.ts'
import { stateKinds } from '../../core/state/state-kinds.ts'
import { decodeRecord, encodeRecord } from '../../core/state/state-record.ts'
import type { NamedProfile, ProfileRecords, StoredProfile } from '../../engine/store/profiles.ts'
import { ask } from '../redis/ask.ts'
import { luaScript } from '../redis/script.ts'
import { damageWarning } from './records.ts'

const names = { profiles: 'bax:profiles', revision: 'bax:profiles:revision' }

/**
 * Adds a profile unless another one was added since the revision was read; returns whether it did.
 * KEYS: profiles, revision. ARGV: ID, record, revision.
 */
const addProfile = luaScript<number>(
  'add_profile',
  2,
  `if (redis.call('GET', KEYS[2]) or '0') ~= ARGV[3] then return 0 end
  redis.call('INCR', KEYS[2])
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  return 1`,
)

/** Replaces a profile unless it was changed; returns whether it did. KEYS: profiles. ARGV: ID, record before, record. */
const replaceProfile = luaScript<number>(
  'replace_profile',
  1,
  `if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
  return 1`,
)

/**
 * Writes a profile under its ID, as a copied file; returns whether it did.
 * KEYS: profiles, revision. ARGV: ID, record, 1 to keep an existing profile.
 */
const copyProfile = luaScript<number>(
  'copy_profile',
  2,
  `if ARGV[3] == '1' and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 0 end
  redis.call('INCR', KEYS[2])
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  return 1`,
)

/** Copies a profile from a state folder; returns false if there is one and it must be kept. */
export async function storeProfile(redis: Redis, profile: NamedProfile, keepExisting: boolean): Promise<boolean> {
  const [keep, record] = [keepExisting ? 1 : 0, encodeRecord(profile.stored)]
  return (await ask(redis, () => copyProfile(redis, names.profiles, names.revision, profile.id, record, keep))) === 1
}

/** Returns the text of the record of a profile. */
export const storedProfile = (redis: Redis, id: string): Promise<string | null> =>
  ask(redis, () => redis.hget(names.profiles, id))

export class RedisProfileRecords implements ProfileRecords {
  readonly #redis: Redis
  /** IDs of damaged records at the last attempt to read all. */
  #damaged: readonly string[] = []

  constructor(redis: Redis) {
    this.#redis = redis
  }

  async readAll(): Promise<NamedProfile[]> {
    const ids = await ask(this.#redis, () => this.#redis.hkeys(names.profiles))
    const good: NamedProfile[] = []
    const damaged: string[] = []
    for (let at = 0; at < ids.length; at += limits.stores.profiles) {
      const some = ids.slice(at, at + limits.stores.profiles)
      const texts = await ask(this.#redis, () => this.#redis.hmget(names.profiles, ...some))
      for (const [index, id] of some.entries()) {
        const text = texts[index] ?? null
        // It was deleted meanwhile.
        if (text === null) continue
        const stored = decoded(id, text)
        if (stored) good.push({ id, stored })
        else damaged.push(id)
      }
    }
    this.#damaged = damaged
    return good
  }

  async read(id: string): Promise<StoredProfile | undefined> {
    return (await this.#read(id))?.stored
  }

  /** Returns a profile with its record; undefined if it is missing. @throws BaxError `profile_not_found` */
  async #read(id: string): Promise<{ text: string; stored: StoredProfile } | undefined> {
    const text = await storedProfile(this.#redis, id)
    if (text === null) return undefined
    const stored = decoded(id, text)
    if (stored) return { text, stored }
    throw new BaxError('profile_not_found', `the profile ${id} is damaged`, {
      hint: 'delete it with "bax profile delete", and save the profile again',
    })
  }

  async add(make: () => Promise<NamedProfile>): Promise<void> {
    for (let attempt = 0; attempt < limits.stores.attempts; attempt += 1) {
      const revision = (await ask(this.#redis, () => this.#redis.get(names.revision))) ?? '0'
      const { id, stored } = await make()
      const record = encodeRecord(stored)
      const add = () => addProfile(this.#redis, names.profiles, names.revision, id, record, revision)
      if ((await ask(this.#redis, add)) === 1) return
    }
    throw tooMany()
  }

  async update(id: string, change: (stored: StoredProfile) => Promise<StoredProfile>): Promise<boolean> {
    for (let attempt = 0; attempt < limits.stores.attempts; attempt += 1) {
      const found = await this.#read(id)
      if (!found) return false
      const record = encodeRecord(await change(found.stored))
      const replace = () => replaceProfile(this.#redis, names.profiles, id, found.text, record)
      if ((await ask(this.#redis, replace)) === 1) return true
    }
    throw tooMany()
  }

  async delete(id: string): Promise<void> {
    await ask(this.#redis, () => this.#redis.hdel(names.profiles, id))
  }

  async deleteDamaged(id: string): Promise<boolean> {
    const text = await storedProfile(this.#redis, id)
    if (text === null || decoded(id, text)) return false
    await this.delete(id)
    return true
  }

  warning(): string | undefined {
    return damageWarning(stateKinds.profile, this.#damaged)
  }
}

const tooMany = (): BaxError =>
  new BaxError('no_capacity', 'too many profiles are saved at the same time', {
    retryAfterSecs: limits.overload.retryAfterSecs,
  })

/** Returns undefined for a damaged record, or one whose ID is no profile's. */
function decoded(id: string, text: string): StoredProfile | undefined {
  const record = decodeRecord<StoredProfile>(text, stateKinds.profile)
  return 'content' in record && uuidPattern.test(id) && id === id.toLowerCase() ? record.content : undefined
}
