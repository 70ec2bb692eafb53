/** What one caller may have at a time, and how often it may ask. */
import type { Caller } from './caller.ts'
import { BaxError, type ErrorCode } from './errors.ts'
import { limits } from './limits.ts'

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

interface QuotaFacts {
  readonly of: 'sessions' | 'shells' | 'crawls'
  /** As in "20 browser sessions". */
  readonly things: string
  readonly code: ErrorCode
  readonly hint: string
}

/** Counts what every caller has of one kind. */
export class Quota {
  readonly #facts: QuotaFacts
  readonly #allowances: Allowances | undefined
  readonly #taken = new Map<string | null, number>()

  constructor(facts: QuotaFacts, allowances: Allowances | undefined) {
    this.#facts = facts
    this.#allowances = allowances
  }

  /** What all callers have taken together. */
  get total(): number {
    return [...this.#taken.values()].reduce((sum, count) => sum + count, 0)
  }

  /**
   * Takes one for the caller; the function gives it back, once.
   * @throws BaxError with the quota's code when the caller has as many as it may.
   */
  take(caller: Caller): () => void {
    const { of, things, code, hint } = this.#facts
    const most = allowanceOf(caller, this.#allowances)[of]
    const taken = this.#taken.get(caller.keyId) ?? 0
    if (most > 0 && taken >= most) {
      throw new BaxError(code, `${most} ${things} are the most that one key may have at a time`, {
        hint,
        details: { limit: of, most },
        retryAfterSecs: limits.overload.retryAfterSecs,
      })
    }
    this.#taken.set(caller.keyId, taken + 1)
    let held = true
    return () => {
      if (!held) return
      held = false
      const left = this.#taken.get(caller.keyId)! - 1
      if (left > 0) this.#taken.set(caller.keyId, left)
      else this.#taken.delete(caller.keyId)
    }
  }
}
