/** Manages relay tokens: shown once, stored as hashes, and only valid for connecting a browser (`spec: relay 3`). */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Caller, canSee } from '../../../core/access/caller.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { KeyRing } from '../../../core/access/keys.ts'
import type { RelayTokenRecord } from '../../../core/shapes/relay.ts'
import type { Principal, RelayTokenStore } from '../../../core/stores.ts'
import { TokenFile } from './token-file.ts'

export interface StoredToken extends RelayTokenRecord {
  /** Key that created it; null without keys. */
  readonly owner?: string | null
  readonly sha256: string
}

/** Storage of tokens; expired ones are omitted. */
export interface TokenRecords {
  /** Returns all tokens, oldest first. */
  all(): Promise<readonly StoredToken[]>
  /** Returns the token with a hash. */
  find(sha256: string): Promise<StoredToken | undefined>
  add(token: StoredToken): Promise<void>
  /** Removes a token; returns false if it is missing. */
  remove(token: StoredToken): Promise<boolean>
  /** Stores a use. Returns whether the token was used before; undefined if it was removed meanwhile. One step. */
  use(token: StoredToken): Promise<boolean | undefined>
  onRemoved(listener: (tokenId: string) => void): void
}

export class StoredTokens implements RelayTokenStore {
  readonly #records: TokenRecords
  readonly #keys: KeyRing

  constructor(records: TokenRecords, keys: KeyRing) {
    this.#records = records
    this.#keys = keys
  }

  async create(
    input: Parameters<RelayTokenStore['create']>[0],
    { keyId: owner }: Caller,
  ): ReturnType<RelayTokenStore['create']> {
    const token = `rlt_${newSecret()}`
    const now = Date.now()
    const stored: StoredToken = {
      token_id: newId('rtk'),
      name: input.name ?? null,
      owner,
      single_use: input.single_use,
      created_at: new Date(now).toISOString(),
      expires_at: new Date(now + input.ttl_secs * 1000).toISOString(),
      last_used_at: null,
      sha256: hashOf(token).toString('hex'),
    }
    await this.#records.add(stored)
    return { token, token_id: stored.token_id, expires_at: stored.expires_at }
  }

  async list(caller: Caller): Promise<RelayTokenRecord[]> {
    const tokens = await this.#records.all()
    return tokens
      .filter(({ owner = null }) => canSee(caller, owner))
      .map(recordOf)
      .toReversed()
  }

  async revoke(tokenId: string, caller: Caller): Promise<void> {
    const tokens = await this.#records.all()
    const found = tokens.find(({ token_id: id, owner = null }) => id === tokenId && canSee(caller, owner))
    if (found && (await this.#records.remove(found))) return
    throw new BaxError('token_not_found', `no relay token ${tokenId}`, { hint: 'see "bax relay tokens list"' })
  }

  async ownerOf(token: string): Promise<string | null | undefined> {
    const found = await this.#find(token)
    return found && (found.owner ?? null)
  }

  async admit(token: string): Promise<Principal> {
    const found = await this.#find(token)
    const isGood = found !== undefined && this.#keys.isGood(found.owner ?? null)
    const usedBefore = isGood ? await this.#records.use(found) : undefined
    if (!found || usedBefore === undefined) {
      throw new BaxError('unauthorized', 'the relay token is not valid', {
        hint: 'create one with "bax relay tokens create" on the machine of the engine',
      })
    }
    const { token_id: tokenId, owner = null, single_use: isSingleUse } = found
    return { tokenId, owner, transport: 'ws', onlyResumes: isSingleUse && usedBefore }
  }

  #find(token: string): Promise<StoredToken | undefined> {
    return this.#records.find(hashOf(token).toString('hex'))
  }

  onRevoked(listener: (tokenId: string) => void): void {
    this.#records.onRemoved(listener)
  }
}

/** Tokens on disk. */
export class RelayTokens extends StoredTokens {
  constructor(stateDir: string, keys: KeyRing) {
    super(new TokenFile(stateDir), keys)
  }
}

/** Returns a secret: 32 random bytes as base64url. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** Compares two secrets in constant time. */
export const isSame = (one: string, other: string): boolean => timingSafeEqual(hashOf(one), hashOf(other))

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

function recordOf(stored: StoredToken): RelayTokenRecord {
  const { token_id, name, single_use, created_at, expires_at, last_used_at } = stored
  return { token_id, name, single_use, created_at, expires_at, last_used_at }
}
