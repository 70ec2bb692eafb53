/** `Idempotency-Key`: a repeated request gets the response of the first one without being run again. */
import { createHash } from 'node:crypto'
import type { Caller } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'

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

export interface IdempotencyKey {
  readonly operation: string
  readonly caller: Caller
  readonly headers: Headers
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

export class IdempotencyCache {
  /** By caller, then by operation and key, oldest first: callers do not evict each other's entries. */
  readonly #entries = new Map<string | null, Map<string, Entry>>()

  /**
   * Runs the work, or returns its earlier result for the same key and input, also while it still runs. Errors are not
   * kept.
   * @throws BaxError `conflict` when the key was used with another input, `invalid_request` for a key that is too long.
   */
  async once<T>(key: IdempotencyKey, input: unknown, work: () => Promise<T>): Promise<T> {
    const { operation, caller, headers, signal } = key
    const header = headers.get('idempotency-key')
    if (header === null || header === '') return work()
    if (header.length > limits.repeats.keyChars) {
      const message = `must have at most ${limits.repeats.keyChars} characters`
      throw new BaxError('invalid_request', `idempotency-key ${message}`, {
        details: [{ path: 'idempotency-key', message }],
      })
    }
    const entries = this.#entriesOf(caller)
    const name = `${operation} ${header}`
    const digest = createHash('sha256').update(JSON.stringify(input)).digest('base64')
    const earlier = entries.get(name)
    if (!earlier) {
      const until = performance.now() + limits.repeats.keepMs
      const entry: Entry = { digest, answer: work(), signal, until, settled: false }
      entries.set(name, entry)
      entry.answer.then(() => (entry.settled = true), () => entries.delete(name)) // prettier-ignore
      return entry.answer as Promise<T>
    }
    if (earlier.digest !== digest) {
      throw new BaxError('conflict', 'this idempotency-key was used for another request', {
        hint: 'use a new key for a new request',
      })
    }
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
      if (until > now && entries.size < limits.repeats.kept) break
      if (settled) entries.delete(name)
    }
    return entries
  }
}
