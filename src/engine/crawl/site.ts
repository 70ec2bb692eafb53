/**
 * Site memory of a crawl. Every page depends on the pages of completed windows only, whose ends are fixed
 * numbers of finished URLs, so that pages are visited concurrently and the result is the same whatever the concurrency.
 */
import { limits } from '../../core/limits/limits.ts'
import { SiteMemory, type SiteSummary } from '../extract/main-content/site/site-memory.ts'
import type { CrawlPlan } from './plan.ts'
import type { JournalLine } from './store/journal.ts'

const { siteWindows: ends } = limits.crawl
const longest = ends.at(-1)!

/** The summary of a completed window. */
export interface SiteWindow {
  /** Number of URLs that were finished by then. */
  readonly end: number
  readonly summary: SiteSummary
}

/** Used before the first window is completed. */
const unknown: SiteWindow = { end: 0, summary: '' }

export class CrawlSite {
  readonly #isOn: boolean
  readonly #memory = new SiteMemory()
  /** Number of finished URLs. */
  #taken = 0
  /** The last two windows, of which URLs under way use one. */
  #windows: readonly SiteWindow[] = [unknown]
  readonly #assigned = new Map<string, SiteWindow>()

  constructor({ input, list, page }: CrawlPlan) {
    const { site_memory: isOn, dry_run: dry, only_main_content: main } = input
    // Versions of pages are compared with those of single scrapes.
    this.#isOn = isOn === true && main && !dry && !list && !page(input.url).tracking
  }

  /** Learns from a line of the journal. */
  apply({ type, data, own }: JournalLine): void {
    if (!this.#isOn) return
    if (type === 'crawl.page' && own.outline !== undefined && !data.replaces) this.#memory.learn(own.outline)
    if (!own?.taken) return
    this.#taken += own.taken
    if (endBefore(this.#taken + 1) !== this.#taken) return
    this.#windows = [this.#windows.at(-1)!, { end: this.#taken, summary: this.#memory.summary() }]
  }

  /** Returns whether the windows are completed that the URL at this position in the queue depends on. */
  isReady(position: number): boolean {
    return !this.#isOn || windowOf(position) <= this.#taken
  }

  /** Sets the position of a URL in the queue; by default that after the finished URLs. */
  assign(url: string, position = this.#taken): void {
    if (this.#isOn) this.#assigned.set(url, this.#windowAt(position))
  }

  /** Keeps what a damaged page depended on, before its line is applied. */
  keep({ type, data, own }: JournalLine, damaged: ReadonlySet<number>): void {
    // A restored page depends on the same pages as before.
    if (type === 'crawl.page' && damaged.has(data.index) && !own.restored) this.assign(data.url)
  }

  /** Forgets a finished URL. */
  discard(url: string): void {
    this.#assigned.delete(url)
  }

  /** Returns what the content of a URL depends on; undefined if the memory is off. */
  windowFor(url: string): SiteWindow | undefined {
    if (!this.#isOn) return undefined
    // Pages that are visited again are visited between two others.
    return this.#assigned.get(url) ?? this.#windowAt(this.#taken)
  }

  #windowAt(position: number): SiteWindow {
    return this.#windows.find(({ end }) => end === windowOf(position)) ?? unknown
  }
}

/** Returns the end of the window before that of a URL, so that no URL waits for the one before it. */
const windowOf = (position: number): number => endBefore(endBefore(position + 1))

/** Returns the last end of a window below a number; 0 for none. */
function endBefore(count: number): number {
  if (count > longest) return Math.floor((count - 1) / longest) * longest
  return ends.findLast((end) => end < count) ?? 0
}
