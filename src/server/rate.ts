/** How often each caller may ask: a bucket that fills at a steady rate, and from which every request takes one. */
import type { MiddlewareHandler } from 'hono'
import { type Allowance, allowanceOf, type Allowances } from '../core/allowance.ts'
import type { Caller } from '../core/caller.ts'
import { BaxError } from '../core/errors.ts'
import type { AppEnv } from './env.ts'

interface Bucket {
  left: number
  /** When `left` was true, in milliseconds of a clock that only goes forward. */
  at: number
}

/** Where a caller stands after a request. */
export interface Standing {
  readonly allowed: boolean
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
      burst,
      remaining: Math.floor(after),
      resetSecs: Math.ceil((burst - after) / rate),
      retrySecs: after >= 1 ? 0 : Math.ceil((1 - after) / rate),
    }
  }
}

/** Headers as `draft-ietf-httpapi-ratelimit-headers-07` and the clients of its forerunners spell them. */
export const rateHeaders = ({ burst, remaining, resetSecs }: Standing, { rate }: Pick<Allowance, 'rate'>) => ({
  'ratelimit-limit': String(burst),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(resetSecs),
  'ratelimit-policy': `${burst};w=${Math.ceil(burst / rate)}`,
})

/** @throws BaxError `rate_limited` with the time after which the next request is allowed. */
export function assertAllowed({ allowed, burst, retrySecs }: Standing, { rate }: Pick<Allowance, 'rate'>): void {
  if (allowed) return
  throw new BaxError('rate_limited', `one key may send ${rate} requests a second, and ${burst} at once`, {
    hint: 'repeat it after the time in Retry-After',
    retryAfterSecs: retrySecs,
  })
}

/** Tells every caller where it stands, and refuses requests beyond its allowance. */
export function limitRate(allowances: Allowances): MiddlewareHandler<AppEnv> {
  const rates = new Rates(allowances)
  return async (context, next) => {
    const caller = context.get('caller')
    const standing = rates.count(caller)
    if (!standing) return next()
    const allowance = allowanceOf(caller, allowances)
    try {
      assertAllowed(standing, allowance)
      await next()
    } finally {
      // Whatever is answered bears them: a stream, a failure.
      for (const [name, value] of Object.entries(rateHeaders(standing, allowance))) context.header(name, value)
    }
  }
}
