/** Where a crawl stands, folded from the lines of its journal. */
import type { CrawlEventData, CrawlInput, CrawlStatus } from '../../../core/shapes/crawl.ts'
import type { JournalLine } from './journal.ts'
import type { Place } from './page-file.ts'

/** Warnings that an answer repeats. */
const mostWarnings = 20

export interface Counts {
  readonly total: number
  readonly completed: number
  readonly discovered: number
  readonly errors: number
  readonly skipped: number
  readonly robots_blocked: number
}

export class CrawlRecord {
  readonly id: string
  readonly input: CrawlInput
  /** The key that asked for it; null where no keys are in use. */
  readonly owner: string | null
  readonly createdAt: string
  readonly warnings: string[] = []
  #at: number[] = []
  #length: number[] = []
  #depth: number[] = []
  /** Depths do not only grow: a page that was scraped again led to pages that were not known. */
  #unordered = false
  #errors = 0
  #skipped = 0
  #blocked = 0
  #found = 0
  #taken = 0
  #started = false
  #damaged = false
  #startFailure: { error: string; code: string } | undefined
  #finished: CrawlEventData['crawl.finished'] | undefined
  #activeMs = 0
  #since: number | undefined
  #last: string

  constructor({ id, input, owner }: Pick<CrawlRecord, 'id' | 'input' | 'owner'>, createdAt: string) {
    this.id = id
    this.input = input
    this.owner = owner
    this.createdAt = createdAt
    this.#last = createdAt
  }

  get completed(): number {
    return this.#at.length
  }

  /** Pages that count towards the limit. */
  get admitted(): number {
    return this.#at.length + this.#errors
  }

  /** Addresses of the queue that are not settled. */
  get queued(): number {
    return this.#found - this.#taken
  }

  get taken(): number {
    return this.#taken
  }

  /** The start page was fetched. */
  get success(): boolean {
    return this.#started
  }

  get finished(): CrawlEventData['crawl.finished'] | undefined {
    return this.#finished
  }

  get startFailure(): { error: string; code: string } | undefined {
    return this.#startFailure
  }

  /** The journal has lines that cannot be read; what they said is not in the record. */
  get isDamaged(): boolean {
    return this.#damaged
  }

  markDamaged(): void {
    this.#damaged = true
  }

  /** When the last line was written. */
  get lastAt(): string {
    return this.#last
  }

  /** Time in which it was at work, up to `now` when it is. */
  activeMs(now?: number): number {
    const running = now !== undefined && this.#since !== undefined ? now - this.#since : 0
    return Math.round(this.#finished ? this.#finished.duration_ms : this.#activeMs + running)
  }

  counts(): Counts {
    const { admitted, queued, completed } = this
    // What was never visited has been passed over for the reason for which the crawl ended.
    const waiting = this.#finished ? 0 : queued
    const passedOver = this.#finished ? queued : 0
    return {
      total: Math.max(admitted, Math.min(this.input.limit, admitted + waiting)),
      completed,
      discovered: admitted + this.#skipped + this.#blocked + queued,
      errors: this.#errors,
      skipped: this.#skipped + passedOver,
      robots_blocked: this.#blocked,
    }
  }

  status(isRunning: boolean): CrawlStatus {
    if (this.#finished) return this.#finished.status
    return isRunning ? 'scraping' : 'failed'
  }

  /** Where the page stands that is the n-th of `data`. */
  place(index: number): Place {
    return { at: this.#at[index]!, length: this.#length[index]! }
  }

  /** Indexes of the pages in the order of `data`: by depth, then as they were discovered. */
  order(): readonly number[] {
    const indexes = Array.from({ length: this.#at.length }, (_, index) => index)
    return this.#unordered ? indexes.sort((a, b) => this.#depth[a]! - this.#depth[b]! || a - b) : indexes
  }

  /** End of the file of pages. */
  get pageBytes(): number {
    return this.#at.reduce((end, at, index) => Math.max(end, at + this.#length[index]!), 0)
  }

  apply(line: JournalLine): void {
    const { own } = line
    const before = this.#last
    this.#last = line.ts
    const first = this.#taken === 0
    this.#taken += own?.taken ?? 0
    switch (line.type) {
      case 'crawl.started':
        this.#since = Date.parse(line.ts)
        return
      case 'crawl.resumed':
        // A process that was killed has written no end.
        if (this.#since !== undefined) this.#activeMs += Date.parse(before) - this.#since
        this.#finished = undefined
        this.#since = Date.parse(line.ts)
        return
      case 'crawl.found':
        this.#found += line.data.urls.length
        return
      case 'crawl.page':
        this.#started = true
        this.#page(line.data, { at: own!.at!, length: own!.length! })
        return
      case 'crawl.error':
        this.#errors++
        if (first) this.#startFailure = { error: line.data.error, code: line.data.code }
        return
      case 'crawl.skipped':
        this.#skipped += line.data.skipped.length
        if (own?.visited !== undefined) this.#started = true
        return
      case 'crawl.robots_blocked':
        this.#blocked += line.data.urls.length
        if (first) this.#startFailure = { error: 'robots.txt does not allow the start page', code: 'robots_blocked' }
        return
      case 'crawl.warning':
        if (this.warnings.length < mostWarnings && !this.warnings.includes(line.data.message))
          this.warnings.push(line.data.message)
        return
      case 'crawl.finished':
        this.#finished = line.data
        this.#activeMs = line.data.duration_ms
        this.#since = undefined
        return
      case 'crawl.progress':
    }
  }

  #page({ index, depth }: { index: number; depth: number }, { at, length }: Place): void {
    if (index === this.#at.length && index > 0 && depth < this.#depth[index - 1]!) this.#unordered = true
    this.#at[index] = at
    this.#length[index] = length
    this.#depth[index] = depth
  }
}
