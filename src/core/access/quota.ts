/** Quotas and rate limits of callers. */
import type { Caller } from './caller.ts'
import { BaxError, type ErrorCode } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'

/** Limits of one caller; 0 means unlimited. */
export interface Allowance {
  /** Sustained requests per second. */
  readonly rate: number
  /** Number of requests that may arrive at once. */
  readonly burst: number
  /** Live browser sessions, including those being created. */
  readonly sessions: number
  /** Live shell sessions. */
  readonly shells: number
  /** Running crawls, including maps. */
  readonly crawls: number
  /** Connected browsers of users, including those that may reconnect. */
  readonly relays: number
  /** Stored credentials. */
  readonly credentials: number
}

/** Caller that holds something. */
export type Holder = Pick<Caller, 'keyId' | 'admin'>

/** Returns the holder of what belongs to a key; null for all callers without one, where none is required. */
export const holderOf = (keyId: string | null): Holder => ({ keyId, admin: keyId === null })

/** Limits of all callers; an engine without them has none. */
export interface Allowances {
  /** For each key. */
  readonly keyed: Allowance
  /** For all callers without a key where none is required; they share one quota. */
  readonly keyless: Allowance
}

const none: Allowance = { rate: 0, burst: 0, sessions: 0, shells: 0, crawls: 0, relays: 0, credentials: 0 }

/**
 * Builds the default limits of keys with the operator's overrides. Without keys, a server belongs to its user and has
 * only the limits that the operator has set.
 */
export function allowancesOf(overrides: Partial<Allowance>): Allowances {
  const { rate, burst } = { ...none, ...overrides }
  return {
    keyed: { ...limits.caller, ...overrides },
    // A rate without a burst gets the default proportion of both.
    keyless: { ...none, ...overrides, burst: burst || Math.ceil((rate * limits.caller.burst) / limits.caller.rate) },
  }
}

/** Limits of the uses of credentials, which are the same for all keys. */
export const credentialUses: Allowances = { keyed: { ...none, ...limits.credentials.uses }, keyless: none }

/** Returns the limits of a caller; none for one without the required key, which has access to little anyway. */
export function allowanceOf({ keyId, admin }: Holder, allowances: Allowances | undefined): Allowance {
  if (!allowances || (keyId === null && !admin)) return none
  return keyId === null ? allowances.keyless : allowances.keyed
}

type Kind = 'sessions' | 'shells' | 'crawls' | 'relays'

interface KindFacts {
  /** Plural noun, as in "20 browser sessions". */
  readonly things: string
  readonly code: ErrorCode
  readonly hint: string
  /** Limit of the server over all callers. */
  readonly overall: number
}

const kinds: Readonly<Record<Kind, KindFacts>> = {
  sessions: {
    things: 'browser sessions',
    code: 'too_many_sessions',
    hint: 'close a session that is no longer needed',
    // Limited to the number of browser slots; further requests queue.
    overall: Infinity,
  },
  shells: {
    things: 'shell sessions',
    code: 'too_many_sessions',
    hint: 'delete a session that is no longer needed',
    overall: limits.shell.sessions,
  },
  crawls: {
    things: 'crawls',
    code: 'rate_limited',
    hint: 'wait for a crawl to end, or cancel one',
    overall: limits.overload.crawls,
  },
  relays: {
    things: 'relays',
    code: 'too_many_sessions',
    hint: 'stop one that is no longer needed',
    overall: Infinity,
  },
}

/** Counts the resources of one kind that every caller holds. */
export class Quota {
  readonly #kind: Kind
  readonly #allowances: Allowances | undefined
  readonly #taken = new Counter<string | null>()

  constructor(kind: Kind, allowances: Allowances | undefined) {
    this.#kind = kind
    this.#allowances = allowances
  }

  /** Number held by all callers together. */
  get total(): number {
    return this.#taken.total
  }

  /**
   * Takes one for the caller; the returned function releases it, at most once.
   * @throws BaxError with the code of the kind at the caller's limit, `no_capacity` at the server's.
   */
  take(caller: Holder): () => void {
    this.assertRoom(caller)
    return this.#taken.take(caller.keyId)
  }

  /** Checks whether `take` would succeed. @throws BaxError as it does */
  assertRoom(caller: Holder): void {
    if (!this.#allowances) return
    const { things, code, hint, overall } = kinds[this.#kind]
    const { retryAfterSecs } = limits.overload
    const most = allowanceOf(caller, this.#allowances)[this.#kind]
    if (most > 0 && this.#taken.of(caller.keyId) >= most) {
      throw new BaxError(code, `the limit of ${most} ${things} per key is reached`, {
        hint,
        details: { limit: this.#kind, most },
        retryAfterSecs,
      })
    }
    if (this.total < overall) return
    throw new BaxError('no_capacity', `the server has reached its limit of ${things}`, { retryAfterSecs })
  }
}

/** Counts amounts per holder. */
export class Counter<Holder> {
  readonly #amounts = new Map<Holder, number>()
  #total = 0

  /** Sum over all holders. */
  get total(): number {
    return this.#total
  }

  of(holder: Holder): number {
    return this.#amounts.get(holder) ?? 0
  }

  /** Adds an amount; a negative one releases. */
  add(holder: Holder, amount: number): void {
    const now = this.of(holder) + amount
    if (now > 0) this.#amounts.set(holder, now)
    else this.#amounts.delete(holder)
    this.#total += amount
  }

  /** Adds one; the returned function releases it, at most once. */
  take(holder: Holder): () => void {
    this.add(holder, 1)
    let held = true
    return () => {
      if (held) this.add(holder, -1)
      held = false
    }
  }
}
