/** Websockets and streams that stay open, counted by who has opened them: each costs for as long as it is read. */
import type { Caller } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { Tally } from '../../core/access/counter.ts'

export class OpenEnds {
  readonly #things: string
  readonly #open = new Tally<string>()

  /** `things` are what is counted, as in "100 websockets". */
  constructor(things: string) {
    this.#things = things
  }

  /**
   * Counts one for its caller, or for the token of who has no key, until the function that it gives is called. Where no
   * keys are in use nothing is counted.
   * @throws BaxError `rate_limited`.
   */
  take({ keyId, admin }: Caller, token: string | null): () => void {
    if (keyId === null && admin) return () => {}
    const { ofKey, ofToken } = limits.openEnds
    const [holder, what, most] =
      keyId === null ? [`token ${token ?? ''}`, 'token', ofToken] : [`key ${keyId}`, 'key', ofKey]
    if (this.#open.of(holder) >= most) {
      throw new BaxError('rate_limited', `one ${what} may have ${most} ${this.#things} open, and there are as many`, {
        hint: 'close one that is not needed any more',
        retryAfterSecs: limits.overload.retryAfterSecs,
      })
    }
    return this.#open.take(holder)
  }
}
