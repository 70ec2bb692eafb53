/**
 * Rate limits over all gateways and workers: `bax:rate:KEY` has the token bucket of a key, `bax:uses:KEY` that of its
 * credentials.
 */
import type { Redis } from 'ioredis'
import { allowanceOf, type Allowances, type Holder } from '../../core/access/quota.ts'
import { rateStatus } from '../../core/access/rate-status.ts'
import type { RateLimits, RateStatus } from '../../core/stores.ts'
import { ask } from '../redis/ask.ts'
import { luaScript } from '../redis/script.ts'

/**
 * Takes a token, by the clock of Redis. A damaged bucket counts as empty. The bucket is deleted once it is full again.
 * KEYS: bucket. ARGV: rate per second, burst. Returns 1 if the request is allowed, and the tokens left.
 */
const takeToken = luaScript<[number, string]>(
  'take_rate_token',
  1,
  `local time = redis.call('TIME')
  local now = time[1] * 1000 + time[2] / 1000
  local rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
  local left = burst
  local stored = redis.call('GET', KEYS[1])
  if stored then
    local tokens, at = string.match(stored, '^([%d.]+) ([%d.]+)$')
    tokens, at = tonumber(tokens) or 0, tonumber(at) or now
    left = math.min(burst, tokens + math.max(0, now - at) / 1000 * rate)
  end
  local allowed = left >= 1 and 1 or 0
  left = left - allowed
  local full = math.ceil((burst - left) / rate * 1000) + 1000
  redis.call('SET', KEYS[1], string.format('%.6f %.3f', left, now), 'PX', full)
  return { allowed, string.format('%.6f', left) }`,
)

export class RedisRates implements RateLimits {
  readonly #redis: Redis
  readonly #allowances: Allowances
  readonly #counted: 'rate' | 'uses'

  constructor(redis: Redis, allowances: Allowances, counted: 'rate' | 'uses' = 'rate') {
    this.#redis = redis
    this.#allowances = allowances
    this.#counted = counted
  }

  count(caller: Holder): undefined | Promise<RateStatus> {
    const allowance = allowanceOf(caller, this.#allowances)
    if (allowance.rate === 0) return undefined
    return this.#take(`bax:${this.#counted}:${caller.keyId ?? ''}`, allowance)
  }

  async #take(bucket: string, { rate, burst }: { rate: number; burst: number }): Promise<RateStatus> {
    const [allowed, left] = await ask(this.#redis, () => takeToken(this.#redis, bucket, rate, burst))
    return rateStatus({ rate, burst }, allowed === 1, Number(left))
  }
}
