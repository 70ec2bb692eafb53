/** A crawl as a stream: the lines of its journal with the pages in them, and now and then how far it is. */
import { open } from 'node:fs/promises'
import type { CrawlEventData } from '../../core/shapes/crawl.ts'
import type { Frame } from '../../core/operation/stream.ts'
import { limits } from '../../core/limits/limits.ts'
import { type JournalLine, linesOf } from './store/journal.ts'
import { DamagedPage, PageFile, placeholderOf } from './store/page-file.ts'
import type { CrawlFiles } from './store/crawl-store.ts'

/** A crawl that is at work in this engine. */
export interface Live {
  /** End of what is written, always after whole groups of lines. */
  readonly bytes: () => number
  readonly isRunning: () => boolean
  readonly progress: () => CrawlEventData['crawl.progress']
  /** Calls back whenever something was written, and at the end; returns the way to stop it. */
  readonly listen: (listener: () => void) => () => void
}

export interface FeedRequest {
  readonly since: number
  /** End of what is written, of a crawl that is not at work here. */
  readonly bytes: number
  readonly types?: readonly string[] | undefined
  readonly signal: AbortSignal
}

/** Frames from the one after `since` on; of a crawl that is not at work, those that there are. */
export async function* feedOf(
  files: CrawlFiles,
  live: Live | undefined,
  { since, types, signal, bytes }: FeedRequest,
): AsyncGenerator<Frame> {
  const wanted = (type: string) => type === 'crawl.finished' || types === undefined || types.includes(type)
  const pages = await PageFile.forReading(files.pages)
  const journal = await open(files.journal, 'r')
  let at = 0
  let seq = since
  let told = 0
  try {
    for (;;) {
      const isRunning = live?.isRunning() ?? false
      const end = live?.bytes() ?? bytes
      for await (const { line, to } of linesOf(journal, at, end)) {
        if (signal.aborted) return
        at = to
        if (line.seq <= since) continue
        seq = line.seq
        if (wanted(line.type)) yield await frameOf(line, pages)
      }
      // What was written before it ended has been read by now.
      if (!live || !isRunning || signal.aborted) return
      if (wanted('crawl.progress') && performance.now() - told >= limits.crawl.progressMs) {
        told = performance.now()
        yield { seq, ts: new Date().toISOString(), type: 'crawl.progress', data: live.progress() } as Frame
      }
      await moreOf(live, at, signal)
    }
  } finally {
    await Promise.all([pages.close(), journal.close()])
  }
}

/** Waits until there is more to read, and long enough that progress is not all there is to see. */
async function moreOf(live: Live, at: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer)
      stop()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const look = () => {
      if (signal.aborted || !live.isRunning() || live.bytes() > at) done()
    }
    // Without news the numbers are told all the same: the clock goes on.
    const timer = setTimeout(done, limits.crawl.progressMs)
    const stop = live.listen(look)
    signal.addEventListener('abort', done)
    look()
  })
}

async function frameOf({ seq, ts, type, data, own }: JournalLine, pages: PageFile): Promise<Frame> {
  if (type !== 'crawl.page') return { seq, ts, type, data } as Frame
  const page = await pages.read({ at: own!.at!, length: own!.length! }).then(
    (kept) => kept.page,
    (error: unknown) => {
      if (error instanceof DamagedPage) return placeholderOf(data.url, error)
      throw error
    },
  )
  return { seq, ts, type, data: { ...data, page } } as Frame
}
