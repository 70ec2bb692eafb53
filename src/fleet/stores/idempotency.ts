/**
 * `Idempotency-Key` over all gateways. `bax:repeat:HASH` has the state of one request, `bax:repeats:KEY` the requests of
 * one caller by time, and `bax:calls:KEY` its calls of MCP. The process that runs a request renews a lease on it, so that the key is free again if it dies.
 * Leases outlast the time in which Redis is away. A process that loses only its own connection, for longer than the
 * lease, counts as dead: its request can then run a second time.
 */
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Log } from '../../core/config/config.ts'
import { asBaxError, BaxError, type ErrorBody } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { idempotencyConflict, idempotentRequest } from '../../core/operation/idempotency-key.ts'
import { decodeRecord, encodeRecord } from '../../core/state/state-record.ts'
import type { IdempotencyKey, IdempotencyStore, KeepLimits } from '../../core/stores.ts'
import { ask } from '../redis/ask.ts'
import { leaseClockLua } from '../redis/lease-clock.ts'
import { evenIfFull, luaScript } from '../redis/script.ts'

/** State of a request; `run`: the caller runs it now. `value` is a record with its answer or its error. */
type Claim =
  | readonly ['run']
  | readonly ['conflict']
  | readonly ['running' | 'done' | 'failed', attempt: string, value?: string | null]

/**
 * Claims a request for an attempt unless there is one. A failed one is only visible to those who waited for it.
 * KEYS: request, requests of the caller. ARGV: attempt, digest of the input, lease in ms, time to keep answers in ms,
 * most requests of the caller, the attempt that was waited for.
 */
const claimRequest = luaScript<Claim>(
  'claim_request',
  2,
  `local function isRunning(state, lease) return state == 'running' and lease and valid(tonumber(lease)) end
  local stored = redis.call('HMGET', KEYS[1], 'digest', 'attempt', 'state', 'value', 'lease')
  local state = stored[3]
  local isWatched = state == 'failed' and stored[2] == ARGV[6]
  local isVisible = state == 'done' or isRunning(state, stored[5]) or isWatched
  if stored[1] and isVisible then
    if stored[1] ~= ARGV[2] then return { 'conflict' } end
    return { state, stored[2], stored[4] }
  end
  -- This comes first, so that nothing runs whose answer a full Redis could not store.
  redis.call('HSET', KEYS[1], 'digest', ARGV[2], 'attempt', ARGV[1], 'state', 'running', 'lease', now + ARGV[3])
  redis.call('HDEL', KEYS[1], 'value')
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  redis.call('ZADD', KEYS[2], now, KEYS[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[4])
  local excess = redis.call('ZCARD', KEYS[2]) - ARGV[5]
  if excess > 0 then
    for _, oldest in ipairs(redis.call('ZRANGE', KEYS[2], 0, excess - 1)) do
      local its = redis.call('HMGET', oldest, 'state', 'lease')
      if not isRunning(its[1], its[2]) then
        redis.call('DEL', oldest)
        redis.call('ZREM', KEYS[2], oldest)
      end
    end
  end
  return { 'run' }`,
  { prelude: leaseClockLua },
)

/** Renews the lease of an attempt. KEYS: request. ARGV: attempt, lease in ms. */
const renewRequest = luaScript<number>(
  'renew_request',
  1,
  `if redis.call('HGET', KEYS[1], 'attempt') ~= ARGV[1] then return 0 end
  return redis.call('HSET', KEYS[1], 'lease', now + ARGV[2])`,
  { ...evenIfFull, prelude: leaseClockLua },
)

/**
 * Stores the outcome of an attempt, also after its lease has expired, unless there is another attempt. A full Redis
 * stores it too: otherwise the request would run again.
 * KEYS: request. ARGV: attempt, digest of the input, state, record, time to keep it in ms.
 */
const finishRequest = luaScript<number>(
  'finish_request',
  1,
  `if (redis.call('HGET', KEYS[1], 'attempt') or ARGV[1]) ~= ARGV[1] then return 0 end
  redis.call('HSET', KEYS[1], 'digest', ARGV[2], 'attempt', ARGV[1], 'state', ARGV[3], 'value', ARGV[4])
  return redis.call('PEXPIRE', KEYS[1], ARGV[5])`,
  evenIfFull,
)

/** Frees the key of an attempt that was aborted. KEYS: request. ARGV: attempt. */
const freeRequest = luaScript<number>(
  'free_request',
  1,
  `if redis.call('HGET', KEYS[1], 'attempt') ~= ARGV[1] then return 0 end
  return redis.call('DEL', KEYS[1])`,
)

interface Attempt {
  readonly request: string
  readonly attempt: string
  readonly digest: string
}

/** Settings of a store. */
interface Rules extends KeepLimits {
  /** Name of the lists with the requests of each caller. */
  readonly list: string
  readonly leaseMs: number
}

export class RedisIdempotency implements IdempotencyStore {
  readonly #redis: Redis
  readonly #log: Log
  readonly #rules: Rules

  constructor(redis: Redis, log: Log, rules: Partial<Rules> = {}) {
    this.#redis = redis
    this.#log = log
    this.#rules = { ...limits.repeats, list: 'bax:repeats', leaseMs: limits.stores.leaseMs, ...rules }
  }

  async once<T>(key: IdempotencyKey, input: unknown, work: () => Promise<T>): Promise<T> {
    const named = idempotentRequest(key, input)
    if (!named) return work()
    const owner = JSON.stringify(key.caller.keyId)
    const hash = createHash('sha256').update(`${owner} ${named.name}`).digest('hex')
    const attempt = { request: `bax:repeat:${hash}`, attempt: randomUUID(), digest: named.digest }
    let watched = ''
    for (let delay: number = limits.stores.waitMs; ; delay = Math.min(2 * delay, limits.stores.longestWaitMs)) {
      const claim = await this.#claim(attempt, `${this.#rules.list}:${key.caller.keyId ?? ''}`, watched)
      if (claim[0] === 'conflict') throw idempotencyConflict()
      if (claim[0] === 'run') return this.#run(attempt, key.signal, work)
      key.onFound?.()
      if (claim[0] === 'done') return answerOf<T>(claim[2])
      if (claim[0] === 'failed') throw errorOf(claim[2])
      watched = claim[1]
      await sleep(delay, undefined, { signal: key.signal })
    }
  }

  #claim({ request, attempt, digest }: Attempt, requests: string, watched: string): Promise<Claim> {
    const { kept, leaseMs } = this.#rules
    // A request that runs is kept for longer than its result.
    const { keepMs } = limits.repeats
    return ask(this.#redis, () =>
      claimRequest(this.#redis, request, requests, attempt, digest, leaseMs, keepMs, kept, watched),
    )
  }

  async #run<T>(attempt: Attempt, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { leaseMs } = this.#rules
    const renew = () => renewRequest(this.#redis, attempt.request, attempt.attempt, leaseMs)
    // The next renewal follows soon.
    const timer = setInterval(() => void renew().catch(() => {}), leaseMs / 3)
    try {
      const answer = await work()
      await this.#finish(attempt, 'done', { answer: answer ?? null })
      return answer
    } catch (error) {
      // Those who wait for an aborted request run it themselves.
      if (signal.aborted) await this.#free(attempt)
      else await this.#finish(attempt, 'failed', failureOf(error))
      throw error
    } finally {
      clearInterval(timer)
    }
  }

  /** The outcome counts even if it cannot be stored: the work is done. */
  async #finish({ request, attempt, digest }: Attempt, state: 'done' | 'failed', value: object): Promise<void> {
    const keepMs = state === 'done' ? this.#rules.keepMs : limits.stores.failureMs
    const record = encodeRecord(value)
    await ask(this.#redis, () => finishRequest(this.#redis, request, attempt, digest, state, record, keepMs)).catch(
      (error: Error) =>
        this.#log('warn', 'could not store the response of a request with an idempotency-key', {
          error: error.message,
        }),
    )
  }

  async #free({ request, attempt }: Attempt): Promise<void> {
    await ask(this.#redis, () => freeRequest(this.#redis, request, attempt)).catch((error: Error) =>
      this.#log('warn', 'could not free an idempotency-key', { error: error.message }),
    )
  }
}

interface Failure {
  readonly error: ErrorBody
  readonly retry_after_secs: number | null
}

function failureOf(thrown: unknown): Failure {
  const error = asBaxError(thrown)
  return { error: error.toBody(), retry_after_secs: error.retryAfterSecs ?? null }
}

/** @throws BaxError `engine_failed` for a damaged record: running the work again could do it twice. */
function answerOf<T>(record: string | null | undefined): T {
  return decodedValue<{ answer: T }>(record, (value) => 'answer' in value).answer
}

function errorOf(record: string | null | undefined): BaxError {
  const { error, retry_after_secs: secs } = decodedValue<Failure>(record, (value) => 'error' in value)
  const { code, message, hint, details } = BaxError.fromBody(error)
  return new BaxError(code, message, {
    ...(hint !== undefined && { hint }),
    ...(details !== undefined && { details }),
    ...(typeof secs === 'number' && { retryAfterSecs: secs }),
  })
}

function decodedValue<Content>(text: string | null | undefined, isContent: (value: object) => boolean): Content {
  const record = decodeRecord<Content>(text ?? '', { isContent })
  if ('content' in record) return record.content
  throw new BaxError('engine_failed', `the stored response of this idempotency-key is damaged: ${record.damage}`, {
    hint: 'check if the first request succeeded, and use a new key',
  })
}
