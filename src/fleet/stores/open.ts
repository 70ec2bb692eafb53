/** The stores of a fleet. */
import type { Redis } from 'ioredis'
import { type Allowances, allowancesOf } from '../../core/access/quota.ts'
import type { Log } from '../../core/config/config.ts'
import type { Stores } from '../../core/stores.ts'
import { StoredTokens } from '../../engine/relay/hub/tokens.ts'
import { StoredKeys } from '../../engine/store/keys.ts'
import { SavedProfiles } from '../../engine/store/profiles.ts'
import { Subscriptions } from '../redis/subscriptions.ts'
import { RedisIdempotency } from './idempotency.ts'
import { RedisKeyRecords } from './keys.ts'
import { RedisProfileRecords } from './profiles.ts'
import { RedisRates } from './rates.ts'
import { RedisTokenRecords } from './relay-tokens.ts'
import { RedisVersions } from './versions.ts'

export interface RedisStoresOptions {
  readonly redis: Redis
  /** Secret that encrypts profiles; the same on every machine. */
  readonly profileKey?: string
  /** Rates of callers. */
  readonly allowances?: Allowances
  readonly log: Log
}

export interface RedisStores extends Stores {
  /** Stops updating; `redis` stays open. */
  close(): void
}

/** Opens the stores, with a current copy of the keys. @throws BaxError `fleet_unavailable` */
export async function openRedisStores(options: RedisStoresOptions): Promise<RedisStores> {
  const { redis, profileKey, allowances = allowancesOf({}), log } = options
  const subscriptions = new Subscriptions(redis)
  const closers = [() => subscriptions.close()]
  const close = () => {
    for (const closer of closers) closer()
  }
  try {
    const keyRecords = await RedisKeyRecords.open(redis, subscriptions, log)
    closers.push(() => keyRecords.close())
    const tokenRecords = await RedisTokenRecords.open(redis, subscriptions, log)
    closers.push(() => tokenRecords.close())
    const keys = new StoredKeys(keyRecords, Date.now, log)
    return {
      keys,
      profiles: new SavedProfiles(new RedisProfileRecords(redis), profileKey),
      relayTokens: new StoredTokens(tokenRecords, keys),
      idempotency: new RedisIdempotency(redis, log),
      rates: new RedisRates(redis, allowances),
      versions: new RedisVersions(redis),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}
