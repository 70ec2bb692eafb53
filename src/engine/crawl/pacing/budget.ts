/** The time that one page may take, spent by the parts of its work; what it waits for in between is not counted. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { ScrapePlan } from '../../scrape/plan.ts'
import { within } from '../../in-time.ts'

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
    const late = () => new BaxError('timeout', `the page took longer than ${this.#wholeMs} ms`)
    try {
      return await within(this.#signal, { ms: this.#leftMs, late }, work)
    } finally {
      this.#leftMs -= performance.now() - start
    }
  }
}
