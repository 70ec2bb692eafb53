/** Limits on heavy work, request bodies in memory, and open streams. Excess requests are rejected immediately. */
import type { Caller } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { Counter } from '../../core/access/quota.ts'

const { partOfKey, retryAfterSecs } = limits.overload
const hint = 'retry after the time in Retry-After'

interface CapacityTexts {
  /** Reason in the error when everything is in use. */
  readonly full: string
  /** An amount as text, e.g. "32 running scrapes and searches". */
  readonly amount: (amount: number) => string
}

/** A capacity of which one key can use only a share, so that no key starves the others. */
class Capacity {
  readonly #max: number
  readonly #texts: CapacityTexts
  readonly #partOfOne: number
  readonly #used = new Counter<string | null>()

  constructor(max: number, texts: CapacityTexts, partOfOne: number = partOfKey) {
    this.#max = max
    this.#partOfOne = partOfOne
    this.#texts = texts
  }

  /**
   * Reserves an amount. Without keys there is one caller, who may use everything; on a server with keys, all callers
   * without one have one share together.
   * @throws BaxError `no_capacity` when everything is in use, `rate_limited` when the caller's share is.
   */
  take({ keyId, admin }: Caller, amount: number): void {
    const max = this.#max
    const share = keyId === null && admin ? max : max * this.#partOfOne
    if (this.#used.of(keyId) + amount > share && share < max)
      throw new BaxError('rate_limited', `one key may have ${this.#texts.amount(share)} at a time`, { hint, retryAfterSecs }) // prettier-ignore
    if (this.#used.total + amount > max)
      throw new BaxError('no_capacity', `the server is at capacity: ${this.#texts.full}`, { hint, retryAfterSecs })
    this.#used.add(keyId, amount)
  }

  release({ keyId }: Caller, amount: number): void {
    this.#used.add(keyId, -amount)
  }

  get used(): number {
    return this.#used.total
  }
}

/** Limits concurrent heavy operations. */
export class WorkSlots {
  readonly #capacity: Capacity

  /** `partOfKey` is the share of one key; on a worker everything, since others have the rest of the fleet. */
  constructor(max: number, partOfKey?: number) {
    const texts = {
      full: `${max} scrapes and searches are running`,
      amount: (amount: number) => `${amount} running scrapes and searches`,
    }
    this.#capacity = new Capacity(max, texts, partOfKey)
  }

  /** Number of running operations. */
  get running(): number {
    return this.#capacity.used
  }

  /** Runs the work. @throws BaxError as `Capacity.take` does. */
  async run<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    this.#capacity.take(caller, 1)
    try {
      return await work()
    } finally {
      this.#capacity.release(caller, 1)
    }
  }
}

export interface BodyReservation {
  /** @throws BaxError `no_capacity` when no memory is left, `rate_limited` when the caller's share is in use. */
  add(bytes: number): void
  close(): void
}

/** Limits memory for request bodies, counted from their first byte until the response. */
export class BodyMemory {
  readonly #capacity: Capacity

  constructor(max: number) {
    this.#capacity = new Capacity(max, {
      full: 'too many request bodies are being read',
      amount: (bytes) => `${bytes / 1024 / 1024} MiB of bodies in memory`,
    })
  }

  open(caller: Caller): BodyReservation {
    let reserved = 0
    return {
      add: (bytes) => {
        this.#capacity.take(caller, bytes)
        reserved += bytes
      },
      close: () => {
        this.#capacity.release(caller, reserved)
        reserved = 0
      },
    }
  }
}

/** Limits the open websockets and streams of each key or token. */
export class OpenStreams {
  readonly #noun: string
  readonly #open = new Counter<string>()

  /** `noun` is a plural noun for error messages, e.g. "websockets". */
  constructor(noun: string) {
    this.#noun = noun
  }

  /**
   * Counts one for its key, or for the token of a caller without one, until the returned function is called. A server
   * without keys has no limit.
   * @throws BaxError `rate_limited`.
   */
  take({ keyId, admin }: Caller, token: string | null): () => void {
    if (keyId === null && admin) return () => {}
    const { ofKey, ofToken } = limits.openEnds
    const [holder, what, max] =
      keyId === null ? [`token ${token ?? ''}`, 'token', ofToken] : [`key ${keyId}`, 'key', ofKey]
    if (this.#open.of(holder) >= max) {
      throw new BaxError('rate_limited', `one ${what} may have ${max} ${this.#noun} open at a time`, {
        hint: 'close one that is no longer needed',
        retryAfterSecs: limits.overload.retryAfterSecs,
      })
    }
    return this.#open.take(holder)
  }
}
