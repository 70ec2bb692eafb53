/** Logs of a crawl in Redis: strings of limited size, written in commits that check the coordinator's fencing token. */
import type { Redis } from 'ioredis'
import type { Log } from '../../../core/config/config.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { CrawlLog, CrawlLogs, OpenLog } from '../../../engine/crawl/store/log.ts'
import { unlessFull } from '../../redis/unless-full.ts'
import { allKey, chunkKey, eventsChannel, metaKey } from '../keys.ts'
import { writeCommit } from './scripts.ts'

const { chunkBytes } = limits.crawl.fleet

/** Thrown when a coordinator may no longer write: another one has taken over, or Redis has lost its last commits. */
export class LostRun extends Error {
  readonly reason: 'fenced' | 'behind'

  constructor(reason: LostRun['reason']) {
    super(reason === 'fenced' ? 'another worker has taken over the crawl' : 'Redis has lost the last commits')
    this.reason = reason
  }
}

/** Returns the logs of a crawl for reading; those that Redis does not have are empty. */
export const readingLogs = (redis: Redis, id: string): CrawlLogs => ({
  journal: readingLog(redis, id, 'journal'),
  pages: readingLog(redis, id, 'pages'),
})

function readingLog(redis: Redis, id: string, name: string): CrawlLog {
  const readOnly = () => Promise.reject(new Error('the log is read-only'))
  const read = (at: number, length: number) => readChunks(redis, (chunk) => chunkKey(id, name, chunk), at, length)
  const open = async () => ({ append: readOnly, read, close: async () => {} })
  return { create: readOnly, reopen: readOnly, open }
}

async function readChunks(redis: Redis, keyOf: (chunk: number) => string, at: number, length: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let from = at; from < at + length;) {
    const offset = from % chunkBytes
    const size = Math.min(at + length - from, chunkBytes - offset)
    const part = await redis.getrangeBuffer(keyOf(Math.floor(from / chunkBytes)), offset, offset + size - 1)
    parts.push(part)
    if (part.length < size) break
    from += size
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}

/** Returns the keys of all parts of logs with these sizes. */
export const chunkKeys = (id: string, sizes: Readonly<Record<string, number>>): string[] =>
  Object.entries(sizes).flatMap(([name, size]) =>
    Array.from({ length: Math.ceil(size / chunkBytes) }, (_, chunk) => chunkKey(id, name, chunk)),
  )

interface Part {
  readonly key: string
  readonly offset: number
  readonly bytes: Buffer
}

function* partsOf(id: string, name: string, bytes: Buffer, at: number): Generator<Part> {
  for (let done = 0; done < bytes.length;) {
    const offset = (at + done) % chunkBytes
    const part = bytes.subarray(done, done + chunkBytes - offset)
    yield { key: chunkKey(id, name, Math.floor((at + done) / chunkBytes)), offset, bytes: part }
    done += part.length
  }
}

export interface WriterFacts {
  readonly redis: Redis
  readonly id: string
  /** Fencing token of the coordinator. */
  readonly fence: number
  readonly log: Log
  /** Aborted when the coordinator gives up, so that it no longer waits for memory of Redis. */
  readonly signal: AbortSignal
}

/** The logs of a crawl for its coordinator. Pages are written with the next commit of the journal. */
export class WritingLogs implements CrawlLogs {
  readonly #facts: WriterFacts
  readonly #pages: Part[] = []
  #pagesEnd = 0
  readonly journal: CrawlLog
  readonly pages: CrawlLog

  constructor(facts: WriterFacts) {
    this.#facts = facts
    this.journal = this.#log('journal', (bytes, at) => this.#commit(bytes, at))
    this.pages = this.#log('pages', (bytes, at) => {
      this.#pages.push(...partsOf(facts.id, 'pages', bytes, at))
      this.#pagesEnd = at + bytes.length
    })
  }

  #log(name: 'journal' | 'pages', append: OpenLog['append']): CrawlLog {
    const { redis, id } = this.#facts
    const reading = readingLog(redis, id, name)
    const open = async () => ({ ...(await reading.open()), append })
    // Commits are atomic, so that there is nothing to truncate: what follows is overwritten.
    return { create: open, reopen: open, open: reading.open }
  }

  /** @throws LostRun */
  async #commit(journal: Buffer, at: number): Promise<void> {
    const { redis, id, fence, log, signal } = this.#facts
    const pagesEnd = this.#pages.length > 0 ? this.#pagesEnd : 0
    const parts = [...this.#pages.splice(0), ...partsOf(id, 'journal', journal, at)]
    const keys = [metaKey(id), allKey, ...parts.map(({ key }) => key)]
    const values = parts.flatMap(({ offset, bytes }) => [offset, bytes])
    const facts = [fence, id, eventsChannel(id), at, at + journal.length, pagesEnd]
    const commit = () => writeCommit(redis, keys.length, ...keys, ...facts, ...values)
    const onFull = () => log('warn', 'a crawl waits because Redis is full', { crawl: id })
    const result = await unlessFull(commit, { signal, onFull })
    if (result !== 'done') throw new LostRun(result)
  }
}
