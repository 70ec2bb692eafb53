/** Limits the number of collected events per second, if the user has set a limit. */
import type { RelayEventKind } from '../../../core/shapes/relay.ts'

/** Kinds of events that may be dropped. */
export type SkippedKind = Exclude<RelayEventKind, 'relay'>

/** Admits a number of events per second; the console, the usual source of floods, gets half of them. */
export class EventRate {
  readonly #perSecond: number
  readonly #now: () => number
  #second = 0
  #admitted = 0

  /** @param now Monotonic clock, in milliseconds. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond
    this.#now = now
  }

  /** Returns whether an event may pass now, and counts it. */
  admits(kind: SkippedKind): boolean {
    const second = Math.floor(this.#now() / 1000)
    if (second !== this.#second) this.#admitted = 0
    this.#second = second
    const max = kind === 'console' ? Math.ceil(this.#perSecond / 2) : this.#perSecond
    if (this.#admitted >= max) return false
    this.#admitted += 1
    return true
  }
}
