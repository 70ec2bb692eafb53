/** Tokens that grant access to one session; only their hashes are stored. */
import { createHash } from 'node:crypto'
import { BaxError } from '../../../core/errors/errors.ts'
import { newFrameToken } from '../../../core/ids.ts'
import { limits } from '../../../core/limits/limits.ts'
import { closeCodes, type Link } from '../../../core/net/link.ts'

/** Permissions of a token besides watching. */
export interface Grant {
  /** Taking control in the live view. */
  readonly control: boolean
  /** Opening a CDP connection, which only the first token of a session allows. */
  readonly cdp: boolean
  /** ID of the handoff that the token is for. Such a token opens one live view. */
  readonly handoff?: string
}

export class FrameTokens {
  /** Grants by token hash, so that the time of a lookup reveals nothing about a token. */
  readonly #grants = new Map<string, Grant>()
  /** Number of WebSockets that are open to the session by its tokens. */
  #connections = 0

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

  /** @throws BaxError `unauthorized` for the token of a handoff, which opens only its live view */
  assertFollows(token: string): void {
    if (this.grantOf(token)?.handoff === undefined) return
    throw new BaxError('unauthorized', 'the token of a handoff opens only its live view')
  }

  revoke(token: string): void {
    this.#grants.delete(hashOf(token))
  }

  /** Checks the limit before a WebSocket is opened by a token. @throws BaxError `rate_limited` when it is reached. */
  assertRoom(): void {
    if (this.#connections >= ofSession) throw new BaxError('rate_limited', tooMany, { hint, retryAfterSecs })
  }

  /** Counts such a WebSocket until `left` is aborted; closes it if others reached the limit first. */
  count(link: Link, left: AbortSignal): void {
    if (left.aborted) return
    this.#connections += 1
    left.addEventListener('abort', () => (this.#connections -= 1), { once: true })
    if (this.#connections > ofSession) link.close(closeCodes.protocol, tooMany)
  }
}

const { ofSession } = limits.openEnds
const { retryAfterSecs } = limits.overload
const tooMany = `${ofSession} WebSockets are already open to this session by its tokens`
const hint = 'close one that is no longer needed'

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64')
