/** Limit on the WebSockets that are open to a session by its tokens. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { closeCodes, type Link } from '../../../core/net/link.ts'

const { ofSession } = limits.openEnds
const { retryAfterSecs } = limits.overload
const tooMany = `${ofSession} WebSockets are already open to this session by its tokens`
const hint = 'close one that is no longer needed'

export class TokenConnections {
  #count = 0

  /** Checks the limit before a WebSocket is opened. @throws BaxError `rate_limited` when it is reached. */
  assertRoom(): void {
    if (this.#count >= ofSession) throw new BaxError('rate_limited', tooMany, { hint, retryAfterSecs })
  }

  /** Counts an open WebSocket until `left` is aborted; closes it if others reached the limit first. */
  add(link: Link, left: AbortSignal): void {
    if (left.aborted) return
    this.#count += 1
    left.addEventListener('abort', () => (this.#count -= 1), { once: true })
    if (this.#count > ofSession) link.close(closeCodes.protocol, tooMany)
  }
}
