/** A crawl at work, with the files that it holds. */
import type { Log } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { PageSteps } from '../scrape/steps.ts'
import type { Live } from './feed.ts'
import { Journal, readJournal } from './store/journal.ts'
import { KeptAnswers } from './store/kept-responses.ts'
import { PageFile } from './store/page-file.ts'
import { type CrawlPlan, planCrawl } from './plan.ts'
import type { CrawlRecord } from './store/record.ts'
import type { Ending } from './ending.ts'
import { CrawlRun, type RunFacts } from './run.ts'
import type { CrawlShelf } from './store/crawl-store.ts'

export interface LiveCrawl extends Live {
  readonly id: string
  readonly record: CrawlRecord
  /** Settles when it has ended and its files are closed; rejects for a fault of ours. */
  readonly done: Promise<void>
  end(kind: Ending['kind']): void
}

interface Means {
  readonly shelf: CrawlShelf
  readonly steps: PageSteps
  readonly log: Log
}

/** `owner`: the key that asks for it; null where no keys are in use. */
export async function startLive(
  { id, owner }: { id: string; owner: string | null },
  plan: CrawlPlan,
  { shelf, steps, log }: Means,
): Promise<LiveCrawl> {
  const record = await shelf.add(id, plan.input, owner)
  const files = shelf.files(id)
  return atWork(shelf, async () => ({
    plan,
    steps,
    log,
    record,
    journal: await Journal.create(files.journal),
    pages: await PageFile.create(files.pages),
    answers: new KeptAnswers({ folder: files.folder, log }),
  }))(id)
}

/** @throws BaxError `conflict` when another process works on it */
export async function resumeLive(id: string, { shelf, steps, log }: Means): Promise<LiveCrawl> {
  const files = shelf.files(id)
  return atWork(shelf, async () => {
    const { record, bytes, seq } = await shelf.read(id)
    if (record.isDamaged) await shelf.keepDamaged(id, bytes)
    const damaged = await shelf.damagedPages(record)
    const answers = new KeptAnswers({ folder: files.folder, log })
    answers.load()
    return {
      plan: planCrawl(record.input),
      steps,
      log,
      record,
      journal: await Journal.reopen(files.journal, bytes, seq),
      pages: await PageFile.reopen(files.pages, record.pageBytes),
      before: readJournal(files.journal, 0, bytes),
      damaged,
      answers,
    }
  })(id)
}

/** Nobody else may write the files while it works. */
const atWork =
  (shelf: CrawlShelf, open: () => Promise<RunFacts>) =>
  async (id: string): Promise<LiveCrawl> => {
    const lock = await shelf.hold(id)
    if (!lock) throw new BaxError('conflict', 'the crawl is running in another process')
    // Whoever asks whether somebody works on it wants nothing more than an answer.
    lock.answer(id)
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
      done,
      end: (kind) => run.end(kind),
      bytes: () => journal.bytes,
      isRunning: () => running,
      progress: () => run.progress(),
      listen: (listener) => journal.listen(listener),
    }
  }
