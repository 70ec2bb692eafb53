/**
 * The journal of a crawl: one event a line, only ever added to. Its lines are what a stream of the crawl sends, and
 * all that is needed to go on with a crawl whose process was killed.
 */
import { writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Reason } from '../../render/decide/decide.ts'
import type { CrawlEventData, CrawlEventType, CrawlInput } from '../../../core/shapes/crawl.ts'
import { stateKinds } from '../../../core/state/state-kinds.ts'
import { decodeRecord, encodeRecord } from '../../../core/state/state-record.ts'

/** What only we need of a line; never sent. */
export interface OwnFacts {
  /** The line settles so many addresses of the queue. */
  readonly taken?: number
  /** Where the page stands in the file of pages. */
  readonly at?: number
  readonly length?: number
  /** The address after all redirects. */
  readonly final?: string
  /** Address of a page that was visited and is not in `data`. */
  readonly visited?: string
  /** What is known of pages that are made alike; see `judge.ts`. */
  readonly facts?: JudgedFacts
  /** The sitemaps have been read. */
  readonly sitemaps?: true
  /** What was asked for, in the first line: its own file may be damaged. */
  readonly request?: CrawlRequest
}

/** What was asked for, and by whom. */
export interface CrawlRequest {
  readonly input: CrawlInput
  readonly created_at: string
  /** The key that asked for it; nobody's without keys. */
  readonly owner?: string | null
}

/** How a page came to be taken as it was fetched, or rendered. */
export interface JudgedFacts {
  readonly template: string
  readonly host: string
  readonly reason?: Reason
  readonly render: 'http' | 'browser'
  /** Whether a browser showed more than was fetched, where both were looked at. */
  readonly more?: boolean
  /** Both were looked at although nothing in the page asked for it. */
  readonly audited?: true
}

export type JournalEntry = {
  readonly [Type in CrawlEventType]: {
    readonly type: Type
    readonly data: Type extends 'crawl.page' ? Omit<CrawlEventData[Type], 'page'> : CrawlEventData[Type]
    readonly own?: OwnFacts
  }
}[CrawlEventType]

export type JournalLine = JournalEntry & {
  readonly seq: number
  readonly ts: string
  /** The last line of those that were written together: what follows the last such line is torn. */
  readonly end?: true
}

/** A line with the places in the file where it begins and ends. */
export interface PlacedLine {
  readonly line: JournalLine
  readonly from: number
  readonly to: number
}

export class Journal {
  readonly path: string
  readonly #file: FileHandle
  readonly #listeners = new Set<() => void>()
  #bytes: number
  #seq: number
  #writing: Promise<unknown> = Promise.resolve()

  private constructor(path: string, file: FileHandle, bytes: number, seq: number) {
    this.path = path
    this.#file = file
    this.#bytes = bytes
    this.#seq = seq
  }

  static async create(path: string): Promise<Journal> {
    return new Journal(path, await open(path, 'wx', 0o600), 0, 0)
  }

  /** Opens it for going on; what stands behind `bytes` is cut off. Without any whole line it is made anew. */
  static async reopen(path: string, bytes: number, seq: number): Promise<Journal> {
    const file = await open(path, bytes === 0 ? 'w' : 'r+', 0o600)
    await file.truncate(bytes)
    return new Journal(path, file, bytes, seq)
  }

  /** Number of the last line. */
  get seq(): number {
    return this.#seq
  }

  /** Length of what is written. */
  get bytes(): number {
    return this.#bytes
  }

  /** Writes lines that belong together: after a crash all of them are there, or none. */
  commit(entries: readonly JournalEntry[]): Promise<PlacedLine[]> {
    const written = this.#writing.then(() => this.#write(entries))
    // Whoever wrote is told; those who come after write all the same.
    this.#writing = written.catch(() => {})
    return written
  }

  /** Calls `listener` after every commit; returns the way to stop it. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#file.close()
    for (const listener of this.#listeners) listener()
  }

  async #write(entries: readonly JournalEntry[]): Promise<PlacedLine[]> {
    const ts = new Date().toISOString()
    let to = this.#bytes
    const texts: string[] = []
    const lines = entries.map((entry, at): PlacedLine => {
      const line = { seq: this.#seq + at + 1, ts, ...entry, ...(at === entries.length - 1 && { end: true as const }) }
      const text = `${encodeRecord(line)}\n`
      texts.push(text)
      const from = to
      to += Buffer.byteLength(text)
      return { line, from, to }
    })
    appendTo(this.#file, Buffer.from(texts.join('')), this.#bytes)
    this.#bytes = to
    this.#seq += entries.length
    for (const listener of this.#listeners) listener()
    return lines
  }
}

/**
 * Writes behind what a file has. On the spot: some kilobytes for the system's own memory take a tenth of the time that
 * handing them to another thread would take of this one.
 */
export function appendTo({ fd }: FileHandle, bytes: Buffer, at: number): void {
  // A write may do a part of it.
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done, bytes.length - done, at + done)
}

/**
 * The whole lines of a journal from a place in it to another one, as they stand there now. They end before a damaged
 * one, which is reported; a last line that was not written to its end is none.
 */
export async function* readJournal(
  path: string,
  from = 0,
  to = Infinity,
  onDamage: () => void = () => {},
): AsyncGenerator<PlacedLine> {
  if (from >= to) return
  const file = await open(path, 'r')
  try {
    yield* linesOf(file, from, to, onDamage)
  } finally {
    await file.close()
  }
}

const chunkBytes = 64 * 1024

/** The same of a journal that is open. */
export async function* linesOf(
  file: FileHandle,
  from: number,
  to: number,
  onDamage: () => void = () => {},
): AsyncGenerator<PlacedLine> {
  let rest: Buffer[] = []
  let at = from
  for (let next = from; next < to;) {
    const space = Buffer.allocUnsafe(Math.min(chunkBytes, to - next))
    const { bytesRead } = await file.read(space, 0, space.length, next)
    if (bytesRead === 0) return
    next += bytesRead
    const chunk = space.subarray(0, bytesRead)
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const bytes = Buffer.concat([...rest, chunk.subarray(start, end)])
      rest = []
      start = end + 1
      const line = parse(bytes)
      if (line === undefined) return onDamage()
      yield { line, from: at, to: at + bytes.length + 1 }
      at += bytes.length + 1
    }
    if (start < chunk.length) rest.push(chunk.subarray(start))
  }
}

function parse(bytes: Buffer): JournalLine | undefined {
  const record = decodeRecord<JournalLine>(bytes.toString('utf8'), stateKinds.crawlJournal)
  return 'content' in record ? record.content : undefined
}
