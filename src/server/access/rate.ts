/** How often each caller may ask: a bucket that fills at a steady rate, and from which every request takes one. */
import type { MiddlewareHandler } from 'hono'
import { allowanceOf, type Allowances } from '../../core/access/quota.ts'
import type { Caller } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { AppEnv } from '../request/env.ts'

interface Bucket {
  left: number
  /** When `left` was true, in milliseconds of a clock that only goes forward. */
  at: number
}

/** Where a caller stands after a request. */
export interface Standing {
  readonly allowed: boolean
  readonly rate: number
  readonly burst: number
  /** Requests that may still come at once. */
  readonly remaining: number
  /** Seconds until the whole burst is there again. */
  readonly resetSecs: number
  /** Seconds until the next request is allowed; 0 when it is now. */
  readonly retrySecs: number
}

export class Rates {
  readonly #buckets = new Map<string | null, Bucket>()
  readonly #allowances: Allowances
  readonly #now: () => number

  constructor(allowances: Allowances, now: () => number = () => performance.now()) {
    this.#allowances = allowances
    this.#now = now
  }

  /** Counts one request. @throws BaxError `rate_limited` with the time after which the next one is allowed. */
  admit(caller: Caller): void {
    const standing = this.count(caller)
    if (standing) assertAllowed(standing)
  }

  /** Counts one request; undefined for callers without a bound. */
  count(caller: Caller): Standing | undefined {
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

/** Headers as `draft-ietf-httpapi-ratelimit-headers-07` and the clients of its forerunners spell them. */
const rateHeaders = ({ rate, burst, remaining, resetSecs }: Standing): Record<string, string> => ({
  'ratelimit-limit': String(burst),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(resetSecs),
  'ratelimit-policy': `${burst};w=${Math.ceil(burst / rate)}`,
})

function assertAllowed({ allowed, rate, burst, retrySecs }: Standing): void {
  if (allowed) return
  throw new BaxError('rate_limited', `one key may send ${rate} requests a second, and ${burst} at once`, {
    hint: 'repeat it after the time in Retry-After',
    retryAfterSecs: retrySecs,
  })
}

/** Tells every caller where it stands, and refuses requests beyond its allowance. */
export function limitRate(rates: Rates): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const standing = rates.count(context.get('caller'))
    if (!standing) return next()
    try {
      assertAllowed(standing)
      await next()
    } finally {
      // Whatever is answered bears them: a stream, a failure.
      for (const [name, value] of Object.entries(rateHeaders(standing))) context.header(name, value)
    }
  }
}
