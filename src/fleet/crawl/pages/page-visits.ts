/** Visits pages on a worker, each as a job. */
import type { Job } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Log } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { HostGate } from '../../../engine/crawl/pacing/host-gate.ts'
import { EarlierPages } from '../../../engine/crawl/earlier.ts'
import { type CrawlPlan, planCrawl } from '../../../engine/crawl/plan.ts'
import type { CrawlRequest } from '../../../engine/crawl/store/journal.ts'
import type { SiteSummary } from '../../../engine/extract/main-content/site/site-memory.ts'
import { evictOldest } from '../../../engine/evict-oldest.ts'
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
import { visitPage, type VisitOutcome } from './visit-page.ts'

export interface PageVisitsFacts {
  readonly redis: Redis
  readonly store: Pick<FleetCrawlStore, 'read'>
  readonly scraper: () => Promise<PageScraper>
  readonly log: Log
  /** Limits the pages that this worker renders at the same time. */
  readonly tabs: HostGate
}

interface VisitPlan {
  readonly plan: CrawlPlan
  /** Pages of the crawl to compare with. */
  readonly earlier: EarlierPages | undefined
}

/** Thrown by visits whose crawl has ended. */
class Abandoned extends Error {}

export class PageVisits {
  readonly #facts: PageVisitsFacts
  /** Summaries of windows by crawl and end. */
  readonly #windows = new Map<string, SiteSummary>()
  readonly #plans = new Map<string, Promise<VisitPlan | undefined>>()
  /** Visits under way, with their crawls. */
  readonly #running = new Map<AbortController, string>()

  constructor(facts: PageVisitsFacts) {
    this.#facts = facts
  }

  get count(): number {
    return this.#running.size
  }

  /** Visits the page of a job, and stores the result; `token` is that of the job's lock. */
  async visit({ id, data, queueName, attemptsStarted }: Job<VisitJob>, token: string): Promise<void> {
    const { redis, scraper, tabs, log } = this.#facts
    const { crawl, kind, url, compare, site: end } = data
    const visits = visitsKey(crawl)
    const field = visitField(kind, url)
    const found = await this.#planOf(crawl)
    // The crawl has ended, or does not need the page any more.
    if (!found || (await redis.hget(visits, field)) !== pendingValue(id!)) return
    const site = end === undefined ? undefined : await this.#windowOf(crawl, end)
    if (site === null) return
    const kept = compare && (await redis.hgetBuffer(visits, keptField(url)))
    const control = new AbortController()
    this.#running.set(control, crawl)
    try {
      const { signal } = control
      const onFull = () => log('warn', 'a visit waits because Redis is full', { crawl, url })
      const run = `${id} ${attemptsStarted} ${token}`
      const mayRun = !hasActions(found.plan) || (await unlessFull(() => this.#beginActions(visits, url, run), { signal, onFull })) // prettier-ignore
      const outcome: VisitOutcome = mayRun
        ? await visitPage(data, { ...found, scraper: await scraper(), tabs, signal, site, kept: kept || undefined })
        : { visit: { spentMs: 0, failure: storedError(lostActions()) } }
      const result = JSON.stringify(outcome.visit)
      const store = () => storeVisit(redis, visits, lockKey(queueName, id!), token, field, pendingValue(id!), result, visitedChannel(crawl), keptField(url), outcome.kept ?? '') // prettier-ignore
      const stored = await unlessFull(store, { signal, onFull })
      if (stored === 0) log('debug', 'the result of a visit came too late', { crawl, url })
    } catch (error) {
      if (!(error instanceof Abandoned)) throw error
    } finally {
      this.#running.delete(control)
    }
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
    for (const [control, of] of this.#running) if (of === crawl) control.abort(new Abandoned())
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
    const { redis, store } = this.#facts
    const request = await redis.hget(metaKey(crawl), 'request')
    if (request === null) return undefined
    const { input, owner } = JSON.parse(request) as CrawlRequest
    const { since } = input
    const earlier = since === undefined ? undefined : await EarlierPages.open(await store.read(since))
    return { plan: planCrawl(input, owner), earlier }
  }
}

const hasActions = ({ input }: CrawlPlan): boolean => (input.list?.actions.length ?? 0) > 0

const lostActions = (): BaxError =>
  new BaxError('worker_lost', 'the worker that ran the actions of the page was lost', {
    hint: 'check whether they had an effect before you repeat them',
  })
