/** Limits on heavy work, request bodies in memory, and open streams. Excess requests are rejected immediately. */
import type { Caller } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { Capacity } from '../../core/access/capacity.ts'
import { Counter } from '../../core/access/quota.ts'

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
