/** From the links of a page to the addresses that now wait, and those that are passed over. */
import { limits } from '../../../core/limits/limits.ts'
import type { CrawlSkipped } from '../../../core/shapes/crawl.ts'
import { crawlable } from './address.ts'
import type { JournalEntry } from '../store/journal.ts'
import type { Scope } from './scope.ts'
import { SeenSet } from './seen.ts'

/** Addresses of one line of the journal. */
const chunk = 500

/** Links that are told by their text alone. */
const remembered = 2000

export class Discovery {
  readonly #scope: Scope
  readonly #maxDepth: number
  readonly #known = new SeenSet()
  /** Links as they were taken of late: most of a page's are those of the page before. */
  readonly #recent = new Set<string>()
  #full = false

  constructor(scope: Scope, maxDepth: number) {
    this.#scope = scope
    this.#maxDepth = maxDepth
  }

  /** Takes note of an address; whether it was new. */
  know(url: URL): boolean {
    return this.#known.add(this.#scope.identity(url))
  }

  /** Whether an address has been found before, or belongs to no page that would be visited. */
  isKnown(url: URL): boolean {
    return this.#known.has(this.#scope.identity(url)) || this.#scope.refuses(url) !== undefined
  }

  /** Lines of what is new among the links, in their order. */
  take(links: Iterable<string>, depth: number): JournalEntry[] {
    const urls: string[] = []
    const skipped: CrawlSkipped[] = []
    let overflow = false
    for (const link of links) {
      if (this.#recent.has(link)) continue
      if (this.#recent.size >= remembered) this.#recent.clear()
      this.#recent.add(link)
      const url = crawlable(link)
      if (!url) continue
      if (this.#known.size >= limits.crawl.addresses) {
        overflow = true
        break
      }
      if (!this.know(url)) continue
      const reason = this.#scope.refuses(url) ?? (depth > this.#maxDepth ? 'max_depth' : undefined)
      if (reason) skipped.push({ url: url.href.slice(0, limits.crawl.addressChars), reason })
      else urls.push(url.href)
    }
    return [...foundLines(urls, depth), ...skippedLines(skipped), ...(overflow ? this.#warnOnce() : [])]
  }

  #warnOnce(): JournalEntry[] {
    if (this.#full) return []
    this.#full = true
    const message = `the site has more than ${limits.crawl.addresses} addresses: further ones were not followed`
    return [{ type: 'crawl.warning', data: { message } }]
  }
}

const foundLines = (urls: readonly string[], depth: number): JournalEntry[] =>
  chunks(urls).map((part) => ({ type: 'crawl.found', data: { urls: part, depth } }))

const skippedLines = (skipped: readonly CrawlSkipped[]): JournalEntry[] =>
  chunks(skipped).map((part) => ({ type: 'crawl.skipped', data: { skipped: part } }))

const chunks = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / chunk) }, (_, at) => items.slice(at * chunk, (at + 1) * chunk))
