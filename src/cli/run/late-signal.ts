/** The time that is left after an interrupt for what has to be done at the end: `finally`, logs, closing sessions. */

/** Longest time for the end of a run that was stopped. */
const lastWordsMs = 30_000

/** Aborted a while after another signal. */
export class LateSignal {
  readonly #controller = new AbortController()
  readonly #early: AbortSignal
  #timer: NodeJS.Timeout | undefined
  readonly #begin = () => {
    this.#timer = setTimeout(() => this.#controller.abort(this.#early.reason), lastWordsMs)
  }

  constructor(early: AbortSignal) {
    this.#early = early
    if (early.aborted) this.#begin()
    else early.addEventListener('abort', this.#begin, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Forgets the timer. */
  release(): void {
    clearTimeout(this.#timer)
    this.#early.removeEventListener('abort', this.#begin)
  }
}
