/** The pages of an earlier crawl, which a crawl with `since` compares its own with. */
import { isDeepStrictEqual } from 'node:util'
import { BaxError } from '../../core/errors/errors.ts'
import type { CrawlInput } from '../../core/shapes/crawl.ts'
import type { ScrapeData } from '../../core/shapes/scrape.ts'
import type { PageTrace } from '../extract/main-content/site/outline.ts'
import { present } from '../scrape/documents/document.ts'
import { planCrawl } from './plan.ts'
import { identityOf, strictEquivalence } from './queue/url-identity.ts'
import { type OwnFacts, readJournal } from './store/journal.ts'
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

/** Options that shape the content of pages. */
const contentOptions = [
  'formats', 'only_main_content', 'site_memory', 'json_options', 'remove_base64_images', 'render', 'block_ads', 'remove_overlays', 'wait_for',
] as const satisfies readonly (keyof CrawlInput)[] // prettier-ignore

/** Checks that a crawl can be compared with an earlier one. @throws BaxError `invalid_request` or `conflict` */
export function assertComparable(
  input: CrawlInput,
  { record, isRunning }: Pick<CrawlView, 'record' | 'isRunning'>,
): void {
  if (planCrawl(input).page(input.url).tracking)
    throw new BaxError('invalid_request', 'since cannot be combined with the format changeTracking', {
      hint: 'leave out one of them: since reports the changes of every page',
    })
  if (isRunning && !record.finished) throw new BaxError('conflict', 'the crawl in since is running')
  const other = contentOptions.find((name) => !isDeepStrictEqual(input[name], record.input[name]))
  if (!other && !record.input.dry_run && !input.dry_run) return
  const message = other ? `the crawl ${record.id} had another value of ${other}` : 'a dry run has no pages to compare'
  throw new BaxError('invalid_request', `since: ${message}`, {
    hint: 'use the same formats and options for both crawls',
    details: [{ path: 'since', message }],
  })
}

export class EarlierPages {
  readonly #entries = new Map<string, Entry>()
  readonly #file: Promise<PageFile>
  readonly #damaged = new Set<string>()

  private constructor(file: Promise<PageFile>) {
    this.#file = file
  }

  /** Reads where the pages of a crawl are. */
  static async open({ logs, bytes }: Pick<CrawlView, 'logs' | 'bytes'>): Promise<EarlierPages> {
    const pages = new EarlierPages(PageFile.forReading(logs.pages))
    for await (const { line } of readJournal(logs.journal, 0, bytes)) {
      if (line.type !== 'crawl.page') continue
      const { at, length, final, validators } = line.own
      const entry = { url: line.data.url, place: { at, length }, final, at: line.ts, ...(validators && { validators }) }
      pages.#entries.set(keyOf(line.data.url), entry)
    }
    return pages
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

  /** Returns the URLs of pages that are not in `isVisited`, and were no errors. */
  async missing(isVisited: (url: string) => boolean): Promise<string[]> {
    const urls = [...this.#entries.values()].filter(({ url, final }) => !isVisited(url) && !isVisited(final))
    const missing: string[] = []
    for (const { url } of urls) {
      const earlier = await this.find(url)
      if ((earlier?.page.metadata.status_code ?? 200) < 400) missing.push(url)
    }
    return missing
  }

  async close(): Promise<void> {
    await (await this.#file).close()
  }
}

const keyOf = (url: string): string => identityOf(new URL(url), strictEquivalence)
