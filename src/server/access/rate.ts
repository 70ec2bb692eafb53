/** Rejects requests beyond the rate of their caller. */
import type { MiddlewareHandler } from 'hono'
import type { Caller } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { RateLimits, RateStatus } from '../../core/stores.ts'
import type { AppEnv } from '../request/env.ts'
import { addHeaders } from '../request/response-headers.ts'

/** Counts one request. @throws BaxError `rate_limited` with the time after which the next one is allowed. */
export async function countRequest(rates: RateLimits, caller: Caller): Promise<void> {
  const status = await rates.count(caller)
  if (status) assertAllowed(status)
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
export function limitRate(rates: RateLimits): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const counted = rates.count(context.get('caller'))
    const status = counted instanceof Promise ? await counted : counted
    if (!status) return next()
    // Streams and errors carry the headers too.
    await addHeaders(context, rateHeaders(status), async () => {
      assertAllowed(status)
      await next()
    })
  }
}
