/** Contexts with a page that a browser keeps ready: more of them while sessions are created faster than they are opened. */
import { availableMemory } from 'node:process'
import type { Page } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'

interface WarmContext {
  readonly page: Promise<Page>
  close(): Promise<void>
}

interface WarmFacts<Context> {
  readonly make: () => Promise<Context>
  /** Whether the browser ends, which is no time to open contexts. */
  readonly isEnding: () => boolean
  readonly onError: (what: 'open' | 'close', error: Error) => void
  /** Returns the free memory in bytes; by default that of this process. */
  readonly freeBytes?: () => number
}

const { warmMax, warmMakers, warmDelayMs, warmBurstMs, warmIdleMs, warmFreeBytes } = limits.pool

export class WarmContexts<Context extends WarmContext> {
  readonly #facts: WarmFacts<Context>
  readonly #ready: Context[] = []
  #opening = 0
  /** Number to keep without demand, and the number that the browser has slots for. */
  #base = 0
  #capacity = 0
  /** Number to keep because of the recent demand. */
  #demand = 0
  #lastTakenAt = -Infinity
  /** Whether sessions need pages: the last one that found none ready has opened its own. Reset once the pool is full. */
  #isMissed = false
  #calm: NodeJS.Timeout | undefined
  #delay: NodeJS.Timeout | undefined

  constructor(facts: WarmFacts<Context>) {
    this.#facts = facts
  }

  get count(): number {
    return this.#ready.length
  }

  /**
   * Sets how many contexts to keep. They are opened in the background when no session has been created or closed for a
   * moment, as sessions that are closed at once are faster without a competing page; but sooner if sessions need pages.
   */
  keep(base: number, capacity: number): void {
    this.#base = base
    this.#capacity = capacity
    if (this.#delay !== undefined && this.#isMissed) return
    clearTimeout(this.#delay)
    this.#delay = setTimeout(() => {
      this.#delay = undefined
      this.#fill()
    }, warmDelayMs)
  }

  /** Returns a context that is ready. */
  take(): Context | undefined {
    const now = performance.now()
    if (this.#ready.length <= 1 && now - this.#lastTakenAt < warmBurstMs) this.#expectMore()
    this.#lastTakenAt = now
    return this.#ready.shift()
  }

  /** Records whether a session that found no ready page has opened its own, or was closed before. */
  missed(isMissed: boolean): void {
    this.#isMissed = isMissed
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
    const { freeBytes = availableMemory } = this.#facts
    const isTight = freeBytes() < warmFreeBytes
    return Math.min(isTight ? this.#base : Math.max(this.#base, this.#demand), this.#capacity)
  }

  #fill(): void {
    // Slots are for sessions.
    this.#closeBeyond(this.#capacity)
    while (this.#ready.length + this.#opening < this.#target && this.#opening < warmMakers && !this.#facts.isEnding())
      void this.#open()
    if (this.#ready.length + this.#opening >= this.#target) this.#isMissed = false
  }

  async #open(): Promise<void> {
    this.#opening += 1
    try {
      const context = await this.#facts.make()
      this.#add(context, await context.page)
    } catch (error) {
      // Not repeated before the next request.
      return this.#facts.onError('open', error as Error)
    } finally {
      this.#opening -= 1
    }
    if (this.#delay === undefined || this.#isMissed) this.#fill()
  }

  #add(context: Context, page: Page): void {
    this.#ready.push(context)
    const drop = () => {
      const at = this.#ready.indexOf(context)
      if (at < 0) return
      this.#ready.splice(at, 1)
      this.#close(context)
    }
    page.once('crash', drop).once('close', drop)
  }

  #closeBeyond(count: number): void {
    for (const context of this.#ready.splice(Math.max(0, count))) this.#close(context)
  }

  #close(context: Context): void {
    context.close().catch((error: Error) => this.#facts.onError('close', error))
  }
}
