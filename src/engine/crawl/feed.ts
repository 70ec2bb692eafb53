/** A crawl as a stream: the lines of its journal with their pages, and progress in between. */
import type { Frame } from '../../core/operation/call.ts'
import { limits } from '../../core/limits/limits.ts'
import type { CrawlEventData } from '../../core/shapes/crawl.ts'
import { type JournalLine, linesOf, type PlacedLine } from './store/journal.ts'
import { DamagedPage, PageFile, placeholderOf, type RecordLocation, type StoredPage } from './store/page-file.ts'
import type { CrawlLogs } from './store/log.ts'

/** A running crawl that is followed. */
export interface FollowedCrawl {
  isRunning(): boolean
  /** Size of the journal, always after a complete commit. */
  bytes(): number
  progress(): CrawlEventData['crawl.progress']
  /** Returns a page that was stored just now, undefined for others. */
  recentPage?(location: RecordLocation): StoredPage | undefined
  /** Returns the lines from a position in the journal on, if all of them were written just now. */
  recentLines?(from: number): readonly PlacedLine[] | undefined
  /** Calls back after every commit and at the end; returns a function that unsubscribes. */
  listen(listener: () => void): () => void
}

interface FeedRequest {
  readonly since: number
  /** Size of the journal of a crawl that does not run here. */
  readonly bytes: number
  readonly types?: readonly string[] | undefined
  readonly signal: AbortSignal
}

/** Yields the frames after `since`; those of a running crawl until it ends. */
export async function* crawlFrames(
  logs: CrawlLogs,
  live: FollowedCrawl | undefined,
  { since, types, signal, bytes }: FeedRequest,
): AsyncGenerator<Frame> {
  const isIncluded = (type: string) => type === 'crawl.finished' || types === undefined || types.includes(type)
  const pages = await PageFile.forReading(logs.pages)
  const journal = await logs.journal.open()
  let at = 0
  let seq = since
  let progressAt = 0
  try {
    for (;;) {
      const isRunning = live?.isRunning() ?? false
      const end = live?.bytes() ?? bytes
      for await (const { line, to } of live?.recentLines?.(at) ?? linesOf(journal, at, end)) {
        if (signal.aborted) return
        at = to
        if (line.seq <= since) continue
        seq = line.seq
        if (isIncluded(line.type)) yield await frameOf(line, pages, live)
      }
      // Everything that was written before the crawl ended has been read by now. Other lines are in the place of those
      // that were read if Redis has lost its last writes: the reader continues with a new stream.
      if (!live || !isRunning || at < end || signal.aborted) return
      if (isIncluded('crawl.progress') && performance.now() - progressAt >= limits.crawl.progressMs) {
        progressAt = performance.now()
        yield { seq, ts: new Date().toISOString(), type: 'crawl.progress', data: live.progress() } as Frame
      }
      await waitForMore(live, at, signal)
    }
  } finally {
    await Promise.all([pages.close(), journal.close()])
  }
}

/** Waits for new journal lines, at most for the progress interval. */
async function waitForMore(live: FollowedCrawl, at: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer)
      stop()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const check = () => {
      if (signal.aborted || !live.isRunning() || live.bytes() > at) done()
    }
    // Progress is reported without new lines too: the elapsed time changes.
    const timer = setTimeout(done, limits.crawl.progressMs)
    const stop = live.listen(check)
    signal.addEventListener('abort', done)
    check()
  })
}

async function frameOf(line: JournalLine, pages: PageFile, live: FollowedCrawl | undefined): Promise<Frame> {
  const { seq, ts, type, data } = line
  if (line.type !== 'crawl.page') return { seq, ts, type, data } as Frame
  const kept = live?.recentPage?.(line.own) ?? (await pages.tryRead(line.own))
  const page = kept instanceof DamagedPage ? placeholderOf(line.data.url, kept) : kept.page
  return { seq, ts, type, data: { ...data, page } } as Frame
}
