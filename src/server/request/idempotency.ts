/** `Idempotency-Key`: a repeated request gets the response of the first one without being run again. */
import type { Caller } from '../../core/access/caller.ts'
import { limits } from '../../core/limits/limits.ts'
import { idempotencyConflict, idempotentRequest } from '../../core/operation/idempotency-key.ts'
import type { IdempotencyKey, IdempotencyStore, KeepLimits } from '../../core/stores.ts'

interface Entry {
  /** Digest of the input. */
  readonly digest: string
  readonly answer: Promise<unknown>
  /** Signal of the request that runs the work. */
  readonly signal: AbortSignal
  /** Expiry, on the monotonic clock. */
  readonly until: number
  settled: boolean
}

/** Keeps the responses of one process. */
export class IdempotencyCache implements IdempotencyStore {
  /** By caller, then by operation and key, oldest first: callers do not evict each other's entries. */
  readonly #entries = new Map<string | null, Map<string, Entry>>()
  readonly #limits: KeepLimits

  constructor(keep: KeepLimits = limits.repeats) {
    this.#limits = keep
  }

  async once<T>(key: IdempotencyKey, input: unknown, work: () => Promise<T>): Promise<T> {
    const { caller, signal } = key
    const request = idempotentRequest(key, input)
    if (!request) return work()
    const { name, digest } = request
    const entries = this.#entriesOf(caller)
    const earlier = entries.get(name)
    if (!earlier) {
      const until = performance.now() + this.#limits.keepMs
      const entry: Entry = { digest, answer: work(), signal, until, settled: false }
      entries.set(name, entry)
      entry.answer.then(
        () => (entry.settled = true),
        () => entries.delete(name),
      )
      return entry.answer as Promise<T>
    }
    if (earlier.digest !== digest) throw idempotencyConflict()
    key.onFound?.()
    try {
      return (await earlier.answer) as T
    } catch (error) {
      // The first client disconnected, which aborted the work; this one still waits for the result.
      if (earlier.signal.aborted && !signal.aborted) return this.once(key, input, work)
      throw error
    }
  }

  /** Returns the entries of one caller, without expired and excess ones. */
  #entriesOf({ keyId }: Caller): Map<string, Entry> {
    const entries = this.#entries.get(keyId) ?? new Map<string, Entry>()
    this.#entries.set(keyId, entries)
    const now = performance.now()
    for (const [name, { until, settled }] of entries) {
      if (until > now && entries.size < this.#limits.kept) break
      if (settled) entries.delete(name)
    }
    return entries
  }
}
