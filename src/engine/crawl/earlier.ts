/** The pages of an earlier crawl, which a crawl with `since` compares its own with. */
import type { CrawlInput } from '../../core/shapes/crawl.ts'
import type { ScrapeData } from '../../core/shapes/scrape.ts'
import type { PageTrace } from '../extract/main-content/site/outline.ts'
import { present } from '../scrape/documents/document.ts'
import { crawlableUrl, identityOf, strictEquivalence } from './queue/url-identity.ts'
import { type KeptVersion, type OwnFacts, readJournal } from './store/journal.ts'
import { DamagedPage, PageFile, type RecordLocation } from './store/page-file.ts'
import type { CrawlView } from './views.ts'

/** Response headers that identify the version of a page. */
export type Validators = NonNullable<OwnFacts['validators']>

export interface EarlierPage {
  readonly page: ScrapeData
  /** Time at which the earlier crawl finished the page. */
  readonly at: string
  readonly final: string
  /** Links of the page; undefined if they were not stored. */
  readonly links?: readonly string[]
  readonly trace?: PageTrace
  readonly validators?: Validators
}

interface Entry extends Omit<EarlierPage, 'page' | 'links' | 'trace'> {
  readonly url: string
  readonly place: RecordLocation
}

/** The pages that a crawl has found and read. */
export interface Findings {
  /** Returns a text that is equal for all URLs of one page. */
  readonly identity: (url: URL) => string
  readonly isKnown: (url: string) => boolean
  readonly isRead: (url: string) => boolean
  /** Whether everything that may link to a page, apart from unread pages, was read. */
  readonly hasAllLinks: boolean
}

export class EarlierPages {
  readonly #entries = new Map<string, Entry>()
  readonly #file: Promise<PageFile>
  readonly #damaged = new Set<string>()
  /** Request of the earlier crawl. */
  readonly input: CrawlInput

  private constructor(file: Promise<PageFile>, input: CrawlInput) {
    this.#file = file
    this.input = input
  }

  /** Reads where the pages of a crawl are. */
  static async open({ record, logs }: Pick<CrawlView, 'record' | 'logs'>): Promise<EarlierPages> {
    const pages = new EarlierPages(PageFile.forReading(logs.pages), record.input)
    for await (const { line } of readJournal(logs.journal, 0, record.bytes)) {
      if (line.own?.earlier) pages.#add(line.own.earlier)
      else if (line.type === 'crawl.page') pages.#add({ ...line.own, url: line.data.url, ts: line.ts })
    }
    return pages
  }

  #add({ url, ts, at, length, final, validators }: KeptVersion): void {
    this.#entries.set(keyOf(url), { url, place: { at, length }, final, at: ts, ...(validators && { validators }) })
  }

  /** Returns the page at a URL, undefined if there was none or it can no longer be read. */
  async find(url: string): Promise<EarlierPage | undefined> {
    const entry = this.#entries.get(keyOf(url))
    const kept = entry && (await (await this.#file).tryRead(entry.place))
    if (kept instanceof DamagedPage) this.#damaged.add(entry!.url)
    if (!kept || kept instanceof DamagedPage) return undefined
    const { changeTracking: _, ...page } = kept.page
    const { at, final, validators } = entry
    return { page, at, final, ...present({ links: kept.links, trace: kept.trace, validators }) }
  }

  /** Number of pages that were requested and could not be read: they count as new. */
  get damaged(): number {
    return this.#damaged.size
  }

  /** Returns the URLs of pages that are gone, and the number of those about which nothing is known. */
  async compare(findings: Findings): Promise<{ removed: string[]; uncompared: number }> {
    const { isRead, isKnown } = findings
    const has = (is: (url: string) => boolean) => (entry: Entry) => is(entry.url) || is(entry.final)
    const rest = [...this.#entries.values()].filter((entry) => !has(isRead)(entry))
    const unread = rest.filter(has(isKnown))
    const missing = new Set(rest.filter((entry) => !has(isKnown)(entry)))
    const linked = await this.#linked(unread, missing, findings)
    const removed: string[] = []
    let uncompared = 0
    for (const entry of rest) {
      const earlier = await this.find(entry.url)
      if (isError(earlier?.page)) continue
      if (missing.has(entry) && !linked.has(entry)) removed.push(entry.url)
      else uncompared += 1
    }
    return { removed, uncompared }
  }

  /** Returns those of the missing pages that unread pages may link to, directly or through other missing pages. */
  async #linked(
    unread: readonly Entry[],
    missing: ReadonlySet<Entry>,
    findings: Findings,
  ): Promise<ReadonlySet<Entry>> {
    const { identity, hasAllLinks } = findings
    if (!hasAllLinks || missing.size === 0) return missing
    const byUrl = new Map(
      [...missing].flatMap((entry) => [entry.url, entry.final].map((url) => [identity(new URL(url)), entry])),
    )
    const linked = new Set<Entry>()
    // Pages that are found are added to the queue meanwhile.
    const queue = [...unread]
    for (const entry of queue) {
      const links = (await this.find(entry.url))?.links
      if (!links) return missing
      for (const link of links) {
        const url = crawlableUrl(link)
        const found = url && byUrl.get(identity(url))
        if (!found || linked.has(found)) continue
        linked.add(found)
        queue.push(found)
      }
    }
    return linked
  }

  async close(): Promise<void> {
    await (await this.#file).close()
  }
}

const keyOf = (url: string): string => identityOf(new URL(url), strictEquivalence)

const isError = (page: ScrapeData | undefined): boolean => (page?.metadata.status_code ?? 200) >= 400
