/** Visits pages on a worker, each as a job. */
import { type Job, WaitingError } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Log } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { FairQueue, reserveFor } from '../../../core/process/fair-queue.ts'
import { HostGate } from '../../../engine/crawl/pacing/host-gate.ts'
import type { CrawlPlan } from '../../../engine/crawl/plan.ts'
import type { CrawlRequest } from '../../../engine/crawl/store/journal.ts'
import type { SiteSummary } from '../../../engine/extract/main-content/site/site-memory.ts'
import { evictOldest } from '../../../engine/evict-oldest.ts'
import { renderedAtOnce } from '../../../engine/render/browser/concurrency.ts'
import type { PageScraper } from '../../../engine/scrape/scraper.ts'
import { unlessFull } from '../../redis/unless-full.ts'
import type { FleetCrawlStore } from '../store/store.ts'
import { lockKey, metaKey, siteKey, visitedChannel, visitsKey } from '../keys.ts'
import {
  actedField,
  keptField,
  pendingValue,
  storedError,
  storeVisit,
  visitField,
  type VisitJob,
  windowField,
} from './visit-job.ts'
import { openReading } from './open-reading.ts'
import { visitPage, type VisitOutcome } from './visit-page.ts'

export interface PageVisitsFacts {
  readonly redis: Redis
  readonly store: Pick<FleetCrawlStore, 'read'>
  readonly scraper: () => Promise<PageScraper>
  readonly log: Log
  /** Pages that this worker visits at the same time, and some more for keys with few. */
  readonly pages: number
  /** Called with the error of a visit for which the browser was unavailable; resolves once that was checked. */
  readonly onUnavailable: (error: BaxError) => Promise<void>
}

interface VisitPlan extends Awaited<ReturnType<typeof openReading>> {
  /** Limits the pages of the crawl that are rendered at the same time. */
  readonly tabs: HostGate
}

/** Thrown by visits whose crawl has ended. */
class Abandoned extends Error {}

export class PageVisits {
  readonly #facts: PageVisitsFacts
  /** Summaries of windows by crawl and end. */
  readonly #windows = new Map<string, SiteSummary>()
  readonly #plans = new Map<string, Promise<VisitPlan | undefined>>()
  /** Visits under way or waiting for a slot, with their crawls. */
  readonly #held = new Map<AbortController, string>()
  readonly #slots: FairQueue

  constructor(facts: PageVisitsFacts) {
    this.#facts = facts
    this.#slots = new FairQueue({ atOnce: facts.pages, reserve: reserveFor(facts.pages) })
  }

  /** Number of pages that are being visited. */
  get count(): number {
    return this.#slots.running
  }

  /**
   * Visits the page of a job when its key has a slot, and stores the result; `token` is that of the job's lock.
   * @throws WaitingError if another worker should visit the page
   */
  async visit(job: Job<VisitJob>, token: string): Promise<void> {
    const { crawl } = job.data
    const found = await this.#planOf(crawl)
    // The crawl has ended.
    if (!found) return
    const control = new AbortController()
    this.#held.set(control, crawl)
    const { signal } = control
    let unavailable: BaxError | undefined
    try {
      const visit = () => this.#visit(job, token, found, signal)
      unavailable = await this.#slots.run(visit, { from: found.plan.from, signal })
    } catch (error) {
      if (!(error instanceof Abandoned)) throw error
    } finally {
      this.#held.delete(control)
    }
    if (!unavailable) return
    // Until the check is over, this worker might take the job again.
    await this.#facts.onUnavailable(unavailable)
    await job.moveToWait(token)
    throw new WaitingError()
  }

  /** Returns the error if this worker has no browser for the page, and another one may have. */
  async #visit(
    { id, data, queueName, attemptsStarted }: Job<VisitJob>,
    token: string,
    found: VisitPlan,
    signal: AbortSignal,
  ): Promise<BaxError | undefined> {
    const { redis, scraper, log } = this.#facts
    const { crawl, kind, url, compare, site: end } = data
    const visits = visitsKey(crawl)
    const field = visitField(kind, url)
    // The crawl does not need the page any more.
    if ((await redis.hget(visits, field)) !== pendingValue(id!)) return undefined
    const site = end === undefined ? undefined : await this.#windowOf(crawl, end)
    if (site === null) return undefined
    const kept = compare && (await redis.hgetBuffer(visits, keptField(url)))
    const onFull = () => log('warn', 'a visit waits because Redis is full', { crawl, url })
    const run = `${id} ${attemptsStarted} ${token}`
    const acts = !found.failure && hasActions(found.plan)
    const mayRun = !acts || (await unlessFull(() => this.#beginActions(visits, url, run), { signal, onFull }))
    const failure = found.failure ?? (mayRun ? undefined : lostActions())
    const outcome: VisitOutcome = failure
      ? { visit: { spentMs: 0, failure: storedError(failure) } }
      : await visitPage(data, { ...found, scraper: await scraper(), signal, site, kept: kept || undefined }).finally(
          async () => {
            const unsaved = await found.saveIdentity?.()
            if (unsaved !== undefined) log('warn', unsaved, { crawl })
          },
        )
    if (outcome.unavailable && attemptsStarted <= limits.crawl.fleet.lostPages) {
      // No action was run.
      if (acts) await redis.hdel(visits, actedField(url))
      return outcome.unavailable
    }
    const result = JSON.stringify(outcome.visit)
    const store = () =>
      storeVisit(
        redis,
        visits,
        lockKey(queueName, id!),
        token,
        field,
        pendingValue(id!),
        result,
        visitedChannel(crawl),
        keptField(url),
        outcome.kept ?? '',
      )
    const stored = await unlessFull(store, { signal, onFull })
    if (stored === 0) log('debug', 'the result of a visit came too late', { crawl, url })
    return undefined
  }

  /** Returns whether `run` may run the actions of a page: a lost worker may have run some of them already. */
  async #beginActions(visits: string, url: string, run: string): Promise<boolean> {
    const { redis } = this.#facts
    const field = actedField(url)
    // A command is sent again when its response is lost.
    return (await redis.hsetnx(visits, field, run)) === 1 || (await redis.hget(visits, field)) === run
  }

  /** Stops the visits of a crawl that has ended. */
  abandon(crawl: string): void {
    this.#plans.delete(crawl)
    for (const [control, of] of this.#held) if (of === crawl) control.abort(new Abandoned())
  }

  /** Returns the plan of a crawl, which is the same for all its pages; undefined if the crawl is gone. */
  #planOf(crawl: string): Promise<VisitPlan | undefined> {
    const known = this.#plans.get(crawl)
    if (known) return known
    const reading = this.#readPlan(crawl)
    reading.catch(() => this.#plans.delete(crawl))
    evictOldest(this.#plans, limits.crawl.fleet.records - 1)
    this.#plans.set(crawl, reading)
    return reading
  }

  /** Returns the summary of a window, which the coordinator has stored; null if the crawl has ended. */
  async #windowOf(crawl: string, end: number): Promise<SiteSummary | null> {
    if (end === 0) return ''
    const key = `${crawl} ${end}`
    const known = this.#windows.get(key)
    if (known !== undefined) return known
    const stored = await this.#facts.redis.hget(siteKey(crawl), windowField(end))
    if (stored === null) return null
    const summary = JSON.parse(stored) as SiteSummary
    evictOldest(this.#windows, limits.crawl.fleet.windows - 1)
    this.#windows.set(key, summary)
    return summary
  }

  async #readPlan(crawl: string): Promise<VisitPlan | undefined> {
    const { redis, store, scraper } = this.#facts
    const request = await redis.hget(metaKey(crawl), 'request')
    if (request === null) return undefined
    const reading = await openReading(JSON.parse(request) as CrawlRequest, { store, scraper: await scraper() })
    return { ...reading, tabs: new HostGate(renderedAtOnce) }
  }
}

const hasActions = ({ input }: CrawlPlan): boolean => (input.list?.actions.length ?? 0) > 0

const lostActions = (): BaxError =>
  new BaxError('worker_lost', 'the worker that ran the actions of the page was lost', {
    hint: 'check whether they had an effect before you repeat them',
  })
