/** The rate of finished pages. */
const windowMs = 10_000

export class Speed {
  readonly #start = performance.now()
  #times: number[] = []

  count(): void {
    this.#times.push(performance.now())
    if (this.#times.length > 1000) this.#drop()
  }

  /** Returns the pages per second over the last ten seconds, or since the start. */
  perSecond(): number {
    this.#drop()
    const secs = Math.min(windowMs, performance.now() - this.#start) / 1000
    return secs > 0 ? Math.round((this.#times.length / secs) * 10) / 10 : 0
  }

  #drop(): void {
    const from = performance.now() - windowMs
    const at = this.#times.findIndex((time) => time >= from)
    this.#times = at < 0 ? [] : this.#times.slice(at)
  }
}
