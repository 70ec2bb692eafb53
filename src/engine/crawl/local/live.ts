/** Starts and resumes crawls: opens their files, holds their lock, and runs them. */
import type { Log } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { RequestRules } from '../../egress/egress.ts'
import type { PageScraper } from '../../scrape/scraper.ts'
import { Journal, readJournal } from '../store/journal.ts'
import { ResponseCache } from '../store/response-cache.ts'
import { PageFile, type RecordLocation } from '../store/page-file.ts'
import type { CrawlInput } from '../../../core/shapes/crawl.ts'
import type { OpenedIdentity } from '../../scrape/identity/open-identity.ts'
import { type CrawlPlan, planCrawl } from '../plan.ts'
import type { CrawlAbort } from '../abort.ts'
import { EarlierPages } from '../earlier.ts'
import { LocalPages } from '../pages/local-pages.ts'
import type { RunFacts } from '../run-facts.ts'
import { CrawlRun } from '../run.ts'
import type { CrawlSite } from '../site.ts'
import type { CrawlStore } from '../store/crawl-store.ts'
import { WebhookSender } from '../webhook.ts'

export type LiveCrawl = Awaited<ReturnType<typeof runLocked>>

export interface CrawlContext {
  readonly store: CrawlStore
  readonly scraper: PageScraper
  readonly log: Log
}

/** Starts a crawl. `owner` is the ID of the caller's key, null without keys. */
export async function startLive(
  { id, owner }: { id: string; owner: string | null },
  input: CrawlInput,
  { store, scraper, log, opened }: CrawlContext & { readonly opened: OpenedIdentity | undefined },
): Promise<LiveCrawl> {
  const plan = planCrawl(input, owner, opened?.identity)
  const record = await store.add(id, input, owner)
  const logs = store.logs(id)
  return runLocked(id, store, async () => ({
    ...loadingFacts(
      plan,
      scraper,
      new ResponseCache({ folder: store.files(id).folder, log }),
      await earlierOf(plan, store),
    ),
    saveIdentity: opened?.save,
    log,
    record,
    journal: await Journal.create(logs.journal),
    pages: await PageFile.create(logs.pages),
  }))
}

/** Resumes a crawl. @throws BaxError `conflict` when another process runs it */
export async function resumeLive(id: string, { store, scraper, log }: CrawlContext): Promise<LiveCrawl> {
  const logs = store.logs(id)
  return runLocked(id, store, async () => {
    const record = await store.read(id)
    const { bytes, seq } = record
    if (record.isDamaged) await store.keepDamaged(record)
    const damaged = await store.damagedPages(record)
    const answers = new ResponseCache({ folder: store.files(id).folder, log })
    answers.load()
    const opened = await scraper.identities.unseal(record.input)
    const plan = planCrawl(record.input, record.owner, opened?.identity)
    return {
      saveIdentity: opened?.save,
      ...loadingFacts(plan, scraper, answers, await earlierOf(plan, store)),
      log,
      record,
      journal: await Journal.reopen(logs.journal, bytes, seq),
      pages: await PageFile.reopen(logs.pages, record.pageBytes),
      before: readJournal(logs.journal, 0, bytes),
      damaged,
    }
  })
}

/** Returns the facts for loading pages in this process. */
const loadingFacts = (plan: CrawlPlan, scraper: PageScraper, answers: ResponseCache, earlier?: EarlierPages) => ({
  plan,
  earlier,
  answers,
  egress: scraper.rulesOf(plan.page(plan.start.href)),
  track: (...tracked: Parameters<PageScraper['track']>) => scraper.track(...tracked),
  webhooks: { egress: scraper.egress.rulesFor(plan.from), secret: scraper.webhookSecret },
  openSource: (signal: AbortSignal, site: CrawlSite) =>
    new LocalPages({
      plan,
      scraper,
      answersOf: (url) => answers.of(url),
      siteOf: (url) => site.windowFor(url)?.summary,
      earlier,
      signal,
    }),
})

/** Opens the pages of the crawl to compare with. */
async function earlierOf({ input: { since } }: CrawlPlan, store: CrawlStore): Promise<EarlierPages | undefined> {
  if (since === undefined) return undefined
  return EarlierPages.open({ logs: store.logs(since), record: await store.read(since) })
}

export const runningElsewhere = (): BaxError => new BaxError('conflict', 'the crawl is running in another process')

interface LocalRunFacts extends RunFacts {
  /** Rules of the requests of webhooks, and the key of their signatures. */
  readonly webhooks: { readonly egress: RequestRules; readonly secret: string | undefined }
  /** Saves the cookies that the site has changed, if that is requested; returns a warning if it fails. */
  readonly saveIdentity: OpenedIdentity['save'] | undefined
}

/** Runs a crawl while holding its lock, so that no other process writes its files. */
async function runLocked(id: string, store: CrawlStore, open: () => Promise<LocalRunFacts>) {
  const lock = await store.hold(id)
  if (!lock) throw runningElsewhere()
  // Processes that check whether the crawl is running need any answer.
  lock.publish(id)
  let facts: LocalRunFacts
  try {
    facts = await open()
  } catch (error) {
    await lock.release()
    throw error
  }
  const { record, journal, pages, answers } = facts
  const { seq } = record
  const run = new CrawlRun(facts)
  let running = true
  const followed = {
    /** Size of the journal, always after a complete commit. */
    bytes: () => journal.bytes,
    isRunning: () => running,
    progress: () => run.progress(),
    recentPage: (location: RecordLocation) => pages.recent(location),
    recentLines: (from: number) => journal.recent(from),
    /** Calls back after every commit and at the end; returns a function that unsubscribes. */
    listen: (listener: () => void) => journal.listen(listener),
  }
  const webhook = WebhookSender.start({
    ...facts,
    ...facts.webhooks,
    live: followed,
    logs: store.logs(id),
    warn: (text) => run.warn(text),
  })
  const done = run.run().finally(async () => {
    const unsaved = await facts.saveIdentity?.()
    if (unsaved !== undefined) run.warn(unsaved)
    running = false
    await Promise.all([journal.endRun(), pages.close(), facts.earlier?.close()])
    if (!record.finished) webhook?.stop()
    // Events that the receiver refuses become warnings.
    if ((await webhook?.finish()) === false && record.finished)
      run.warn('webhook: the server ended before all events were sent')
    await journal.close()
    answers.close(record.finished?.status === 'completed')
    await lock.release()
  })
  return {
    id,
    record,
    /** Whether the run has not begun: until its first line is written, a resumed crawl has the record of the ended run. */
    isWaiting: () => record.seq === seq,
    /** Resolves when the crawl has ended and its files are closed; rejects only for internal errors. */
    done,
    end: (kind: CrawlAbort['kind']) => {
      run.end(kind)
      if (kind === 'interrupted') webhook?.stop()
    },
    ...followed,
  }
}
