/** Relay tokens on disk, in one private file. */
import { timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { readState, writeState } from '../../../core/state/state-file.ts'
import { stateKinds } from '../../../core/state/state-kinds.ts'
import type { StoredToken, TokenRecords } from './tokens.ts'

export class TokenFile implements TokenRecords {
  readonly #path: string
  #tokens: StoredToken[] | undefined
  #queue: Promise<unknown> = Promise.resolve()
  #onRemoved: (tokenId: string) => void = () => {}

  constructor(stateDir: string) {
    this.#path = join(stateDir, 'relay-tokens.json')
  }

  async all(): Promise<StoredToken[]> {
    return unexpired(await this.#load())
  }

  async find(sha256: string): Promise<StoredToken | undefined> {
    const hash = Buffer.from(sha256, 'hex')
    return (await this.all()).find((token) => timingSafeEqual(Buffer.from(token.sha256, 'hex'), hash))
  }

  add(token: StoredToken): Promise<void> {
    return this.#change((tokens) => [...tokens, token])
  }

  async remove({ token_id: tokenId }: StoredToken): Promise<boolean> {
    let isFound = false
    await this.#change((tokens) => {
      const left = tokens.filter(({ token_id: id }) => id !== tokenId)
      isFound = left.length < tokens.length
      return left
    })
    if (isFound) this.#onRemoved(tokenId)
    return isFound
  }

  async use({ token_id: tokenId }: StoredToken): Promise<boolean | undefined> {
    let usedBefore: boolean | undefined
    await this.#change((tokens) =>
      tokens.map((stored) => {
        if (stored.token_id !== tokenId) return stored
        usedBefore = stored.last_used_at !== null
        return { ...stored, last_used_at: new Date().toISOString() }
      }),
    )
    return usedBefore
  }

  onRemoved(listener: (tokenId: string) => void): void {
    this.#onRemoved = listener
  }

  /** Reads the tokens once. A damaged file fails one call with an error; afterwards there are no tokens. */
  async #load(): Promise<StoredToken[]> {
    return (this.#tokens ??= readTokens(this.#path))
  }

  #change(edit: (tokens: StoredToken[]) => StoredToken[]): Promise<void> {
    const done = this.#queue.then(async () => {
      const tokens = edit(await this.all())
      await writeState(this.#path, { tokens })
      this.#tokens = tokens
    })
    // The caller receives the error; the next change is made all the same.
    this.#queue = done.catch(() => {})
    return done
  }
}

function readTokens(path: string): StoredToken[] {
  const file = readState<TokenFileContent>(path, stateKinds.relayTokens)
  return file === undefined ? [] : tokensOf(file)
}

/** Content of the file; earlier versions wrote only the list. */
export type TokenFileContent = StoredToken[] | { readonly tokens: readonly StoredToken[] }

export const tokensOf = (file: TokenFileContent): StoredToken[] => [...('tokens' in file ? file.tokens : file)]

function unexpired(tokens: readonly StoredToken[]): StoredToken[] {
  const now = new Date().toISOString()
  return tokens.filter(({ expires_at: end }) => end > now)
}
