/** Records what a page has running, and decides when its content has settled. */
import { mostChars } from './read.page.ts'
import { type View, viewOf } from './view.page.ts'

export interface SettleLimits {
  /** How long the content may go on changing. */
  readonly settleMs: number
  /** How long a page without any content is waited for. */
  readonly emptyMs: number
}

/** `slice`: the page is still waited for; the call is repeated. */
type Outcome = 'settled' | 'slice'

const quietMs = 60
const tickMs = 20
const quietTurns = 3
/** Timers up to this hold up every page; longer ones are rotation and polling once its content is shown. */
const shortMs = 600
/** Timers and pauses of intervals up to this are waited for while the content is missing. */
export const longMs = 2000
/** How late a timer may fire. */
const slackMs = 250
/** Longest pause between two messages that fill a page. */
const pauseMs = 1000
/** Longest time for which a page that is being filled step by step is waited for, as a multiple of `settleMs`. */
const mostFilling = 3

/** A source that calls the page again and again: an interval, a stream, a worker. */
export class Feed {
  readonly #activity: Activity
  /** The longest pause between two calls. */
  readonly #everyMs: number
  #calledAt: number | undefined

  constructor(activity: Activity, everyMs = pauseMs) {
    this.#activity = activity
    this.#everyMs = everyMs
  }

  called(): void {
    this.#calledAt = performance.now()
  }

  end(): void {
    this.#activity.feeds.delete(this)
  }

  get isUnheard(): boolean {
    return this.#calledAt === undefined
  }

  /** Whether its last call has added text, and the next one is due. */
  isFilling(now: number, grownAt: number): boolean {
    const { isUnheard } = this
    return !isUnheard && grownAt >= this.#calledAt! && now - this.#calledAt! <= this.#everyMs + slackMs
  }
}

export class Activity {
  readonly feeds = new Set<Feed>()
  readonly #now = performance.now.bind(performance)
  readonly #setTimeout = globalThis.setTimeout.bind(globalThis)
  /** Timers that have not fired, with their delays. */
  readonly #timers = new Map<unknown, number>()
  #short = 0
  #open = 0
  #awaited = 0
  #changed = this.#now()
  #view: View | undefined
  /** The document is too large to be read. */
  #isHopeless = false
  /** Characters that scripts have added, and the most there have been. */
  #chars = 0
  #mostChars = 0
  #grownAt = 0
  /** The content was not there when the page had loaded. */
  #wasBare = false
  #start = 0
  #last = 0
  #spent = 0
  #spentAtGrowth = 0

  /** Begins something that holds up every page, such as a request. */
  begin(): () => void {
    this.#open++
    return once(() => {
      this.#open--
      this.touch()
    })
  }

  /** Begins something that holds up pages without content only. */
  expect(): () => void {
    this.#awaited++
    return once(() => this.#awaited--)
  }

  /** Adds a source of calls; `everyMs` is the pause between them, where it is known. */
  feed(everyMs?: number): Feed {
    const feed = new Feed(this, everyMs)
    this.feeds.add(feed)
    return feed
  }

  touch(): void {
    this.#changed = this.#now()
    this.#view = undefined
  }

  /** Takes note of characters that were added to the document or, when negative, removed. */
  grow(chars: number): void {
    this.#chars += chars
    if (this.#chars <= this.#mostChars + 1) return
    this.#mostChars = this.#chars
    this.#grownAt = this.#now()
    this.#spentAtGrowth = this.#spent
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
   * Resolves when the content has settled, or after `limits.settleMs` with `slice` when it is still missing. On a machine
   * that has no time for the page those milliseconds count less, down to half.
   */
  settled(limits: SettleLimits, isRepeated: boolean): Promise<Outcome> {
    const now = this.#now()
    if (!isRepeated) {
      this.#start = this.#last = now
      this.#spent = this.#spentAtGrowth = 0
      if (this.#isIdle && isStill()) return Promise.resolve('settled')
      this.#wasBare ||= viewOf() !== 'content'
    }
    const sliceEnd = now + 2 * limits.settleMs
    let quiet = 0
    return new Promise((resolve) => {
      const check = (): void => {
        const at = this.#now()
        this.#spent += Math.min(at - this.#last, 2 * tickMs)
        // Turns are counted beside the time: what is ready to run has run in between.
        quiet = this.#isIdle && this.#changed <= this.#last ? quiet + 1 : 0
        this.#last = at
        const isCalm = quiet >= quietTurns && at - this.#changed >= quietMs
        const isOver = this.#spent >= limits.settleMs || at - this.#start >= 2 * limits.settleMs
        if ((isCalm || isOver) && !this.#isAwaiting(limits, at)) return resolve('settled')
        if (at >= sliceEnd) return resolve('slice')
        this.#setTimeout(check, tickMs)
      }
      this.#setTimeout(check, tickMs)
    })
  }

  /** Whether content is missing that may still come. */
  #isAwaiting({ settleMs, emptyMs }: SettleLimits, now: number): boolean {
    if (this.#view === undefined) {
      this.#view = viewOf()
      this.#isHopeless = this.#view === 'nothing' && isTooLarge()
    }
    const view = this.#view
    if (view === 'nothing' && now - this.#start < emptyMs) return !this.#isHopeless
    const isFilling = [...this.feeds].some((feed) => feed.isFilling(now, this.#grownAt))
    const mayGrow = view === 'content' ? this.#wasBare && isFilling : isFilling || this.#isExpecting
    if (!mayGrow || now - this.#start >= mostFilling * settleMs) return false
    // Every text that comes buys time for the next.
    return this.#spent - this.#spentAtGrowth < settleMs + slackMs
  }

  get #isExpecting(): boolean {
    return this.#open + this.#awaited + this.#timers.size > 0 || [...this.feeds].some(({ isUnheard }) => isUnheard)
  }

  /** Whether nothing is running that holds up every page. */
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

/** Whether the document cannot be read any more, whatever it shows. */
const isTooLarge = (): boolean => (document.documentElement?.textContent?.length ?? 0) > mostChars

/** Whether nothing can change the document any more: it has no scripts at all. */
function isStill(): boolean {
  for (const { type } of document.scripts) if (!/json|template|speculationrules/i.test(type)) return false
  return document.querySelector('iframe,object,embed,[onload],[onerror],[onanimationend],[ontransitionend]') === null
}
