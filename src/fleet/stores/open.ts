/** The stores of a fleet. */
import type { Redis } from 'ioredis'
import { type Allowances, allowancesOf, credentialUses } from '../../core/access/quota.ts'
import type { Log } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Stores } from '../../core/stores.ts'
import { StoredTokens } from '../../engine/relay/hub/tokens.ts'
import { StoredKeys } from '../../engine/store/keys.ts'
import { StoredCredentials } from '../../engine/store/credentials.ts'
import { SavedProfiles } from '../../engine/store/profiles.ts'
import { Subscriptions } from '../redis/subscriptions.ts'
import { RedisCredentialRecords } from './credentials.ts'
import { RedisIdempotency } from './idempotency.ts'
import { RedisKeyRecords } from './keys.ts'
import { RedisProfileRecords } from './profiles.ts'
import { RedisRates } from './rates.ts'
import { RedisTokenRecords } from './relay-tokens.ts'
import { RedisVersions } from './versions.ts'

export interface RedisStoresOptions {
  readonly redis: Redis
  /** Secret that encrypts profiles; the same on every machine. */
  readonly profileKey?: string | undefined
  /** Secret that encrypts credentials; the same on every machine. */
  readonly vaultKey?: string | undefined
  /** Rates and stored credentials of callers. */
  readonly allowances?: Allowances
  readonly log: Log
}

export interface RedisStores extends Stores {
  /** Stops updating; `redis` stays open. */
  close(): void
}

/** Opens the stores, with a current copy of the keys. @throws BaxError `fleet_unavailable` */
export async function openRedisStores(options: RedisStoresOptions): Promise<RedisStores> {
  const { redis, profileKey, vaultKey, allowances = allowancesOf({}), log } = options
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
      credentials: new StoredCredentials(new RedisCredentialRecords(redis), async () => sharedKey(vaultKey), {
        allowances,
        uses: new RedisRates(redis, credentialUses, 'uses'),
      }),
      relayTokens: new StoredTokens(tokenRecords, keys),
      idempotency: new RedisIdempotency(redis, log),
      calls: new RedisIdempotency(redis, log, { ...limits.mcp.repeats, list: 'bax:calls' }),
      rates: new RedisRates(redis, allowances),
      versions: new RedisVersions(redis),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

/** @throws BaxError `feature_disabled` without a key: a file of one machine would lock the credentials on all others. */
function sharedKey(vaultKey: string | undefined): string {
  if (vaultKey !== undefined) return vaultKey
  throw new BaxError('feature_disabled', 'a fleet stores credentials only with a vault key', {
    hint: 'set BAX_VAULT_KEY to the same value for all gateways and workers',
  })
}
