/** Tokens that open one session to who holds them; only their hashes are kept, and who has come by one is counted. */
import { createHash } from 'node:crypto'
import { BaxError } from '../../../core/errors.ts'
import { newFrameToken } from '../../../core/ids.ts'
import { limits } from '../../../core/limits.ts'
import { closeCodes, type Link } from '../../../core/link.ts'

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
  #guests = 0

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

  /** Before a websocket is opened to who has shown a token. @throws BaxError `rate_limited` when as many are open as may. */
  assertRoom(): void {
    if (this.#guests >= ofSession) throw new BaxError('rate_limited', noRoom, { hint, retryAfterSecs })
  }

  /** Counts a websocket that a token has opened, until `left` is aborted; closes it when others were quicker. */
  letIn(link: Link, left: AbortSignal): void {
    if (left.aborted) return
    this.#guests += 1
    left.addEventListener('abort', () => (this.#guests -= 1), { once: true })
    if (this.#guests > ofSession) link.close(closeCodes.protocol, noRoom)
  }
}

const { ofSession } = limits.openEnds
const { retryAfterSecs } = limits.overload
const noRoom = `${ofSession} websockets are open to this session by its tokens already`
const hint = 'close one that is not needed any more'

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64')
