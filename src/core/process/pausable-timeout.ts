/** A timeout whose clock stops while the work waits for a person. */

export class PausableTimeout {
  readonly #over = new AbortController()
  readonly #error: () => Error
  #leftMs: number
  #startedAt = 0
  #timer: NodeJS.Timeout | undefined
  #pauses = 0
  #isStopped = false

  /** Starts the clock. */
  constructor(ms: number, error: () => Error) {
    this.#leftMs = ms
    this.#error = error
    this.#start()
  }

  /** Aborted when the time has passed. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** Stops the clock while `work` runs. */
  async pauseDuring<T>(work: () => Promise<T>): Promise<T> {
    if (this.#pauses++ === 0) {
      clearTimeout(this.#timer)
      this.#leftMs -= performance.now() - this.#startedAt
    }
    try {
      return await work()
    } finally {
      if (--this.#pauses === 0) this.#start()
    }
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #start(): void {
    if (this.#isStopped) return
    this.#startedAt = performance.now()
    this.#timer = setTimeout(() => this.#over.abort(this.#error()), this.#leftMs)
  }
}
