/** The state of a token bucket after a request, as the rate-limit headers report it. */
import type { RateStatus } from '../stores.ts'
import type { Allowance } from './quota.ts'

/** `after`: tokens left, of which a request takes one. */
export const rateStatus = (
  { rate, burst }: Pick<Allowance, 'rate' | 'burst'>,
  allowed: boolean,
  after: number,
): RateStatus => ({
  allowed,
  rate,
  burst,
  remaining: Math.floor(after),
  resetSecs: Math.ceil((burst - after) / rate),
  retrySecs: after >= 1 ? 0 : Math.ceil((1 - after) / rate),
})
