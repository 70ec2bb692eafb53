/** Starts and resumes crawls: opens their files, holds their lock, and runs them. */
import type { Log } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { PageScraper } from '../scrape/scraper.ts'
import { Journal, readJournal } from './store/journal.ts'
import { ResponseCache } from './store/response-cache.ts'
import { PageFile } from './store/page-file.ts'
import { type CrawlPlan, planCrawl } from './plan.ts'
import type { CrawlAbort } from './abort.ts'
import { CrawlRun, type RunFacts } from './run.ts'
import type { CrawlStore } from './store/crawl-store.ts'

export type LiveCrawl = Awaited<ReturnType<typeof runLocked>>

export interface CrawlContext {
  readonly store: CrawlStore
  readonly scraper: PageScraper
  readonly log: Log
}

/** Starts a crawl. `owner` is the ID of the caller's key, null without keys. */
export async function startLive(
  { id, owner }: { id: string; owner: string | null },
  plan: CrawlPlan,
  { store, scraper, log }: CrawlContext,
): Promise<LiveCrawl> {
  const record = await store.add(id, plan.input, owner)
  const files = store.files(id)
  return runLocked(id, store, async () => ({
    plan,
    scraper,
    log,
    record,
    journal: await Journal.create(files.journal),
    pages: await PageFile.create(files.pages),
    answers: new ResponseCache({ folder: files.folder, log }),
  }))
}

/** Resumes a crawl. @throws BaxError `conflict` when another process runs it */
export async function resumeLive(id: string, { store, scraper, log }: CrawlContext): Promise<LiveCrawl> {
  const files = store.files(id)
  return runLocked(id, store, async () => {
    const { record, bytes, seq } = await store.read(id)
    if (record.isDamaged) await store.keepDamaged(id, bytes)
    const damaged = await store.damagedPages(record)
    const answers = new ResponseCache({ folder: files.folder, log })
    answers.load()
    return {
      plan: planCrawl(record.input),
      scraper,
      log,
      record,
      journal: await Journal.reopen(files.journal, bytes, seq),
      pages: await PageFile.reopen(files.pages, record.pageBytes),
      before: readJournal(files.journal, 0, bytes),
      damaged,
      answers,
    }
  })
}

export const runningElsewhere = (): BaxError => new BaxError('conflict', 'the crawl is running in another process')

/** Runs a crawl while holding its lock, so that no other process writes its files. */
async function runLocked(id: string, store: CrawlStore, open: () => Promise<RunFacts>) {
  const lock = await store.hold(id)
  if (!lock) throw runningElsewhere()
  // Processes that check whether the crawl is running need any answer.
  lock.publish(id)
  let facts: RunFacts
  try {
    facts = await open()
  } catch (error) {
    await lock.release()
    throw error
  }
  const { record, journal, pages, answers } = facts
  const run = new CrawlRun(facts)
  let running = true
  const done = run.run().finally(async () => {
    running = false
    answers.close(record.finished?.status === 'completed')
    await Promise.all([journal.close(), pages.close()])
    await lock.release()
  })
  return {
    id,
    record,
    /** Resolves when the crawl has ended and its files are closed; rejects only for internal errors. */
    done,
    end: (kind: CrawlAbort['kind']) => run.end(kind),
    /** Size of the journal, always after a complete commit. */
    bytes: () => journal.bytes,
    isRunning: () => running,
    progress: () => run.progress(),
    /** Calls back after every commit and at the end; returns a function that unsubscribes. */
    listen: (listener: () => void) => journal.listen(listener),
  }
}
