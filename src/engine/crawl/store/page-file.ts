/** The pages of a crawl, one per line; the journal has their positions. */
import { BaxError } from '../../../core/errors/errors.ts'
import { stateKinds } from '../../../core/state/state-kinds.ts'
import { decodeRecord, encodeRecord } from '../../../core/state/state-record.ts'
import type { PageTrace } from '../../extract/main-content/site/outline.ts'
import type { ScrapeData } from '../../../core/shapes/scrape.ts'
import type { CrawlLog, OpenLog } from './log.ts'

export interface StoredPage {
  /** URL as it was found. */
  readonly url: string
  readonly depth: number
  readonly page: ScrapeData
  /** Links of the page, which a later crawl follows if the page is unchanged or cannot be read. */
  readonly links?: readonly string[]
  /** Facts that a later version of the page is compared by. */
  readonly trace?: PageTrace
}

export interface RecordLocation {
  readonly at: number
  readonly length: number
}

/**
 * Size and number of the last pages that are kept in memory for readers that follow a crawl. Texts of a page may be parts
 * of its HTML, which is then kept as well.
 */
const recentBytes = 4 * 1024 * 1024
const recentPages = 64

export class PageFile {
  readonly #log: OpenLog | undefined
  #bytes: number
  /** The last pages by their position, oldest first. */
  readonly #recent = new Map<number, StoredPage>()

  private constructor(log: OpenLog | undefined, bytes: number) {
    this.#log = log
    this.#bytes = bytes
  }

  static async create(log: CrawlLog): Promise<PageFile> {
    return new PageFile(await log.create(), 0)
  }

  /** Opens the pages to continue them, truncated to `bytes`; creates them if they are missing. */
  static async reopen(log: CrawlLog, bytes: number): Promise<PageFile> {
    return new PageFile(await log.reopen(bytes), bytes)
  }

  /** Opens the pages for reading. If their log is missing, they count as damaged. */
  static async forReading(log: CrawlLog): Promise<PageFile> {
    return new PageFile(await log.open().catch(() => undefined), 0)
  }

  /** Appends a page, which is certain to be stored once the next commit of the journal is. */
  append(page: StoredPage): RecordLocation {
    const bytes = Buffer.from(`${encodeRecord(page)}\n`)
    const at = this.#bytes
    void this.#log!.append(bytes, at)
    this.#bytes += bytes.length
    this.#recent.set(at, page)
    for (const oldest of this.#recent.keys()) {
      if (this.#bytes - oldest <= recentBytes && this.#recent.size <= recentPages) break
      this.#recent.delete(oldest)
    }
    return { at, length: bytes.length }
  }

  /** Returns a page that was appended just now, without reading and checking its record. */
  recent({ at }: RecordLocation): StoredPage | undefined {
    return this.#recent.get(at)
  }

  /** Reads a page. @throws DamagedPage */
  async read(place: RecordLocation): Promise<StoredPage> {
    const page = await this.tryRead(place)
    if (page instanceof DamagedPage) throw page
    return page
  }

  async tryRead({ at, length }: RecordLocation): Promise<StoredPage | DamagedPage> {
    // A directory at the path of a file can be opened but not read.
    const bytes = await this.#log?.read(at, length).catch(() => undefined)
    const record = decodeRecord<StoredPage>(bytes?.toString('utf8') ?? '', stateKinds.crawlPages)
    return 'content' in record ? record.content : new DamagedPage(record.damage)
  }

  async close(): Promise<void> {
    await this.#log?.close()
  }
}

export class DamagedPage extends BaxError {
  constructor(damage: string) {
    super('worker_lost', `the kept page is damaged (${damage}); resume the crawl to fetch it again`)
  }
}

/** Returns the entry in `data` for a page that can no longer be read. */
export const placeholderOf = (url: string, { message }: DamagedPage): ScrapeData => ({
  metadata: { sourceURL: url, error: message },
})
