/** Coordinates one run of a crawl on a worker: its frontier, order, robots.txt, rates and decisions about rendering. */
import { asBaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { CrawlAbort } from '../../../engine/crawl/abort.ts'
import { CrawlRun } from '../../../engine/crawl/run.ts'
import { Journal, readJournal } from '../../../engine/crawl/store/journal.ts'
import { PageFile } from '../../../engine/crawl/store/page-file.ts'
import type { CrawlRecord } from '../../../engine/crawl/store/record.ts'
import { type WebhookFacts, WebhookSender } from '../../../engine/crawl/webhook.ts'
import type { ReportedProgress } from '../followed.ts'
import { eventsChannel, progressChannel, progressKey } from '../keys.ts'
import { FleetPages } from '../pages/fleet-pages.ts'
import { openReading } from '../pages/open-reading.ts'
import { FleetAnswers } from '../store/answers.ts'
import { LostRun, WritingLogs } from '../store/redis-logs.ts'
import type { CrawlJob } from './queues.ts'
import { fleetConcurrency } from './slots.ts'
import type { WorkerParts } from './worker.ts'

/** `ended`: also if another worker has taken over; `interrupted`: the crawl continues on another worker. */
export type RunOutcome = 'ended' | 'interrupted'

export class Coordinator {
  readonly #parts: WorkerParts
  readonly #job: CrawlJob
  readonly #stopped = new AbortController()
  #run: CrawlRun | undefined

  constructor(parts: WorkerParts, job: CrawlJob) {
    this.#parts = parts
    this.#job = job
  }

  /** Gives the crawl up, so that another worker can continue it. */
  interrupt(): void {
    this.#stopped.abort()
    this.#run?.end('interrupted')
  }

  /** Runs the crawl; `token` is that of the job's lock. */
  async run(token: string): Promise<RunOutcome> {
    const { store, build } = this.#parts
    for (;;) {
      const fence = await store.begin({ ...this.#job, build }, token)
      if (fence === undefined) return 'ended'
      try {
        return await this.#coordinate(fence)
      } catch (error) {
        if (!(error instanceof LostRun)) throw error
        this.#parts.log('warn', 'the coordinator of a crawl has to stop', { crawl: this.#job.id, error: error.message })
        // Redis lost its last second of writes: the crawl continues from what is left.
        if (error.reason === 'fenced' || this.#stopped.signal.aborted) return 'ended'
      }
    }
  }

  async #coordinate(fence: number): Promise<RunOutcome> {
    const { redis, store, scraper, subscriptions, pagesQueue: queue, hosts, log, load } = this.#parts
    const { id, activeMs } = this.#job
    const closed = new AbortController()
    const logs = new WritingLogs({ redis, id, fence, log, signal: this.#stopped.signal })
    const { record, hasEnded } = await store.readFresh(id)
    const { bytes, seq } = record
    const answers = await FleetAnswers.load({ redis, id, log })
    const pageScraper = await scraper()
    const { egress, webhookSecret: secret } = pageScraper
    const journal = await Journal.reopen(logs.journal, bytes, seq)
    const pages = await PageFile.reopen(logs.pages, record.pageBytes)
    const { plan, earlier, failure } = await openReading(record, { store, scraper: pageScraper })
    const run = new CrawlRun({
      plan,
      record,
      journal,
      pages,
      earlier,
      answers,
      egress: pageScraper.rulesOf(plan.page(plan.start.href)),
      track: (...tracked) => pageScraper.track(...tracked),
      log,
      hosts,
      openSource: (signal, site) =>
        new FleetPages({ redis, subscriptions, queue, id, fence, earlier: answers.earlier, site, signal }),
      adapt: (onChange) => fleetConcurrency(load, record.owner, onChange),
      timeLeftMs: Math.max(0, record.input.timeout_secs * 1000 - (record.activeMs() - activeMs)),
      ...(seq > 0 && { before: readJournal(logs.journal, 0, bytes) }),
    })
    this.#run = run
    const followed = followedRun(run, journal)
    const { live } = followed
    const ownRules = egress.rulesFor(plan.from)
    const webhook = this.#webhookOf(run, { record, logs, live, answers, egress: ownRules, secret })
    this.#stopped.signal.addEventListener('abort', () => webhook?.stop())
    if (this.#stopped.signal.aborted) run.end('interrupted')
    if (failure) run.end('failed', failure)
    const stop = await this.#watch(run, record, closed.signal)
    let isSent: boolean | undefined
    try {
      // An earlier coordinator was lost after the last page, and may have left webhooks to send.
      if (hasEnded) run.end('interrupted')
      else await run.run()
    } catch (error) {
      if (error instanceof LostRun) throw error
      if (!this.#stopped.signal.aborted) this.#logFailure(error)
    } finally {
      closed.abort()
      stop()
      followed.end()
      await Promise.all([journal.endRun(), pages.close(), earlier?.close()])
      if (!record.finished) webhook?.stop()
      // Events that the receiver refuses become warnings.
      isSent = await webhook?.finish()
      await journal.close()
    }
    // The rest of the webhooks is sent by another worker too.
    if (this.#stopped.signal.aborted && (!record.finished || isSent === false)) return 'interrupted'
    await store.end(record, fence)
    return 'ended'
  }

  /** Sends the events of the run, if its input has a webhook. */
  #webhookOf(run: CrawlRun, facts: Omit<WebhookFacts, 'warn' | 'log'>): WebhookSender | undefined {
    return WebhookSender.start({ ...facts, warn: (text) => run.warn(text), log: this.#parts.log })
  }

  /** Ends the run when it is cancelled or its key is lost, and shares its progress; returns a function that stops. */
  async #watch(run: CrawlRun, record: CrawlRecord, closed: AbortSignal): Promise<() => void> {
    const { id, owner } = record
    const { redis, store, subscriptions, keys } = this.#parts
    const end = (kind: CrawlAbort['kind']) => run.end(kind)
    const check = async () => {
      // Fails while Redis is away; the reconnect calls again.
      if (await store.isCancelled(id).catch(() => false)) end('cancelled')
    }
    const unlisten = await subscriptions.listen(eventsChannel(id), (message) => {
      if (message === undefined || message === 'cancel') void check()
    })
    await check()
    keys.whenLost(owner, () => end('cancelled'), closed)
    const timer = setInterval(() => {
      // Progress is not worth waiting for a lost connection.
      if (redis.status !== 'ready') return
      const text = JSON.stringify({ ...run.progress(), seq: record.seq } satisfies ReportedProgress)
      const sent = redis.pipeline().set(progressKey(id), text, 'PX', limits.crawl.fleet.progressKeptMs)
      sent
        .publish(progressChannel(id), text)
        .exec()
        .catch(() => {})
    }, limits.crawl.progressMs)
    return () => {
      clearInterval(timer)
      unlisten()
    }
  }

  #logFailure(thrown: unknown): void {
    const { message, cause } = asBaxError(thrown)
    this.#parts.log('error', 'a crawl failed', { crawl: this.#job.id, error: message, cause: String(cause) })
  }
}

/** Returns a run as others follow it; `end` says that it has ended. */
function followedRun(run: CrawlRun, journal: Journal) {
  let running = true
  const live = {
    isRunning: () => running,
    bytes: () => journal.bytes,
    progress: () => run.progress(),
    listen: (listener: () => void) => journal.listen(listener),
  }
  return { live, end: () => void (running = false) }
}
