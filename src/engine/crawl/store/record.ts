/** The state of a crawl, computed from the lines of its journal. */
import { signalRefusal } from '../queue/robots-terms.ts'
import type { CrawlEventData, CrawlInput, CrawlStatus } from '../../../core/shapes/crawl.ts'
import type { PlacedLine } from './journal.ts'
import type { RecordLocation } from './page-file.ts'

const maxWarnings = 20

/** Finished URLs that are remembered; more than a crawl visits at the same time. */
const maxRecent = 500

/** Only `apply` changes the public fields, except for `isDamaged`. */
export class CrawlRecord {
  readonly id: string
  readonly input: CrawlInput
  /** ID of the caller's key; null without keys. */
  readonly owner: string | null
  readonly createdAt: string
  readonly warnings: string[] = []
  /** Size of the journal up to the last line that was applied, and the number of that line. */
  bytes = 0
  seq = 0
  /** Number of finished URLs of the queue. */
  taken = 0
  /** Whether the start page was loaded; always true for the URLs of a list. */
  success: boolean
  finished: CrawlEventData['crawl.finished'] | undefined
  startFailure: { error: string; code: string } | undefined
  /** Whether the journal has unreadable lines, which are missing in this record. */
  isDamaged = false
  /** Time of the last line. */
  lastAt: string
  #at: number[] = []
  #length: number[] = []
  #depth: number[] = []
  #pageBytes = 0
  /** Depths do not only increase, because a repeated page led to unknown pages. */
  #unordered = false
  #errors = 0
  #skipped = 0
  #blocked = 0
  #found = 0
  /** URLs that were finished last, with the numbers of their lines. */
  #recent: { readonly seq: number; readonly url: string }[] = []
  #activeMs = 0
  #since: number | undefined

  constructor({ id, input, owner }: Pick<CrawlRecord, 'id' | 'input' | 'owner'>, createdAt: string) {
    this.id = id
    this.input = input
    this.success = input.list !== undefined
    this.owner = owner
    this.createdAt = createdAt
    this.lastAt = createdAt
  }

  get completed(): number {
    return this.#at.length
  }

  /** Pages that count towards the limit. */
  get admitted(): number {
    return this.#at.length + this.#errors
  }

  /** Returns those of the URLs that were not finished after the line `seq`. */
  unfinishedOf(urls: readonly string[], seq: number): string[] {
    const finished = new Set(this.#recent.flatMap((one) => (one.seq > seq ? [one.url] : [])))
    return urls.filter((url) => !finished.has(url))
  }

  /** Queued URLs that are not finished. */
  get queued(): number {
    return this.#found - this.taken
  }

  /** Returns the running time in milliseconds, up to `now` if the crawl runs. */
  activeMs(now?: number): number {
    const running = now !== undefined && this.#since !== undefined ? now - this.#since : 0
    return Math.round(this.finished ? this.finished.duration_ms : this.#activeMs + running)
  }

  counts() {
    const { admitted, queued, completed } = this
    // Once the crawl has finished, unvisited URLs count as skipped.
    const waiting = this.finished ? 0 : queued
    const unvisited = this.finished ? queued : 0
    return {
      total: Math.max(admitted, Math.min(this.input.limit, admitted + waiting)),
      completed,
      discovered: admitted + this.#skipped + this.#blocked + queued,
      errors: this.#errors,
      skipped: this.#skipped + unvisited,
      robots_blocked: this.#blocked,
    }
  }

  status(isRunning: boolean): CrawlStatus {
    if (this.finished) return this.finished.status
    return isRunning ? 'scraping' : 'failed'
  }

  /** Returns the position of a page in the page file, by its index in `data`. */
  locationOf(index: number): RecordLocation {
    return { at: this.#at[index]!, length: this.#length[index]! }
  }

  /** Returns the indexes of the pages in response order: by depth, then by discovery. */
  order(): readonly number[] {
    const indexes = Array.from({ length: this.#at.length }, (_, index) => index)
    return this.#unordered ? indexes.sort((a, b) => this.#depth[a]! - this.#depth[b]! || a - b) : indexes
  }

  /** Size of the page file up to the last page. */
  get pageBytes(): number {
    return this.#pageBytes
  }

  apply({ line, to }: PlacedLine): void {
    const { own } = line
    this.bytes = to
    this.seq = line.seq
    const before = this.lastAt
    this.lastAt = line.ts
    const first = this.taken === 0 && !this.input.list
    this.taken += own?.taken ?? 0
    if (own?.taken) this.#remember(line)
    if (own?.earlier) this.#reach(own.earlier)
    if (line.type === 'crawl.started') this.#since = Date.parse(line.ts)
    else if (line.type === 'crawl.resumed') {
      // A killed process has not written the end of its run.
      if (this.#since !== undefined) this.#activeMs += Date.parse(before) - this.#since
      this.finished = undefined
      this.#since = Date.parse(line.ts)
    } else if (line.type === 'crawl.found') this.#found += line.data.urls.length
    else if (line.type === 'crawl.page') {
      this.success = true
      this.#page(line.data, line.own)
    } else if (line.type === 'crawl.error') {
      this.#errors++
      if (first) this.startFailure = { error: line.data.error, code: line.data.code }
    } else if (line.type === 'crawl.skipped') {
      this.#skipped += line.data.skipped.length
      if (first && line.data.skipped[0]?.reason === 'content_signal')
        this.startFailure = { error: signalRefusal, code: 'robots_blocked' }
      else if (own?.visited !== undefined) this.success = true
    } else if (line.type === 'crawl.robots_blocked') {
      this.#blocked += line.data.urls.length
      if (first) this.startFailure = { error: 'robots.txt does not allow the start page', code: 'robots_blocked' }
    } else if (line.type === 'crawl.warning') {
      if (this.warnings.length < maxWarnings && !this.warnings.includes(line.data.message))
        this.warnings.push(line.data.message)
    } else if (line.type === 'crawl.finished') {
      this.finished = line.data
      this.#activeMs = line.data.duration_ms
      this.#since = undefined
    }
  }

  #remember(line: PlacedLine['line']): void {
    for (const url of finishedBy(line)) this.#recent.push({ seq: line.seq, url })
    // Half of them are dropped at once, because dropping the first one takes as long.
    if (this.#recent.length > maxRecent) this.#recent = this.#recent.slice(-maxRecent / 2)
  }

  #page({ index, depth }: { index: number; depth: number }, { at, length }: RecordLocation): void {
    if (index === this.#at.length && index > 0 && depth < this.#depth[index - 1]!) this.#unordered = true
    this.#reach({ at, length })
    this.#at[index] = at
    this.#length[index] = length
    this.#depth[index] = depth
  }

  /** Extends the page file to the end of a page. */
  #reach({ at, length }: RecordLocation): void {
    this.#pageBytes = Math.max(this.#pageBytes, at + length)
  }
}

/** Returns the URLs of the queue that a line finishes. */
function finishedBy({ type, data }: PlacedLine['line']): string[] {
  if (type === 'crawl.page' || type === 'crawl.error') return [data.url]
  if (type === 'crawl.skipped') return data.skipped.map(({ url }) => url)
  return type === 'crawl.robots_blocked' ? data.urls : []
}
