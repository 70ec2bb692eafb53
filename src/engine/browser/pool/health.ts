/** Health check of a browser process: detects one that no longer answers, such as one that a signal has stopped. */
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'

export interface HealthTimes {
  /** Interval between two checks. */
  readonly everyMs: number
  /** Time for the answer of a check. */
  readonly answerMs: number
  /** Time from the first check without an answer until the browser counts as dead. */
  readonly graceMs: number
}

export interface HealthRules {
  /** Sends something that a working browser answers at once. */
  readonly ask: () => Promise<unknown>
  /** When anything was received from the browser: an answer waits behind a long message. `performance.now()`. */
  readonly heardAt: () => number
  readonly times?: HealthTimes | undefined
  /** Called when the browser stops answering, and when it answers again. */
  readonly onChange: (responsive: boolean) => void
  /** Called when the grace period ends without an answer. */
  readonly onDead: () => void
}

export class Health {
  readonly #rules: HealthRules
  readonly #times: HealthTimes
  readonly #timer: NodeJS.Timeout
  #pending: Promise<void> | undefined
  #grace: NodeJS.Timeout | undefined
  #responsive = true
  #dead = false
  #stopped = false

  constructor(rules: HealthRules) {
    this.#rules = rules
    this.#times = rules.times ?? limits.pool.health
    // A browser alone does not keep the process alive.
    this.#timer = setInterval(() => void this.check(), this.#times.everyMs).unref()
  }

  get responsive(): boolean {
    return this.#responsive
  }

  /** Whether the browser was given up. */
  get dead(): boolean {
    return this.#dead
  }

  /** Returns whether the browser answers in time. */
  async check(): Promise<boolean> {
    if (this.#stopped) return this.#responsive
    this.#pending ??= this.#ask()
    const answer = this.#pending.then(() => true)
    const answered = await withDeadline(answer, { ms: this.#times.answerMs, value: false, unref: true })
    if (answered || this.#isHeard()) return true
    this.#unanswered()
    return false
  }

  #isHeard(): boolean {
    return performance.now() - this.#rules.heardAt() < this.#times.answerMs
  }

  stop(): void {
    this.#stopped = true
    clearInterval(this.#timer)
    clearTimeout(this.#grace)
  }

  async #ask(): Promise<void> {
    // An error is an answer too; a connection that is gone is reported by itself.
    await this.#rules.ask().catch(() => {})
    this.#pending = undefined
    this.#recovered()
  }

  #recovered(): void {
    clearTimeout(this.#grace)
    if (this.#responsive || this.#stopped) return
    this.#responsive = true
    this.#rules.onChange(true)
  }

  #unanswered(): void {
    if (!this.#responsive || this.#stopped) return
    this.#responsive = false
    const { graceMs, answerMs } = this.#times
    // After a pause of this process itself all timers are due at once: the answer gets its time once more.
    const lastChance = () => {
      this.#grace = setTimeout(() => this.#giveUp(), answerMs).unref()
    }
    this.#grace = setTimeout(lastChance, Math.max(0, graceMs - 2 * answerMs)).unref()
    this.#rules.onChange(false)
  }

  #giveUp(): void {
    if (this.#isHeard()) return this.#recovered()
    this.#dead = true
    this.stop()
    this.#rules.onDead()
  }
}
