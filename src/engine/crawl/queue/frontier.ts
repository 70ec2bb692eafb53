/** The queue of URLs to visit, first in, first out. The journal holds those that do not fit into memory. */
import { limits } from '../../../core/limits/limits.ts'
import { type PlacedLine, readJournal } from '../store/journal.ts'
import type { CrawlLog } from '../store/log.ts'

export interface QueuedUrl {
  readonly url: string
  readonly depth: number
}

export class Frontier {
  readonly #journal: CrawlLog
  #urls: QueuedUrl[] = []
  #next = 0
  /** Position in the journal of the first URLs that are not in memory. */
  #unread: number | undefined

  constructor(journal: CrawlLog) {
    this.#journal = journal
  }

  /** Queues the URLs of a journal line. */
  push({ line, from }: PlacedLine): void {
    if (line.type !== 'crawl.found') return
    const { urls, depth } = line.data
    if (this.#unread === undefined && this.#urls.length - this.#next < limits.crawl.waiting) {
      for (const url of urls) this.#urls.push({ url, depth })
    } else this.#unread ??= from
  }

  async next(): Promise<QueuedUrl | undefined> {
    if (this.#next >= this.#urls.length) await this.#refill()
    const found = this.#urls[this.#next]
    if (found) this.#next++
    if (this.#next > limits.crawl.waiting) {
      this.#urls = this.#urls.slice(this.#next)
      this.#next = 0
    }
    return found
  }

  /** Skips URLs that were visited before. */
  async drop(count: number): Promise<void> {
    for (let at = 0; at < count; at++) await this.next()
  }

  async #refill(): Promise<void> {
    this.#urls = []
    this.#next = 0
    if (this.#unread === undefined) return
    const from = this.#unread
    this.#unread = undefined
    for await (const { line, to } of readJournal(this.#journal, from)) {
      if (line.type === 'crawl.found')
        for (const url of line.data.urls) this.#urls.push({ url, depth: line.data.depth })
      if (this.#urls.length < limits.crawl.waiting) continue
      this.#unread = to
      return
    }
  }
}
