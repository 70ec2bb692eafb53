/** The time that one page may take, spent by the parts of its work; what it waits for in between is not counted. */
import { withDeadline } from '../../../core/process/deadline.ts'
import type { ScrapePlan } from '../../scrape/plan.ts'

export class Budget {
  readonly #wholeMs: number
  readonly #signal: AbortSignal
  #leftMs: number

  constructor({ timeoutMs }: Pick<ScrapePlan, 'timeoutMs'>, signal: AbortSignal) {
    this.#wholeMs = timeoutMs
    this.#leftMs = timeoutMs
    this.#signal = signal
  }

  get leftMs(): number {
    return this.#leftMs
  }

  /** @throws BaxError `timeout` when there is nothing left; the signal's reason when it was aborted */
  async spend<T>(work: (signal: AbortSignal, deadline: number) => Promise<T>): Promise<T> {
    const start = performance.now()
    const ms = this.#leftMs
    const error = `the page took longer than ${this.#wholeMs} ms`
    const timed = (inner: AbortSignal) => work(inner, start + ms)
    try {
      return await withDeadline(timed, { ms, error, signal: this.#signal, cooperative: true })
    } catch (thrown) {
      this.#signal.throwIfAborted()
      throw thrown
    } finally {
      this.#leftMs -= performance.now() - start
    }
  }
}
