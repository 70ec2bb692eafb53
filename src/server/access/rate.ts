/** Rate limits per caller: a token bucket that refills at a steady rate. */
import type { MiddlewareHandler } from 'hono'
import { allowanceOf, type Allowances } from '../../core/access/quota.ts'
import type { Caller } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { AppEnv } from '../request/env.ts'

interface Bucket {
  left: number
  /** Time of `left`, in milliseconds of a monotonic clock. */
  at: number
}

export interface RateStatus {
  readonly allowed: boolean
  readonly rate: number
  readonly burst: number
  /** Requests left in the current burst. */
  readonly remaining: number
  /** Seconds until the full burst is available again. */
  readonly resetSecs: number
  /** Seconds until the next request is allowed. */
  readonly retrySecs: number
}

export class RateLimiter {
  readonly #buckets = new Map<string | null, Bucket>()
  readonly #allowances: Allowances
  readonly #now: () => number

  constructor(allowances: Allowances, now: () => number = () => performance.now()) {
    this.#allowances = allowances
    this.#now = now
  }

  /** Counts one request. @throws BaxError `rate_limited` with the time after which the next one is allowed. */
  take(caller: Caller): void {
    const status = this.count(caller)
    if (status) assertAllowed(status)
  }

  /** Counts one request; returns undefined for callers without a limit. */
  count(caller: Caller): RateStatus | undefined {
    const { rate, burst } = allowanceOf(caller, this.#allowances)
    if (rate === 0) return undefined
    const now = this.#now()
    const bucket = this.#buckets.get(caller.keyId) ?? { left: burst, at: now }
    const left = Math.min(burst, bucket.left + ((now - bucket.at) / 1000) * rate)
    const allowed = left >= 1
    const after = allowed ? left - 1 : left
    this.#buckets.set(caller.keyId, { left: after, at: now })
    return {
      allowed,
      rate,
      burst,
      remaining: Math.floor(after),
      resetSecs: Math.ceil((burst - after) / rate),
      retrySecs: after >= 1 ? 0 : Math.ceil((1 - after) / rate),
    }
  }
}

/** Headers of `draft-ietf-httpapi-ratelimit-headers-07` and its predecessors. */
const rateHeaders = ({ rate, burst, remaining, resetSecs }: RateStatus): Record<string, string> => ({
  'ratelimit-limit': String(burst),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(resetSecs),
  'ratelimit-policy': `${burst};w=${Math.ceil(burst / rate)}`,
})

function assertAllowed({ allowed, rate, burst, retrySecs }: RateStatus): void {
  if (allowed) return
  throw new BaxError('rate_limited', `one key may send ${rate} requests a second, in bursts of ${burst}`, {
    hint: 'retry after the time in Retry-After',
    retryAfterSecs: retrySecs,
  })
}

/** Rejects requests beyond the caller's allowance, and adds the rate-limit headers to all of them. */
export function limitRate(rates: RateLimiter): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const status = rates.count(context.get('caller'))
    if (!status) return next()
    try {
      assertAllowed(status)
      await next()
    } finally {
      // Streams and errors carry the headers too.
      for (const [name, value] of Object.entries(rateHeaders(status))) context.header(name, value)
    }
  }
}
