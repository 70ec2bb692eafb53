/** Contexts with a page that a browser keeps ready: more of them while sessions are created faster than they are opened. */
import { availableMemory } from 'node:process'
import type { Page } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'

interface WarmContext {
  readonly page: Page
  close(): Promise<void>
}

interface WarmFacts<Context> {
  readonly make: () => Promise<Context>
  /** Whether the browser ends, which is no time to open contexts. */
  readonly isEnding: () => boolean
  readonly onError: (what: 'open' | 'close', error: Error) => void
}

const { warmMax, warmMakers, warmDelayMs, warmBurstMs, warmIdleMs, warmFreeBytes } = limits.pool

export class WarmContexts<Context extends WarmContext> {
  readonly #facts: WarmFacts<Context>
  readonly #ready: Context[] = []
  /** Contexts that are being opened, and that nobody waits for yet. */
  readonly #opening: Promise<Context>[] = []
  /** Number to keep without demand, and the number that the browser has slots for. */
  #base = 0
  #capacity = 0
  /** Number to keep because of the recent demand. */
  #demand = 0
  #lastTakenAt = -Infinity
  #calm: NodeJS.Timeout | undefined
  #isWaiting = false

  constructor(facts: WarmFacts<Context>) {
    this.#facts = facts
  }

  get count(): number {
    return this.#ready.length
  }

  /** Sets how many contexts to keep; they are opened in the background. */
  keep(base: number, capacity: number): void {
    this.#base = base
    this.#capacity = capacity
    // Let the session that triggered this go first.
    if (this.#isWaiting) return
    this.#isWaiting = true
    setTimeout(() => {
      this.#isWaiting = false
      this.#fill()
    }, warmDelayMs)
  }

  /** Returns a context that is ready, or the one that will be first; undefined when none is being opened. */
  async take(): Promise<Context | undefined> {
    const now = performance.now()
    if (this.#ready.length <= 1 && now - this.#lastTakenAt < warmBurstMs) this.#expectMore()
    this.#lastTakenAt = now
    const ready = this.#ready.shift()
    if (ready) return ready
    // The failure is reported; the caller opens a context itself.
    return this.#opening.shift()?.catch(() => undefined)
  }

  /** Doubles the number to keep, until no session has been created for some time. */
  #expectMore(): void {
    if (this.#base === 0) return
    this.#demand = Math.min(warmMax, 2 * Math.max(this.#base, this.#demand))
    clearTimeout(this.#calm)
    this.#calm = setTimeout(() => {
      this.#demand = 0
      this.#closeBeyond(this.#base)
    }, warmIdleMs).unref()
  }

  get #target(): number {
    const isTight = availableMemory() < warmFreeBytes
    return Math.min(isTight ? this.#base : Math.max(this.#base, this.#demand), this.#capacity)
  }

  #fill(): void {
    // Slots are for sessions.
    this.#closeBeyond(this.#capacity)
    while (
      this.#ready.length + this.#opening.length < this.#target &&
      this.#opening.length < warmMakers &&
      !this.#facts.isEnding()
    )
      this.#open()
  }

  #open(): void {
    const opening = this.#facts.make()
    this.#opening.push(opening)
    const isTaken = () => {
      const at = this.#opening.indexOf(opening)
      if (at >= 0) this.#opening.splice(at, 1)
      return at < 0
    }
    opening.then(
      (context) => {
        if (!isTaken()) this.#add(context)
        this.#fill()
      },
      // Not repeated before the next request.
      (error: Error) => {
        isTaken()
        this.#facts.onError('open', error)
      },
    )
  }

  #add(context: Context): void {
    this.#ready.push(context)
    const drop = () => {
      const at = this.#ready.indexOf(context)
      if (at < 0) return
      this.#ready.splice(at, 1)
      this.#close(context)
    }
    context.page.once('crash', drop).once('close', drop)
  }

  #closeBeyond(count: number): void {
    for (const context of this.#ready.splice(Math.max(0, count))) this.#close(context)
  }

  #close(context: Context): void {
    context.close().catch((error: Error) => this.#facts.onError('close', error))
  }
}
