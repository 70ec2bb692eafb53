/** When a session ends by itself: after its whole time, or after a time without activity. */
import { limits } from '../../../core/limits/limits.ts'

export type LifetimeEnd = 'idle_timeout' | 'lifetime'

export interface LifetimeRules {
  /** 0 = never. */
  readonly idleSecs: number
  readonly totalSecs: number
  /** Called once before an end that nothing has put off; `ms` are left. */
  readonly onExpiring: (reason: LifetimeEnd, ms: number) => void
  readonly onEnd: (reason: LifetimeEnd) => void
}

export class Lifetime {
  readonly #rules: LifetimeRules
  readonly #ends: number
  #active = performance.now()
  #busy = 0
  #warnedFor = 0
  #timer: NodeJS.Timeout | undefined

  constructor(rules: LifetimeRules) {
    this.#rules = rules
    this.#ends = performance.now() + rules.totalSecs * 1000
  }

  start(): void {
    this.#check()
  }

  /** Something was done with the session. */
  touch(): void {
    this.#active = performance.now()
  }

  /** Holds off the idle time while something runs; returns the way to let go. */
  hold(): () => void {
    this.#busy++
    return () => {
      this.#busy--
      this.touch()
    }
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** Looks how long is left and comes back then: activity does not have to move a timer. */
  #check(): void {
    const now = performance.now()
    const { end, reason } = this.#nearest(now)
    if (end <= now) return this.#rules.onEnd(reason)
    const notice = end - limits.session.expiringNoticeSecs * 1000
    if (notice <= now && this.#warnedFor !== end) {
      this.#warnedFor = end
      this.#rules.onExpiring(reason, end - now)
    }
    this.#timer = setTimeout(() => this.#check(), Math.ceil((notice > now ? notice : end) - now))
    // Sessions alone do not keep a process alive.
    this.#timer.unref()
  }

  #nearest(now: number): { end: number; reason: LifetimeEnd } {
    const { idleSecs } = this.#rules
    const idle = idleSecs === 0 ? Infinity : (this.#busy > 0 ? now : this.#active) + idleSecs * 1000
    return idle < this.#ends ? { end: idle, reason: 'idle_timeout' } : { end: this.#ends, reason: 'lifetime' }
  }
}
