/** The document that a tab was asked for last, followed over its redirects, and why it could not be had. */
import type { BaxError } from '../../../core/errors/errors.ts'
import type { Failures } from '../../egress/failures.ts'
import { navigationError } from './browser-errors.ts'
import type { Requested } from './protocol.ts'

export class AskedDocument {
  #id = ''
  #url = ''
  #failure = ''

  asked({ requestId, request }: Requested): void {
    this.#id = requestId
    this.#url = request.url
    this.#failure = ''
  }

  ended(requestId: string, failure = ''): void {
    if (requestId === this.#id) this.#failure = failure
  }

  /** What is wrong when the browser shows a page of its own instead; nothing for one that merely had no body. */
  error(failures: Failures, failure = this.#failure): BaxError | undefined {
    if (failure === '' || /HTTP_RESPONSE_CODE_FAILURE/.test(failure)) return undefined
    return navigationError(failures.explain(failure, this.#url))
  }
}
