/** Addresses that wait to be visited, first come, first served; the journal holds those that memory does not. */
import { limits } from '../../../core/limits/limits.ts'
import { type PlacedLine, readJournal } from '../store/journal.ts'

export interface Waiting {
  readonly url: string
  readonly depth: number
}

export class Frontier {
  readonly #journal: string
  #head: Waiting[] = []
  #next = 0
  /** Place in the journal from which on addresses have not been taken into memory. */
  #unread: number | undefined

  constructor(journal: string) {
    this.#journal = journal
  }

  /** Takes up the addresses of a line of the journal. */
  push({ line, from }: PlacedLine): void {
    if (line.type !== 'crawl.found') return
    const { urls, depth } = line.data
    if (this.#unread === undefined && this.#head.length - this.#next < limits.crawl.waiting) {
      for (const url of urls) this.#head.push({ url, depth })
    } else this.#unread ??= from
  }

  async next(): Promise<Waiting | undefined> {
    if (this.#next >= this.#head.length) await this.#refill()
    const found = this.#head[this.#next]
    if (found) this.#next++
    if (this.#next > limits.crawl.waiting) {
      this.#head = this.#head.slice(this.#next)
      this.#next = 0
    }
    return found
  }

  /** Passes over addresses that were visited before. */
  async drop(count: number): Promise<void> {
    for (let at = 0; at < count; at++) await this.next()
  }

  async #refill(): Promise<void> {
    this.#head = []
    this.#next = 0
    if (this.#unread === undefined) return
    const from = this.#unread
    this.#unread = undefined
    for await (const { line, to } of readJournal(this.#journal, from)) {
      if (line.type === 'crawl.found')
        for (const url of line.data.urls) this.#head.push({ url, depth: line.data.depth })
      if (this.#head.length < limits.crawl.waiting) continue
      this.#unread = to
      return
    }
  }
}
