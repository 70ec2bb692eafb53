/** Tokens that grant access to one session; only their hashes are stored. */
import { createHash } from 'node:crypto'
import { BaxError } from '../../../core/errors/errors.ts'
import { newFrameToken } from '../../../core/ids.ts'
import { limits } from '../../../core/limits/limits.ts'

/** Permissions of a token besides watching. */
export interface Grant {
  /** Taking control in the live view. */
  readonly control: boolean
  /** Opening a CDP connection, which only the first token of a session allows. */
  readonly cdp: boolean
}

export class FrameTokens {
  /** Grants by token hash, so that the time of a lookup reveals nothing about a token. */
  readonly #grants = new Map<string, Grant>()

  /** Adds a token, valid as long as the session. @throws BaxError `rate_limited` when the session has too many. */
  add(grant: Grant): string {
    if (this.#grants.size >= limits.live.tokens)
      throw new BaxError('rate_limited', `this session already has ${limits.live.tokens} tokens`)
    const token = newFrameToken()
    this.#grants.set(hashOf(token), grant)
    return token
  }

  /** Returns the permissions of a token; undefined when it is not of this session. */
  grantOf(token: string): Grant | undefined {
    return this.#grants.get(hashOf(token))
  }
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64')
