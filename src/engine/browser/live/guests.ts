/** Who has come to a session by one of its tokens: so many websockets of theirs may be open to it. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { closeCodes, type Link } from '../../../core/net/link.ts'

const { ofSession } = limits.openEnds
const { retryAfterSecs } = limits.overload
const noRoom = `${ofSession} websockets are open to this session by its tokens already`
const hint = 'close one that is not needed any more'

export class Guests {
  #count = 0

  /** Before a websocket is opened. @throws BaxError `rate_limited` when as many are open as may. */
  assertRoom(): void {
    if (this.#count >= ofSession) throw new BaxError('rate_limited', noRoom, { hint, retryAfterSecs })
  }

  /** Counts a websocket that was opened, until `left` is aborted; closes it when others were quicker. */
  letIn(link: Link, left: AbortSignal): void {
    if (left.aborted) return
    this.#count += 1
    left.addEventListener('abort', () => (this.#count -= 1), { once: true })
    if (this.#count > ofSession) link.close(closeCodes.protocol, noRoom)
  }
}
