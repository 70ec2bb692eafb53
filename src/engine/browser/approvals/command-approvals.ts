/** Approvals that belong to one running command, which ends after them. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { Cause, RunningApprovals } from '../ports/approvals.ts'

export class CommandApprovals implements RunningApprovals {
  readonly cause: Cause
  /** Aborted when the command has to stop: what it waits for is not executed then. */
  readonly signal: AbortSignal
  readonly #end: () => void
  readonly #asked = new AbortController()
  readonly #waiting: Promise<void>[] = []

  constructor(cause: Cause, signal: AbortSignal, end: () => void) {
    this.cause = cause
    this.signal = signal
    this.#end = end
  }

  /** Adds an action that the command has caused. */
  add(approval: Promise<void>): void {
    // Awaited by `through`.
    approval.catch(() => {})
    this.#waiting.push(approval)
    this.#asked.abort()
  }

  async through<T>(work: () => Promise<T>, arrive: (asked: AbortSignal) => Promise<unknown>): Promise<T | undefined> {
    let outcome: T | undefined
    let failure: unknown
    try {
      outcome = await work()
    } catch (error) {
      failure = error
    }
    const { signal: asked } = this.#asked
    if (!asked.aborted && failure === undefined) await arrive(asked)
    while (this.#waiting.length > 0) await Promise.all(this.#waiting.splice(0))
    // The input was delivered, and the navigation that it caused was held for longer than input waits.
    if (failure !== undefined && !(asked.aborted && isTimeout(failure))) throw failure
    return outcome
  }

  end(): void {
    this.#end()
  }
}

const isTimeout = (error: unknown): boolean =>
  (error instanceof BaxError && error.code === 'timeout') || (error as Error).name === 'TimeoutError'
