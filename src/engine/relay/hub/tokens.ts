/** Relay tokens: shown once, kept as hashes, good for bringing a browser and for nothing else (`spec: relay 3`). */
import { createHash, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { type Caller, sees } from '../../../core/access/caller.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { KeyRing } from '../../../core/access/keys.ts'
import type { RelayTokenRecord } from '../../../core/shapes/relay.ts'
import { readState, writeState } from '../../../core/state/state-file.ts'
import { stateKinds } from '../../../core/state/state-kinds.ts'
import { newSecret } from './secret.ts'

interface KeptToken extends RelayTokenRecord {
  /** The key that it was made under; nobody's without keys. */
  readonly owner?: string | null
  readonly sha256: string
}

export class RelayTokens {
  readonly #path: string
  readonly #keys: KeyRing
  #tokens: KeptToken[] | undefined
  #turn: Promise<unknown> = Promise.resolve()

  constructor(stateDir: string, keys: KeyRing) {
    this.#keys = keys
    this.#path = join(stateDir, 'relay-tokens.json')
  }

  async create(
    wish: { name?: string | undefined; ttl_secs: number; single_use: boolean },
    { keyId: owner }: Caller,
  ): Promise<{ token: string; token_id: string; expires_at: string }> {
    const token = `rlt_${newSecret()}`
    const now = Date.now()
    const kept: KeptToken = {
      token_id: newId('rtk'),
      name: wish.name ?? null,
      owner,
      single_use: wish.single_use,
      created_at: new Date(now).toISOString(),
      expires_at: new Date(now + wish.ttl_secs * 1000).toISOString(),
      last_used_at: null,
      sha256: hashOf(token).toString('hex'),
    }
    await this.#change((tokens) => [...tokens, kept])
    return { token, token_id: kept.token_id, expires_at: kept.expires_at }
  }

  /** Without their secrets, newest first; expired ones are gone. */
  async list(caller: Caller): Promise<RelayTokenRecord[]> {
    return live(await this.#load())
      .filter(({ owner = null }) => sees(caller, owner))
      .map(recordOf)
      .toReversed()
  }

  /** @throws BaxError `token_not_found`, also for one that is somebody else's. */
  async revoke(tokenId: string, caller: Caller): Promise<void> {
    await this.#change((tokens) => {
      const left = tokens.filter(({ token_id: id, owner = null }) => id !== tokenId || !sees(caller, owner))
      if (left.length === tokens.length) {
        throw new BaxError('token_not_found', `there is no relay token ${tokenId}`, {
          hint: 'see `bax relay tokens list`',
        })
      }
      return left
    })
  }

  /**
   * Lets in who has a good token. One for a single use is good for one browser: from then on only to resume it.
   * @throws BaxError `unauthorized`, in the same words for every reason.
   */
  async admit(token: string): Promise<{ tokenId: string; owner: string | null; onlyResumes: boolean }> {
    const hash = hashOf(token)
    const found = live(await this.#load()).find(({ sha256 }) => timingSafeEqual(Buffer.from(sha256, 'hex'), hash))
    if (!found || !this.#keys.isGood(found.owner ?? null)) {
      throw new BaxError('unauthorized', 'the relay token is not valid', {
        hint: 'make one with `bax relay tokens create` where the engine runs',
      })
    }
    const { token_id: tokenId, owner = null } = found
    let usedBefore = false
    await this.#change((tokens) =>
      tokens.map((kept) => {
        if (kept.token_id !== tokenId) return kept
        usedBefore = kept.last_used_at !== null
        return { ...kept, last_used_at: new Date().toISOString() }
      }),
    )
    return { tokenId, owner, onlyResumes: found.single_use && usedBefore }
  }

  /** Reads the tokens once. A damaged file fails one call, which reports it; after that there are no tokens. */
  async #load(): Promise<KeptToken[]> {
    if (this.#tokens) return this.#tokens
    const kept = readState<readonly KeptToken[] | { tokens: readonly KeptToken[] }>(this.#path, stateKinds.relayTokens)
    return (this.#tokens = [...(kept === undefined ? [] : 'tokens' in kept ? kept.tokens : kept)])
  }

  #change(edit: (tokens: KeptToken[]) => KeptToken[]): Promise<void> {
    const done = this.#turn.then(async () => {
      const tokens = edit(live(await this.#load()))
      await writeState(this.#path, { tokens })
      this.#tokens = tokens
    })
    // The caller receives the error; the next change is made all the same.
    this.#turn = done.catch(() => {})
    return done
  }
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

function recordOf(kept: KeptToken): RelayTokenRecord {
  const { token_id, name, single_use, created_at, expires_at, last_used_at } = kept
  return { token_id, name, single_use, created_at, expires_at, last_used_at }
}

function live(tokens: readonly KeptToken[]): KeptToken[] {
  const now = new Date().toISOString()
  return tokens.filter(({ expires_at: end }) => end > now)
}
