/** Connection to a browser that sessions share: keeps its clipboard empty. */
import type { Answer, Channel, CdpMessage } from '../../cdp/router.ts'
import { Upstream } from '../cdp/upstream.ts'
import { ClipboardGuard } from './clipboard-guard.ts'

export class GuardedUpstream extends Upstream {
  readonly #clipboard = new ClipboardGuard((method, params, sessionId) => this.send(method, params, sessionId))

  override post(message: CdpMessage, answer: Answer, owner?: Channel): void {
    this.#clipboard.pass(message, (reply: Answer) => super.post(message, reply, owner), answer)
  }
}
