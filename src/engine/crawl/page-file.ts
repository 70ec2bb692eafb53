/** The pages of a crawl on disk, one a line; where each stands is in the journal. */
import { type FileHandle, open } from 'node:fs/promises'
import { appendTo } from './journal.ts'
import type { ScrapeData } from '../../core/shapes/scrape.ts'

export interface KeptPage {
  /** The address as it was found. */
  readonly url: string
  readonly depth: number
  readonly page: ScrapeData
}

export interface Place {
  readonly at: number
  readonly length: number
}

export class PageFile {
  readonly #file: FileHandle
  #bytes: number

  private constructor(file: FileHandle, bytes: number) {
    this.#file = file
    this.#bytes = bytes
  }

  static async create(path: string): Promise<PageFile> {
    return new PageFile(await open(path, 'wx+', 0o600), 0)
  }

  /** Opens it for going on; what stands behind `bytes` is cut off. */
  static async reopen(path: string, bytes: number): Promise<PageFile> {
    const file = await open(path, 'r+')
    await file.truncate(bytes)
    return new PageFile(file, bytes)
  }

  static async forReading(path: string): Promise<PageFile> {
    return new PageFile(await open(path, 'r'), 0)
  }

  append(page: KeptPage): Place {
    const bytes = Buffer.from(`${JSON.stringify(page)}\n`)
    const at = this.#bytes
    appendTo(this.#file, bytes, at)
    this.#bytes += bytes.length
    return { at, length: bytes.length }
  }

  async read({ at, length }: Place): Promise<KeptPage> {
    const bytes = Buffer.allocUnsafe(length)
    await this.#file.read(bytes, 0, length, at)
    return JSON.parse(bytes.toString('utf8')) as KeptPage
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
