/** What one caller may have at a time, and how often it may ask. */
import type { Caller } from './caller.ts'
import { BaxError, type ErrorCode } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { Tally } from './counter.ts'

/** Bounds for one caller; 0 stands for none. */
export interface Allowance {
  /** Requests a second in the long run. */
  readonly rate: number
  /** Requests that may come at once. */
  readonly burst: number
  /** Live browser sessions, those being made included. */
  readonly sessions: number
  /** Live shell sessions. */
  readonly shells: number
  /** Crawls at work, those that only map a site included. */
  readonly crawls: number
}

/** An engine without them has no bounds for callers. */
export interface Allowances {
  /** For each key. */
  readonly keyed: Allowance
  /** For all who come without a key where none is asked for: they are one caller. */
  readonly keyless: Allowance
}

const none: Allowance = { rate: 0, burst: 0, sessions: 0, shells: 0, crawls: 0 }

/**
 * The usual bounds for keys, with what the operator wishes instead. Without keys a server is its user's own, and has
 * only the bounds that the operator has wished for.
 */
export function allowancesOf(wishes: Partial<Allowance>): Allowances {
  const { rate, burst } = { ...none, ...wishes }
  return {
    keyed: { ...limits.caller, ...wishes },
    // A rate alone comes with the room that it fills in the usual time.
    keyless: { ...none, ...wishes, burst: burst || Math.ceil((rate * limits.caller.burst) / limits.caller.rate) },
  }
}

/** Who came without a key where keys are in use only gets to what is public, and to what its token opens. */
export function allowanceOf({ keyId, admin }: Caller, allowances: Allowances | undefined): Allowance {
  if (!allowances || (keyId === null && !admin)) return none
  return keyId === null ? allowances.keyless : allowances.keyed
}

type Kind = 'sessions' | 'shells' | 'crawls'

interface KindFacts {
  /** As in "20 browser sessions". */
  readonly things: string
  readonly code: ErrorCode
  readonly hint: string
  /** What a server has of them at most, whoever they belong to. */
  readonly overall: number
}

const kinds: Readonly<Record<Kind, KindFacts>> = {
  sessions: {
    things: 'browser sessions',
    code: 'too_many_sessions',
    hint: 'close one that is not needed any more',
    // As many as there are places in browsers; others wait in a queue of its own.
    overall: Infinity,
  },
  shells: {
    things: 'shell sessions',
    code: 'too_many_sessions',
    hint: 'delete one that is not needed any more',
    overall: limits.shell.sessions,
  },
  crawls: {
    things: 'crawls',
    code: 'rate_limited',
    hint: 'wait for one to end, or cancel one',
    overall: limits.overload.crawls,
  },
}

/** Counts what every caller has of one kind. */
export class Quota {
  readonly #kind: Kind
  readonly #allowances: Allowances | undefined
  readonly #taken = new Tally<string | null>()

  constructor(kind: Kind, allowances: Allowances | undefined) {
    this.#kind = kind
    this.#allowances = allowances
  }

  /** What all callers have taken together. */
  get total(): number {
    return this.#taken.total
  }

  /**
   * Takes one for the caller; the function gives it back, once.
   * @throws BaxError with the code of the kind when the caller has as many as it may, `no_capacity` when the server has.
   */
  take(caller: Caller): () => void {
    this.#assertRoom(caller)
    return this.#taken.take(caller.keyId)
  }

  #assertRoom(caller: Caller): void {
    if (!this.#allowances) return
    const { things, code, hint, overall } = kinds[this.#kind]
    const { retryAfterSecs } = limits.overload
    const most = allowanceOf(caller, this.#allowances)[this.#kind]
    if (most > 0 && this.#taken.of(caller.keyId) >= most) {
      throw new BaxError(code, `one key may have ${most} ${things} at a time, and there are as many`, {
        hint,
        details: { limit: this.#kind, most },
        retryAfterSecs,
      })
    }
    if (this.total < overall) return
    throw new BaxError('no_capacity', `the server has all the ${things} that it can take`, { retryAfterSecs })
  }
}
