/** The idle time of a session: restarted by every use, not running while something is under way. */

export class IdleClock {
  readonly #onIdle: () => void
  #timeoutMs: number
  #lastActive = Date.now()
  #holds = 0
  #timer: NodeJS.Timeout | undefined
  #runs = false

  /** Calls `onIdle` once, after `timeoutMs` without use; not before it was started. */
  constructor(timeoutMs: number, onIdle: () => void) {
    this.#timeoutMs = timeoutMs
    this.#onIdle = onIdle
  }

  start(): void {
    this.#runs = true
    this.touch()
  }

  get lastActive(): Date {
    return new Date(this.#lastActive)
  }

  get timeoutSecs(): number {
    return this.#timeoutMs / 1000
  }

  /** When it will be idle unless it is used; from now on while it is in use. */
  get expires(): Date {
    return new Date((this.#holds > 0 ? Date.now() : this.#lastActive) + this.#timeoutMs)
  }

  /** Starts the time anew, with another length when one is given. */
  touch(timeoutMs = this.#timeoutMs): void {
    this.#timeoutMs = timeoutMs
    this.#lastActive = Date.now()
    clearTimeout(this.#timer)
    if (!this.#runs || this.#holds > 0) return
    this.#timer = setTimeout(() => {
      this.stop()
      this.#onIdle()
    }, this.#timeoutMs)
    this.#timer.unref()
  }

  /** Holds the session until the returned function is called. */
  hold(): () => void {
    this.#holds += 1
    this.touch()
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#holds -= 1
      this.touch()
    }
  }

  stop(): void {
    this.#runs = false
    clearTimeout(this.#timer)
  }
}
