/** Queues new links of a page, and skips those outside the scope. */
import { limits } from '../../../core/limits/limits.ts'
import type { CrawlSkipped } from '../../../core/shapes/crawl.ts'
import { crawlableUrl, SeenSet } from './url-identity.ts'
import { type JournalEntry, warning } from '../store/journal.ts'
import type { Scope } from './scope.ts'

const urlsPerLine = 500

const maxRecent = 2000

export class Discovery {
  readonly #scope: Scope
  readonly #maxDepth: number
  readonly #known = new SeenSet()
  /** Recent links, as written: most links of a page are also on the previous one. */
  readonly #recent = new Set<string>()
  #hasWarned = false

  constructor(scope: Scope, maxDepth: number) {
    this.#scope = scope
    this.#maxDepth = maxDepth
  }

  /** Adds a URL; returns whether it is new. */
  markKnown(url: URL): boolean {
    return this.#known.add(this.#scope.identity(url))
  }

  hasFound(url: URL): boolean {
    return this.#known.has(this.#scope.identity(url))
  }

  /** Returns whether a URL was found before, or is outside the scope. */
  isKnown(url: URL): boolean {
    return this.hasFound(url) || this.#scope.skipReason(url) !== undefined
  }

  /** Returns the journal lines of new links, in their order. */
  take(links: Iterable<string>, depth: number): JournalEntry[] {
    const urls: string[] = []
    const skipped: CrawlSkipped[] = []
    let isFull = false
    for (const link of links) {
      if (this.#recent.has(link)) continue
      if (this.#recent.size >= maxRecent) this.#recent.clear()
      this.#recent.add(link)
      const url = crawlableUrl(link)
      if (!url) continue
      if (this.#known.size >= limits.crawl.addresses) {
        isFull = true
        break
      }
      if (!this.markKnown(url)) continue
      const reason = this.#scope.skipReason(url) ?? (depth > this.#maxDepth ? 'max_depth' : undefined)
      if (reason) skipped.push({ url: url.href.slice(0, limits.crawl.addressChars), reason })
      else urls.push(url.href)
    }
    const lines: JournalEntry[] = [
      ...chunks(urls).map((part) => ({ type: 'crawl.found' as const, data: { urls: part, depth } })),
      ...chunks(skipped).map((part) => ({ type: 'crawl.skipped' as const, data: { skipped: part } })),
    ]
    if (isFull && !this.#hasWarned)
      lines.push(warning(`the site has more than ${limits.crawl.addresses} URLs; further ones were not followed`))
    this.#hasWarned ||= isFull
    return lines
  }
}

/** Splits URLs into the lists of one line each. */
export const chunks = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / urlsPerLine) }, (_, at) =>
    items.slice(at * urlsPerLine, (at + 1) * urlsPerLine),
  )
