/** Manages relay tokens: shown once, stored as hashes, and only valid for connecting a browser (`spec: relay 3`). */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { type Caller, canSee } from '../../../core/access/caller.ts'
import type { Relays } from '../../../core/engine.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { KeyRing } from '../../../core/access/keys.ts'
import type { RelayTokenRecord } from '../../../core/shapes/relay.ts'
import { readState, writeState } from '../../../core/state/state-file.ts'
import { stateKinds } from '../../../core/state/state-kinds.ts'

/** Credentials of a connector; only the same ones may resume its session. */
export interface Principal {
  /** ID of the token or key; null within one process. */
  readonly tokenId: string | null
  /** Key that owns it; null where no keys are in use. */
  readonly owner: string | null
  readonly transport: 'ws' | 'local'
  /** Whether its single-use token was used before, so that it can only resume its session. */
  readonly onlyResumes: boolean
}

interface StoredToken extends RelayTokenRecord {
  /** Key that created it; null without keys. */
  readonly owner?: string | null
  readonly sha256: string
}

export class RelayTokens {
  readonly #path: string
  readonly #keys: KeyRing
  #tokens: StoredToken[] | undefined
  #queue: Promise<unknown> = Promise.resolve()

  constructor(stateDir: string, keys: KeyRing) {
    this.#keys = keys
    this.#path = join(stateDir, 'relay-tokens.json')
  }

  async create(
    input: Parameters<Relays['tokens']['create']>[0],
    { keyId: owner }: Caller,
  ): ReturnType<Relays['tokens']['create']> {
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
    await this.#change((tokens) => [...tokens, stored])
    return { token, token_id: stored.token_id, expires_at: stored.expires_at }
  }

  /** Lists tokens without their secrets, newest first; expired ones are omitted. */
  async list(caller: Caller): Promise<RelayTokenRecord[]> {
    return unexpired(await this.#load())
      .filter(({ owner = null }) => canSee(caller, owner))
      .map(recordOf)
      .toReversed()
  }

  /** @throws BaxError `token_not_found`, also for tokens of other keys. */
  async revoke(tokenId: string, caller: Caller): Promise<void> {
    await this.#change((tokens) => {
      const left = tokens.filter(({ token_id: id, owner = null }) => id !== tokenId || !canSee(caller, owner))
      if (left.length === tokens.length) {
        throw new BaxError('token_not_found', `no relay token ${tokenId}`, {
          hint: 'see "bax relay tokens list"',
        })
      }
      return left
    })
  }

  /**
   * Verifies a token. A single-use token connects one browser, and afterwards can only resume its session.
   * @throws BaxError `unauthorized`, with the same message for every reason.
   */
  async admit(token: string): Promise<Principal> {
    const hash = hashOf(token)
    const found = unexpired(await this.#load()).find(({ sha256 }) => timingSafeEqual(Buffer.from(sha256, 'hex'), hash))
    if (!found || !this.#keys.isGood(found.owner ?? null)) {
      throw new BaxError('unauthorized', 'the relay token is not valid', {
        hint: 'create one with "bax relay tokens create" on the machine of the engine',
      })
    }
    const { token_id: tokenId, owner = null } = found
    let usedBefore = false
    await this.#change((tokens) =>
      tokens.map((stored) => {
        if (stored.token_id !== tokenId) return stored
        usedBefore = stored.last_used_at !== null
        return { ...stored, last_used_at: new Date().toISOString() }
      }),
    )
    return { tokenId, owner, transport: 'ws', onlyResumes: found.single_use && usedBefore }
  }

  /** Reads the tokens once. A damaged file fails one call with an error; afterwards there are no tokens. */
  async #load(): Promise<StoredToken[]> {
    if (this.#tokens) return this.#tokens
    const file = readState<StoredToken[] | { tokens: readonly StoredToken[] }>(this.#path, stateKinds.relayTokens)
    return (this.#tokens = [...(file === undefined ? [] : 'tokens' in file ? file.tokens : file)])
  }

  #change(edit: (tokens: StoredToken[]) => StoredToken[]): Promise<void> {
    const done = this.#queue.then(async () => {
      const tokens = edit(unexpired(await this.#load()))
      await writeState(this.#path, { tokens })
      this.#tokens = tokens
    })
    // The caller receives the error; the next change is made all the same.
    this.#queue = done.catch(() => {})
    return done
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

function unexpired(tokens: readonly StoredToken[]): StoredToken[] {
  const now = new Date().toISOString()
  return tokens.filter(({ expires_at: end }) => end > now)
}
