/** Lifetime of a session: ends it after its maximum lifetime, or after a period without activity. */
import { limits } from '../../../core/limits/limits.ts'

export type LifetimeEnd = 'idle_timeout' | 'lifetime'

export interface LifetimeRules {
  /** Idle timeout; 0 disables it. */
  readonly idleSecs: number
  readonly totalSecs: number
  /** Called shortly before the end, and again if activity has postponed it; `ms` are left. */
  readonly onExpiring: (reason: LifetimeEnd, ms: number) => void
  readonly onEnd: (reason: LifetimeEnd) => void
}

export class Lifetime {
  readonly #rules: LifetimeRules
  readonly #endsAt: number
  #lastActiveAt = performance.now()
  #busy = 0
  #warnedFor = 0
  #timer: NodeJS.Timeout | undefined

  constructor(rules: LifetimeRules) {
    this.#rules = rules
    this.#endsAt = performance.now() + rules.totalSecs * 1000
  }

  start(): void {
    this.#check()
  }

  /** Records activity on the session. */
  touch(): void {
    this.#lastActiveAt = performance.now()
  }

  /** Suspends the idle timeout while something runs, until the returned function is called. */
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

  /** Checks how much time is left and schedules the next check, so that activity need not reset a timer. */
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
    const idle = idleSecs === 0 ? Infinity : (this.#busy > 0 ? now : this.#lastActiveAt) + idleSecs * 1000
    return idle < this.#endsAt ? { end: idle, reason: 'idle_timeout' } : { end: this.#endsAt, reason: 'lifetime' }
  }
}
