/** `Idempotency-Key`: a request that is sent again gets the answer of the first one, and does nothing a second time. */
import { createHash } from 'node:crypto'
import type { Caller } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'

interface Kept {
  /** Of what was asked. */
  readonly digest: string
  readonly answer: Promise<unknown>
  /** Of the call that the answer is made for. */
  readonly signal: AbortSignal
  /** By the clock that nobody sets. */
  readonly until: number
  settled: boolean
}

/** What a request is known again by. */
export interface RepeatKey {
  readonly operation: string
  readonly caller: Caller
  readonly headers: Headers
  /** Aborted when this sender of the request goes away. */
  readonly signal: AbortSignal
}

export class Repeats {
  /** By caller, then by operation and key, the oldest first: nobody's answers make room for those of others. */
  readonly #kept = new Map<string | null, Map<string, Kept>>()

  /**
   * Runs the work, or gives what it gave for the same key and input, waiting for it if need be; a failure is not kept.
   * @throws BaxError `conflict` when the key came with another input, `invalid_request` for one that is too long.
   */
  async once<T>(key: RepeatKey, input: unknown, work: () => Promise<T>): Promise<T> {
    const { operation, caller, headers, signal } = key
    const given = headers.get('idempotency-key')
    if (given === null || given === '') return work()
    if (given.length > limits.repeats.keyChars) {
      const message = `must have at most ${limits.repeats.keyChars} characters`
      throw new BaxError('invalid_request', `idempotency-key ${message}`, {
        details: [{ path: 'idempotency-key', message }],
      })
    }
    const kept = this.#keptFor(caller)
    const name = `${operation} ${given}`
    const digest = createHash('sha256').update(JSON.stringify(input)).digest('base64')
    const before = kept.get(name)
    if (!before) {
      const entry: Kept = {
        digest,
        answer: work(),
        signal,
        until: performance.now() + limits.repeats.keepMs,
        settled: false,
      }
      kept.set(name, entry)
      entry.answer.then(() => (entry.settled = true), () => kept.delete(name)) // prettier-ignore
      return entry.answer as Promise<T>
    }
    if (before.digest !== digest) {
      throw new BaxError('conflict', 'this idempotency-key came with another request before', {
        hint: 'use a new key for a new request',
      })
    }
    try {
      return (await before.answer) as T
    } catch (error) {
      // Its sender went away and took it along; who has sent it again still wants it.
      if (before.signal.aborted && !signal.aborted) return this.once(key, input, work)
      throw error
    }
  }

  /** The answers of one caller, without those whose time is over and those that are too many. */
  #keptFor({ keyId }: Caller): Map<string, Kept> {
    const kept = this.#kept.get(keyId) ?? new Map<string, Kept>()
    this.#kept.set(keyId, kept)
    const now = performance.now()
    for (const [name, { until, settled }] of kept) {
      if (until > now && kept.size < limits.repeats.kept) break
      if (settled) kept.delete(name)
    }
    return kept
  }
}
