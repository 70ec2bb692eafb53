/** Tracks the activity of a page, and decides when its content is stable. */
import { isTooLarge } from './read.page.ts'
import { type View, viewOf } from './view.page.ts'

export interface StableLimits {
  /** Maximum time for the content to stop changing, in milliseconds. */
  readonly settleMs: number
  /** Maximum time to wait for a page without content, in milliseconds. */
  readonly emptyMs: number
}

/** `slice`: content is still missing; the caller repeats the call. */
type Outcome = 'settled' | 'slice'

const quietMs = 60
const tickMs = 20
const quietTurns = 3
/** Delays of timers to always wait for, in milliseconds. Longer ones are rotation and polling once content is shown. */
const shortMs = 600
/** Delays of timers and intervals to wait for while content is missing, in milliseconds. */
export const longMs = 2000
/** Maximum lateness of a timer, in milliseconds. */
const timerSlackMs = 250
/** Maximum pause between two messages that fill a page, in milliseconds. */
const pauseMs = 1000
/** Maximum time to wait for a page that is filled step by step, as a multiple of `settleMs`. */
const maxFillFactor = 3

/** A source of repeated calls: an interval, a stream, a worker. */
export interface CallSource {
  called(): void
  end(): void
}

/** The maximum pause between two calls of a source, in milliseconds, and the time of the last call. */
interface Feed {
  readonly everyMs: number
  calledAt?: number
}

export class Activity {
  readonly #feeds = new Set<Feed>()
  readonly #now = performance.now.bind(performance)
  readonly #setTimeout = globalThis.setTimeout.bind(globalThis)
  /** Pending timers, with their delays. */
  readonly #timers = new Map<unknown, number>()
  #short = 0
  #open = 0
  #expected = 0
  #changed = this.#now()
  #view: View | undefined
  #isTooLarge = false
  /** Characters that scripts have added, now and at most. */
  #chars = 0
  #maxChars = 0
  #grownAt = 0
  /** Whether content was missing when the page had loaded. */
  #wasIncomplete = false
  #start = 0
  #last = 0
  #countedMs = 0
  #countedMsAtGrowth = 0

  /** Starts an activity that is always waited for, such as a request. Returns a function that ends it. */
  begin(): () => void {
    this.#open++
    return once(() => {
      this.#open--
      this.touch()
    })
  }

  /** Starts an activity that is waited for only while content is missing. Returns a function that ends it. */
  expect(): () => void {
    this.#expected++
    return once(() => this.#expected--)
  }

  /** Adds a source of calls; `everyMs` is the pause between them, if known. */
  feed(everyMs = pauseMs): CallSource {
    const feed: Feed = { everyMs }
    this.#feeds.add(feed)
    return {
      called: () => void (feed.calledAt = this.#now()),
      end: () => void this.#feeds.delete(feed),
    }
  }

  touch(): void {
    this.#changed = this.#now()
    this.#view = undefined
  }

  /** Records characters that were added to the document or, if negative, removed. */
  recordGrowth(chars: number): void {
    this.#chars += chars
    if (this.#chars <= this.#maxChars + 1) return
    this.#maxChars = this.#chars
    this.#grownAt = this.#now()
    this.#countedMsAtGrowth = this.#countedMs
  }

  addTimer(id: unknown, delayMs: number): void {
    if (delayMs > longMs) return
    this.#timers.set(id, delayMs)
    if (delayMs <= shortMs) this.#short++
  }

  endTimer(id: unknown): void {
    const delay = this.#timers.get(id)
    if (delay === undefined) return
    this.#timers.delete(id)
    if (delay > shortMs) return
    this.#short--
    this.touch()
  }

  /**
   * Resolves when the content is stable, or after `limits.settleMs` with `slice` if it is still missing. On a busy
   * machine, these milliseconds may take up to twice as long.
   */
  untilStable(limits: StableLimits, isRepeated: boolean): Promise<Outcome> {
    const now = this.#now()
    if (!isRepeated) {
      this.#start = this.#last = now
      this.#countedMs = this.#countedMsAtGrowth = 0
      if (this.#isIdle && isStatic()) return Promise.resolve('settled')
      this.#wasIncomplete ||= viewOf() !== 'content'
    }
    const sliceEnd = now + 2 * limits.settleMs
    let quiet = 0
    return new Promise((resolve) => {
      const check = (): void => {
        const at = this.#now()
        this.#countedMs += Math.min(at - this.#last, 2 * tickMs)
        // Count turns as well as time, so that pending tasks have run in between.
        quiet = this.#isIdle && this.#changed <= this.#last ? quiet + 1 : 0
        this.#last = at
        const isCalm = quiet >= quietTurns && at - this.#changed >= quietMs
        const isOver = this.#countedMs >= limits.settleMs || at - this.#start >= 2 * limits.settleMs
        if ((isCalm || isOver) && !this.#isAwaiting(limits, at)) return resolve('settled')
        if (at >= sliceEnd) return resolve('slice')
        this.#setTimeout(check, tickMs)
      }
      this.#setTimeout(check, tickMs)
    })
  }

  /** Returns whether missing content may still arrive. */
  #isAwaiting({ settleMs, emptyMs }: StableLimits, now: number): boolean {
    if (this.#view === undefined) {
      this.#view = viewOf()
      this.#isTooLarge = this.#view === 'nothing' && isTooLarge()
    }
    const view = this.#view
    if (view === 'nothing' && now - this.#start < emptyMs) return !this.#isTooLarge
    const isFilling = [...this.#feeds].some((feed) => this.#isFilling(feed, now))
    const mayGrow = view === 'content' ? this.#wasIncomplete && isFilling : isFilling || this.#isExpecting
    if (!mayGrow || now - this.#start >= maxFillFactor * settleMs) return false
    // Every added text extends the time for the next one.
    return this.#countedMs - this.#countedMsAtGrowth < settleMs + timerSlackMs
  }

  /** Returns whether the last call of a source has added text and the next one is due. */
  #isFilling({ calledAt, everyMs }: Feed, now: number): boolean {
    return calledAt !== undefined && this.#grownAt >= calledAt && now - calledAt <= everyMs + timerSlackMs
  }

  get #isExpecting(): boolean {
    if (this.#open + this.#expected + this.#timers.size > 0) return true
    return [...this.#feeds].some(({ calledAt }) => calledAt === undefined)
  }

  /** Whether no activity is left that is always waited for. */
  get #isIdle(): boolean {
    return this.#open === 0 && this.#short === 0
  }
}

function once(end: () => void): () => void {
  let ended = false
  return () => {
    if (ended) return
    ended = true
    end()
  }
}

/** Returns whether nothing can change the document, because it has no scripts. */
function isStatic(): boolean {
  for (const { type } of document.scripts) if (!/json|template|speculationrules/i.test(type)) return false
  return document.querySelector('iframe,object,embed,[onload],[onerror],[onanimationend],[ontransitionend]') === null
}
