/** Idle timeout of a session: restarted by every use, and suspended while it is in use. */

export class IdleClock {
  readonly #onIdle: () => void
  #timeoutMs: number
  #lastActive = Date.now()
  #holds = 0
  #timer: NodeJS.Timeout | undefined
  #running = false

  /** Calls `onIdle` once, after `timeoutMs` without use, counted from `start`. */
  constructor(timeoutMs: number, onIdle: () => void) {
    this.#timeoutMs = timeoutMs
    this.#onIdle = onIdle
  }

  start(): void {
    this.#running = true
    this.touch()
  }

  get lastActive(): Date {
    return new Date(this.#lastActive)
  }

  get timeoutSecs(): number {
    return this.#timeoutMs / 1000
  }

  /** When it expires unless it is used; counted from now while it is in use. */
  get expires(): Date {
    return new Date((this.#holds > 0 ? Date.now() : this.#lastActive) + this.#timeoutMs)
  }

  /** Restarts the timeout, optionally with a new duration. */
  touch(timeoutMs = this.#timeoutMs): void {
    this.#timeoutMs = timeoutMs
    this.#lastActive = Date.now()
    clearTimeout(this.#timer)
    if (!this.#running || this.#holds > 0) return
    this.#timer = setTimeout(() => {
      this.stop()
      this.#onIdle()
    }, this.#timeoutMs)
    this.#timer.unref()
  }

  /** Keeps the session in use until the returned function is called. */
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
    this.#running = false
    clearTimeout(this.#timer)
  }
}
