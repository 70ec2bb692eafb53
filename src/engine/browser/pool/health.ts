/** Health check of a browser process: detects one that no longer answers, such as one that a signal has stopped. */
import type { PoolConfig } from '../../../core/config/config.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'

export interface HealthRules {
  /** Sends a request that a working browser answers at once. */
  readonly ping: () => Promise<unknown>
  /** Returns when anything was last received (`performance.now()`), since a response may wait behind a long message. */
  readonly lastReceivedAt: () => number
  readonly times?: PoolConfig['health'] | undefined
  /** Called when the browser stops answering, and when it answers again. */
  readonly onChange: (responsive: boolean) => void
  /** Called when the grace period ends without an answer. */
  readonly onDead: () => void
}

export class Health {
  readonly #rules: HealthRules
  readonly #times: PoolConfig['health']
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

  get dead(): boolean {
    return this.#dead
  }

  /** Returns whether the browser answers in time. */
  async check(): Promise<boolean> {
    if (this.#stopped) return this.#responsive
    this.#pending ??= this.#ping()
    const answer = this.#pending.then(() => true)
    const answered = await withDeadline(answer, { ms: this.#times.answerMs, value: false, unref: true })
    if (answered || this.#isReceiving()) return true
    this.#unanswered()
    return false
  }

  #isReceiving(): boolean {
    return performance.now() - this.#rules.lastReceivedAt() < this.#times.answerMs
  }

  stop(): void {
    this.#stopped = true
    clearInterval(this.#timer)
    clearTimeout(this.#grace)
  }

  async #ping(): Promise<void> {
    // An error is a response too; a lost connection is reported elsewhere.
    await this.#rules.ping().catch(() => {})
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
    // After this process was suspended all timers are due at once, so allow one more answer period.
    const lastChance = () => {
      this.#grace = setTimeout(() => this.#declareDead(), answerMs).unref()
    }
    this.#grace = setTimeout(lastChance, Math.max(0, graceMs - 2 * answerMs)).unref()
    this.#rules.onChange(false)
  }

  #declareDead(): void {
    if (this.#isReceiving()) return this.#recovered()
    this.#dead = true
    this.stop()
    this.#rules.onDead()
  }
}
