/** Capacities that limit each key to a share, so that no key starves the others. */
import { BaxError } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { Counter, type Holder } from './quota.ts'

const { partOfKey, retryAfterSecs } = limits.overload
const retryHint = 'retry after the time in Retry-After'

export interface CapacityTexts {
  /** Reason in the error when everything is in use. */
  readonly full: string
  /** An amount as text, e.g. "32 running scrapes and searches". */
  readonly amount: (amount: number) => string
  /** How to free some of it; by default, to retry later. */
  readonly hint?: string
}

export class Capacity {
  readonly #max: number
  readonly #texts: CapacityTexts
  readonly #partOfOne: number
  readonly #used = new Counter<string | null>()

  constructor(max: number, texts: CapacityTexts, partOfOne: number = partOfKey) {
    this.#max = max
    this.#partOfOne = partOfOne
    this.#texts = texts
  }

  /**
   * Reserves an amount. Without keys there is one caller, who may use everything; on a server with keys, all callers
   * without one have one share together.
   * @throws BaxError `no_capacity` when everything is in use, `rate_limited` when the caller's share is.
   */
  take({ keyId, admin }: Holder, amount: number): void {
    const max = this.#max
    const share = keyId === null && admin ? max : max * this.#partOfOne
    const { full, amount: text, hint = retryHint } = this.#texts
    if (this.#used.of(keyId) + amount > share && share < max)
      throw new BaxError('rate_limited', `one key may have ${text(share)} at a time`, { hint, retryAfterSecs })
    if (this.#used.total + amount > max)
      throw new BaxError('no_capacity', `the server is at capacity: ${full}`, { hint, retryAfterSecs })
    this.#used.add(keyId, amount)
  }

  release({ keyId }: Pick<Holder, 'keyId'>, amount: number): void {
    this.#used.add(keyId, -amount)
  }

  get used(): number {
    return this.#used.total
  }
}
