/** How many events a second are collected, where the user has set a bound. */
import type { RelayEventKind } from '../../../core/shapes/relay.ts'

/** Kinds of events that may be left out. */
export type SkippedKind = Exclude<RelayEventKind, 'relay'>

/** Lets so many events through in each second; the console has half of them, for it is what floods. */
export class EventRate {
  readonly #perSecond: number
  readonly #now: () => number
  #second = 0
  #passed = 0

  /** @param now Milliseconds of a clock that does not go back. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond
    this.#now = now
  }

  /** Whether an event of this kind may pass now. */
  admits(kind: SkippedKind): boolean {
    const second = Math.floor(this.#now() / 1000)
    if (second !== this.#second) this.#passed = 0
    this.#second = second
    const most = kind === 'console' ? Math.ceil(this.#perSecond / 2) : this.#perSecond
    if (this.#passed >= most) return false
    this.#passed += 1
    return true
  }
}
