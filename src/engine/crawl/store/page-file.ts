/** The pages of a crawl on disk, one per line; the journal has their positions. */
import { type FileHandle, open as openTo } from 'node:fs/promises'
import { BaxError } from '../../../core/errors/errors.ts'
import { moveAside } from '../../../core/state/state-file.ts'
import { stateKinds } from '../../../core/state/state-kinds.ts'
import { decodeRecord, encodeRecord } from '../../../core/state/state-record.ts'
import { appendTo } from './journal.ts'
import type { ScrapeData } from '../../../core/shapes/scrape.ts'

export interface StoredPage {
  /** URL as it was found. */
  readonly url: string
  readonly depth: number
  readonly page: ScrapeData
}

export interface RecordLocation {
  readonly at: number
  readonly length: number
}

export class PageFile {
  readonly #file: FileHandle | undefined
  #bytes: number

  private constructor(file: FileHandle | undefined, bytes: number) {
    this.#file = file
    this.#bytes = bytes
  }

  static async create(path: string): Promise<PageFile> {
    return new PageFile(await openTo(path, 'wx+', 0o600), 0)
  }

  /** Opens a file to continue it, truncated to `bytes`; creates it if it is missing. */
  static async reopen(path: string, bytes: number): Promise<PageFile> {
    const open = await openTo(path, 'r+').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EISDIR') moveAside(path)
      else if (error.code !== 'ENOENT') throw error
      return openTo(path, 'wx+', 0o600)
    })
    await open.truncate(bytes)
    return new PageFile(open, bytes)
  }

  /** Opens a file for reading. If it is missing, its pages count as damaged. */
  static async forReading(path: string): Promise<PageFile> {
    return new PageFile(await openTo(path, 'r').catch(() => undefined), 0)
  }

  append(page: StoredPage): RecordLocation {
    const bytes = Buffer.from(`${encodeRecord(page)}\n`)
    const at = this.#bytes
    appendTo(this.#file!, bytes, at)
    this.#bytes += bytes.length
    return { at, length: bytes.length }
  }

  /** Reads a page. @throws DamagedPage */
  async read(place: RecordLocation): Promise<StoredPage> {
    const page = await this.tryRead(place)
    if (page instanceof DamagedPage) throw page
    return page
  }

  async tryRead({ at, length }: RecordLocation): Promise<StoredPage | DamagedPage> {
    const bytes = Buffer.alloc(length)
    // A directory at this path can be opened but not read.
    await this.#file?.read(bytes, 0, length, at).catch(() => {})
    const record = decodeRecord<StoredPage>(bytes.toString('utf8'), stateKinds.crawlPages)
    return 'content' in record ? record.content : new DamagedPage(record.damage)
  }

  async close(): Promise<void> {
    await this.#file?.close()
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
