/** `Idempotency-Key`: a request that is sent again gets the answer of the first one, and does nothing a second time. */
import { createHash } from 'node:crypto'
import type { Caller } from '../core/caller.ts'
import { BaxError } from '../core/errors.ts'
import { limits } from '../core/limits.ts'

interface Kept {
  /** Of what was asked. */
  readonly digest: string
  readonly answer: Promise<unknown>
  readonly until: number
}

/** What a request is known again by. */
export interface RepeatKey {
  readonly operation: string
  readonly caller: Caller
  readonly headers: Headers
}

export class Repeats {
  /** By operation, caller and key, the oldest first. */
  readonly #kept = new Map<string, Kept>()

  /**
   * Runs the work, or gives what it gave for the same key and input; a failure is not kept.
   * @throws BaxError `conflict` when the key came with another input, `invalid_request` for one that is too long.
   */
  once<T>({ operation, caller, headers }: RepeatKey, input: unknown, work: () => Promise<T>): Promise<T> {
    const key = headers.get('idempotency-key')
    if (key === null || key === '') return work()
    if (key.length > limits.repeats.keyChars)
      throw new BaxError('invalid_request', `idempotency-key must have at most ${limits.repeats.keyChars} characters`)
    this.#forget()
    const name = digestOf([operation, caller.keyId, key])
    const digest = digestOf(input)
    const before = this.#kept.get(name)
    if (before) {
      if (before.digest === digest) return before.answer as Promise<T>
      throw new BaxError('conflict', 'this idempotency-key came with another request before', {
        hint: 'use a new key for a new request',
      })
    }
    const answer = work()
    this.#kept.set(name, { digest, answer, until: Date.now() + limits.repeats.keepMs })
    answer.catch(() => this.#kept.delete(name))
    return answer
  }

  #forget(): void {
    const now = Date.now()
    for (const [name, { until }] of this.#kept) {
      if (until > now && this.#kept.size < limits.repeats.kept) return
      this.#kept.delete(name)
    }
  }
}

const digestOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64')
