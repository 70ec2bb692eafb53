/** Rate limits per caller: a token bucket that refills at a steady rate. */
import type { RateLimits, RateStatus } from '../stores.ts'
import { allowanceOf, type Allowances, type Holder } from './quota.ts'
import { rateStatus } from './rate-status.ts'

interface Bucket {
  left: number
  /** Time of `left`, in milliseconds of a monotonic clock. */
  at: number
}

/** Counts the requests, or the uses of credentials, of one process. */
export class RateLimiter implements RateLimits {
  readonly #buckets = new Map<string | null, Bucket>()
  readonly #allowances: Allowances
  readonly #now: () => number

  constructor(allowances: Allowances, now: () => number = () => performance.now()) {
    this.#allowances = allowances
    this.#now = now
  }

  count(caller: Holder): RateStatus | undefined {
    const { rate, burst } = allowanceOf(caller, this.#allowances)
    if (rate === 0) return undefined
    const now = this.#now()
    const bucket = this.#buckets.get(caller.keyId) ?? { left: burst, at: now }
    const left = Math.min(burst, bucket.left + ((now - bucket.at) / 1000) * rate)
    const allowed = left >= 1
    const after = allowed ? left - 1 : left
    this.#buckets.set(caller.keyId, { left: after, at: now })
    return rateStatus({ rate, burst }, allowed, after)
  }
}
