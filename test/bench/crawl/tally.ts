/** Results of a crawler: the pages it read, and which of them completely. */
import { clientRendered, kindOfPage, markerOf, pageAt, type SitePlan } from './site.ts'

export interface CrawlReport {
  readonly seconds: number
  readonly pages: number
  /** Numbers of the pages that are missing, or lack the text that only the complete page has. */
  readonly incomplete: readonly number[]
  /** Those of them that are filled by scripts. */
  readonly missedRendered: number
  /** Number of pages of that kind. */
  readonly rendered: number
  /** `Date.now()` at the start. */
  readonly startedMs: number
  /** Milliseconds from the start to each page. */
  readonly arrivals: readonly number[]
}

export class Tally {
  readonly #plan: SitePlan
  readonly #complete = new Set<number>()
  readonly #arrivals: number[] = []
  #start = performance.now()
  #started = Date.now()
  #end: number | undefined

  constructor(plan: SitePlan) {
    this.#plan = plan
  }

  begin(): void {
    this.#started = Date.now()
    this.#start = performance.now()
  }

  /** Only the first call counts. */
  end(): void {
    this.#end ??= performance.now()
  }

  /** Counts a page by its URL and any text that the crawler has of it. */
  page(url: string, text: string, { again }: { again: boolean } = { again: false }): void {
    if (!again) this.#arrivals.push(performance.now() - this.#start)
    const at = pageAt(new URL(url).pathname)
    if (at !== undefined && text.includes(markerOf(at))) this.#complete.add(at)
  }

  report(): CrawlReport {
    const seconds = ((this.#end ?? performance.now()) - this.#start) / 1000
    const all = Array.from({ length: this.#plan.pages }, (_, at) => at)
    const rendered = new Set(all.filter((at) => clientRendered.has(kindOfPage(at, this.#plan))))
    const incomplete = all.filter((at) => !this.#complete.has(at))
    return {
      seconds,
      pages: this.#arrivals.length,
      incomplete,
      missedRendered: incomplete.filter((at) => rendered.has(at)).length,
      rendered: rendered.size,
      startedMs: this.#started,
      arrivals: this.#arrivals,
    }
  }
}
