/** The timeout of one page, spread over the steps of its work. Time spent in queues between steps does not count. */
import { withDeadline } from '../../../core/process/deadline.ts'
import type { ScrapePlan } from '../../scrape/plan.ts'

export class TimeBudget {
  readonly #timeoutMs: number
  readonly #signal: AbortSignal
  leftMs: number

  constructor({ timeoutMs }: Pick<ScrapePlan, 'timeoutMs'>, signal: AbortSignal) {
    this.#timeoutMs = timeoutMs
    this.leftMs = timeoutMs
    this.#signal = signal
  }

  /** Runs a step. @throws BaxError `timeout` when no time is left, the signal's reason when it is aborted */
  async spend<T>(work: (signal: AbortSignal, deadline: number) => Promise<T>): Promise<T> {
    const start = performance.now()
    const ms = this.leftMs
    const error = `the page took longer than ${this.#timeoutMs} ms`
    const timed = (inner: AbortSignal) => work(inner, start + ms)
    try {
      return await withDeadline(timed, { ms, error, signal: this.#signal, cooperative: true })
    } catch (thrown) {
      this.#signal.throwIfAborted()
      throw thrown
    } finally {
      this.leftMs -= performance.now() - start
    }
  }
}
