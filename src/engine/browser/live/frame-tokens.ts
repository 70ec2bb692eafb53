/** Tokens that open one session to who holds them; only their hashes are kept. */
import { createHash } from 'node:crypto'
import { BaxError } from '../../../core/errors/errors.ts'
import { newFrameToken } from '../../../core/ids.ts'
import { limits } from '../../../core/limits/limits.ts'

/** What a token allows beside watching. */
export interface Grant {
  /** Driving the session from its live view. */
  readonly control: boolean
  /** Speaking CDP with it: what a session's first token may, as a program's own. */
  readonly cdp: boolean
}

export class FrameTokens {
  /** By hash: looking one up takes the same time however much of it is right. */
  readonly #grants = new Map<string, Grant>()

  /** A further one, as long-lived as the session. @throws BaxError `rate_limited` when it has as many as it may. */
  add(grant: Grant): string {
    if (this.#grants.size >= limits.live.tokens)
      throw new BaxError('rate_limited', `this session has ${limits.live.tokens} tokens already`)
    const token = newFrameToken()
    this.#grants.set(hashOf(token), grant)
    return token
  }

  /** What a token allows; undefined for one that is not of this session. */
  grantOf(token: string): Grant | undefined {
    return this.#grants.get(hashOf(token))
  }
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64')
