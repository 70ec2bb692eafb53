/** Nonces of signed requests: each is accepted once. */
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'

const { signatureMs, skewToleranceMs, nonces: most } = limits.gateway

/** Longest time for which a signature is valid by the clock of a worker. */
const validMs = signatureMs + 2 * skewToleranceMs

export class SeenNonces {
  readonly #now: () => number
  readonly #most: number
  /** Those of the current period and of the one before it, each as long as a signature is valid. */
  #recent = new Set<string>()
  #before = new Set<string>()
  #since: number

  constructor(now: () => number = () => performance.now(), atMost: number = most) {
    this.#now = now
    this.#most = atMost
    this.#since = now()
  }

  /** Remembers a nonce. @throws BaxError `unauthorized` if it was used before, `no_capacity` if too many are remembered */
  assertNew(nonce: string): void {
    this.#expire()
    if (this.#recent.has(nonce) || this.#before.has(nonce))
      throw new BaxError('unauthorized', 'the signature of the gateway was used before')
    // Without room to remember it, it could be used again.
    if (this.#recent.size + this.#before.size >= this.#most) {
      throw new BaxError('no_capacity', `the worker got ${this.#most} requests within minutes`, {
        retryAfterSecs: limits.overload.retryAfterSecs,
      })
    }
    this.#recent.add(nonce)
  }

  #expire(): void {
    const age = this.#now() - this.#since
    if (age < validMs) return
    this.#before = age < 2 * validMs ? this.#recent : new Set()
    this.#recent = new Set()
    this.#since = this.#now()
  }
}
