/** The journal of a crawl, append-only with one event per line: the source of its streams and its state. */
import type { RenderingFacts } from '../../render/decide/fetch-or-render.ts'
import type { LlmsEntry } from '../../../core/shapes/jobs/sources.ts'
import type { QueuedUrl } from '../queue/frontier.ts'
import type { CrawlEventData, CrawlEventType, CrawlInput } from '../../../core/shapes/crawl.ts'
import { stateKinds } from '../../../core/state/state-kinds.ts'
import { decodeRecord, encodeRecord } from '../../../core/state/state-record.ts'
import type { CrawlLog, OpenLog } from './log.ts'

/** Internal facts of a line, never sent to clients. */
export interface OwnFacts {
  /** Number of queued URLs that the line finishes. */
  readonly taken?: number
  /** Position of the page in the page file. */
  readonly at?: number
  readonly length?: number
  /** URL after all redirects. */
  readonly final?: string
  /** Validators of the response, for a later crawl. */
  readonly validators?: { readonly etag?: string; readonly modified?: string }
  /** Earlier version of a page that could not be read, for the next crawl to compare with. */
  readonly earlier?: KeptVersion
  /** URL of a page that was visited but is not in `data`. */
  readonly visited?: string
  /** Facts for the rendering policy. */
  readonly facts?: RenderingFacts
  /** The page replaces a damaged one. */
  readonly restored?: true
  /** Outline of the page, from which the crawl learns about the site. */
  readonly outline?: string
  /** The sitemaps have been read. */
  readonly sitemaps?: true
  /** Entries of llms.txt. */
  readonly llms?: readonly LlmsEntry[]
  /** Some of the sitemaps, or parts of them, could not be read. */
  readonly incomplete?: true
  /** The request, in the first line, in case its own file is damaged. */
  readonly request?: CrawlRequest
}

/** A page of an earlier crawl, with its place in the page file of this one. */
export interface KeptVersion extends Required<Pick<OwnFacts, 'at' | 'length' | 'final'>>, Pick<OwnFacts, 'validators'> {
  readonly url: string
  /** Time at which the page was read. */
  readonly ts: string
}

export interface CrawlRequest {
  readonly input: CrawlInput
  readonly created_at: string
  /** ID of the caller's key; null without keys. */
  readonly owner?: string | null
}

/** Facts of a page in `data`: its place in the page file, and its URL after all redirects. */
type PageFacts = OwnFacts & Required<Pick<OwnFacts, 'at' | 'length' | 'final'>>

export type JournalEntry = {
  readonly [Type in CrawlEventType]: {
    readonly type: Type
    readonly data: Type extends 'crawl.page' ? Omit<CrawlEventData[Type], 'page'> : CrawlEventData[Type]
  } & (Type extends 'crawl.page' ? { readonly own: PageFacts } : { readonly own?: OwnFacts })
}[CrawlEventType]

export type JournalLine = JournalEntry & {
  readonly seq: number
  readonly ts: string
  /** Marks the last line of a commit; lines after the last mark are incomplete. */
  readonly end?: true
}

export interface PlacedLine {
  readonly line: JournalLine
  readonly from: number
  readonly to: number
}

/** Size of the last lines that are kept in memory for readers that follow a crawl. */
const recentBytes = 1024 * 1024

export class Journal {
  readonly log: CrawlLog
  readonly #open: OpenLog
  readonly #listeners = new Set<() => void>()
  bytes: number
  /** Number of the last line. */
  seq: number
  #writing: Promise<unknown> = Promise.resolve()
  /** The last lines, oldest first. */
  #recent: PlacedLine[] = []

  private constructor(log: CrawlLog, open: OpenLog, bytes: number, seq: number) {
    this.log = log
    this.#open = open
    this.bytes = bytes
    this.seq = seq
  }

  static async create(log: CrawlLog): Promise<Journal> {
    return new Journal(log, await log.create(), 0, 0)
  }

  /** Opens a journal to continue it, truncated to `bytes`. */
  static async reopen(log: CrawlLog, bytes: number, seq: number): Promise<Journal> {
    return new Journal(log, await log.reopen(bytes), bytes, seq)
  }

  /** Writes lines atomically: after a crash, either all or none of them are read. */
  commit(entries: readonly JournalEntry[]): Promise<PlacedLine[]> {
    const written = this.#writing.then(() => this.#write(entries))
    // The caller gets the error; later commits are still written.
    this.#writing = written.catch(() => {})
    return written
  }

  /** Returns the lines from a position on, up to the end of the last commit; undefined if not all of them are in memory. */
  recent(from: number): readonly PlacedLine[] | undefined {
    const at = this.#recent.findLastIndex((placed) => placed.from <= from)
    return this.#recent[at]?.from === from ? this.#recent.slice(at) : undefined
  }

  /** Calls `listener` after every commit; returns a function that unsubscribes. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Notifies the listeners that the run has ended, after which only warnings about it are written. */
  async endRun(): Promise<void> {
    await this.#writing
    for (const listener of this.#listeners) listener()
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#open.close()
  }

  async #write(entries: readonly JournalEntry[]): Promise<PlacedLine[]> {
    const ts = new Date().toISOString()
    let to = this.bytes
    const texts: string[] = []
    const lines = entries.map((entry, at): PlacedLine => {
      const line = { seq: this.seq + at + 1, ts, ...entry, ...(at === entries.length - 1 && { end: true as const }) }
      const text = `${encodeRecord(line)}\n`
      texts.push(text)
      const from = to
      to += Buffer.byteLength(text)
      return { line, from, to }
    })
    await this.#open.append(Buffer.from(texts.join('')), this.bytes)
    this.bytes = to
    this.seq += entries.length
    this.#remember(lines)
    for (const listener of this.#listeners) listener()
    return lines
  }

  #remember(lines: readonly PlacedLine[]): void {
    this.#recent.push(...lines)
    // Half of the lines are dropped at once, because dropping the first one takes as long.
    if (this.bytes - this.#recent[0]!.from <= recentBytes) return
    const first = this.#recent.findIndex(({ from }) => this.bytes - from <= recentBytes / 2)
    this.#recent = first < 0 ? [] : this.#recent.slice(first)
  }
}

/** Yields the lines between two positions, up to a damaged one, which is reported, or an incomplete last one. */
export async function* readJournal(log: CrawlLog, from = 0, to = Infinity, onDamage: () => void = () => {}) {
  if (from >= to) return
  const opened = await log.open()
  try {
    yield* linesOf(opened, from, to, onDamage)
  } finally {
    await opened.close()
  }
}

const chunkBytes = 64 * 1024

/** Yields the lines of an open journal, as `readJournal` does. */
export async function* linesOf(log: OpenLog, from: number, to: number, onDamage: () => void = () => {}) {
  let rest: Buffer[] = []
  let at = from
  for (let next = from; next < to;) {
    const chunk = await log.read(next, Math.min(chunkBytes, to - next))
    if (chunk.length === 0) return
    next += chunk.length
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const bytes = Buffer.concat([...rest, chunk.subarray(start, end)])
      rest = []
      start = end + 1
      const record = decodeRecord<JournalLine>(bytes.toString('utf8'), stateKinds.crawlJournal)
      if (!('content' in record)) return onDamage()
      yield { line: record.content, from: at, to: at + bytes.length + 1 }
      at += bytes.length + 1
    }
    if (start < chunk.length) rest.push(chunk.subarray(start))
  }
}

export const warning = (message: string): JournalEntry => ({ type: 'crawl.warning', data: { message } })

/** Returns URL and depth of pages by their index in `data`; `bytes` is the size of the journal. */
export async function pagesAt(journal: CrawlLog, bytes: number, indexes: ReadonlySet<number>) {
  const found = new Map<number, QueuedUrl>()
  if (indexes.size === 0) return found
  for await (const { line } of readJournal(journal, 0, bytes)) {
    if (line.type !== 'crawl.page' || !indexes.has(line.data.index)) continue
    found.set(line.data.index, { url: line.data.url, depth: line.data.depth })
  }
  return found
}

/** Returns the warning about a damaged journal, if it is damaged. */
export function damageLines({ isDamaged, completed }: { isDamaged: boolean; completed: number }): JournalEntry[] {
  if (!isDamaged) return []
  return [warning(`the journal was damaged: pages after the first ${completed} are crawled again`)]
}
