/** The pages of a crawl, visited by the workers of the fleet on behalf of the crawl's coordinator. */
import type { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { BaxError } from '../../../core/errors/errors.ts'
import type {
  ComparedForms,
  LoadedVisit,
  LoadRequest,
  PageForm,
  PageSource,
  WrittenPage,
} from '../../../engine/crawl/pages/page-source.ts'
import { UnrenderedError } from '../../../engine/crawl/pages/page-source.ts'
import type { CrawlSite, SiteWindow } from '../../../engine/crawl/site.ts'
import type { Comparison } from '../../../engine/render/decide/difference.ts'
import type { Subscriptions } from '../../redis/subscriptions.ts'
import { unlessFull } from '../../redis/unless-full.ts'
import { siteKey } from '../keys.ts'
import { errorOf, type StoredForm, type StoredVisit, type VisitJob, windowField } from './visit-job.ts'
import { PendingVisits } from './pending-visits.ts'

export interface FleetPagesFacts {
  readonly redis: Redis
  readonly subscriptions: Subscriptions
  readonly queue: Queue<VisitJob>
  readonly id: string
  /** Fencing token of the coordinator. */
  readonly fence: number
  /** Fields of visits that an earlier coordinator has requested; each is taken over once. */
  readonly earlier: Set<string>
  readonly site: CrawlSite
  readonly signal: AbortSignal
}

export class FleetPages implements PageSource {
  readonly #facts: FleetPagesFacts
  readonly #visits: PendingVisits
  /** Windows that are stored, by their ends. */
  readonly #windows = new Map<number, Promise<unknown>>()

  constructor(facts: FleetPagesFacts) {
    this.#facts = facts
    this.#visits = new PendingVisits(facts)
  }

  /** Workers prepare when their first page arrives. */
  begin(): void {}

  async load(url: string, { policy, budget, force }: LoadRequest): Promise<LoadedVisit<StoredForm>> {
    const hints = policy.hintsFor(new URL(url).host)
    const kind = force === 'browser' ? 'browser' : 'visit'
    const visit = await this.#request({ kind, url, hints, leftMs: budget.leftMs })
    budget.leftMs -= visit.spentMs
    const { failure, page, fetched, audit } = visit
    const typed = visit.kind && { kind: visit.kind }
    if (failure && page) throw new UnrenderedError(errorOf(failure), { page, ...typed })
    if (failure) throw errorOf(failure)
    return { page: page!, ...typed, ...(fetched && { fetched }), ...(audit !== undefined && { audit }) }
  }

  async render(url: string, fetched?: PageForm): Promise<StoredForm> {
    // Earlier pages are finished first, so that this one is urgent.
    const { failure, page } = await this.#request({ kind: 'render', url, ...(fetched && { compare: true }) })
    if (failure) throw errorOf(failure)
    return page!
  }

  async write(_url: string, { written }: StoredForm): Promise<WrittenPage> {
    if ('error' in written) throw errorOf(written.error)
    return { ...written, final: new URL(written.final) }
  }

  async compare(_url: string, { rendered }: ComparedForms<StoredForm>): Promise<Comparison | undefined> {
    const { comparison } = rendered
    if (comparison === undefined) throw new BaxError('internal_error', 'the forms of a page were not compared')
    return comparison ?? undefined
  }

  hasText({ hasText }: StoredForm): boolean {
    return hasText ?? false
  }

  /** The text counts as part of the page; the trees are on other machines. */
  weightOf(): number {
    return 0
  }

  async #request(job: Omit<VisitJob, 'crawl' | 'site'>): Promise<StoredVisit> {
    const window = this.#facts.site.windowFor(job.url)
    if (window && window.end > 0) await this.#share(window)
    return this.#visits.request({ ...job, crawl: this.#facts.id, ...(window && { site: window.end }) })
  }

  /** Stores a window for the workers, once, and removes those that no page under way depends on. */
  #share({ end, summary }: SiteWindow): Promise<unknown> {
    const known = this.#windows.get(end)
    if (known) return known
    const { redis, id, signal } = this.#facts
    const key = siteKey(id)
    const store = () => redis.hset(key, windowField(end), JSON.stringify(summary))
    // The next commit reports that Redis is full.
    const stored = unlessFull(store, { signal, onFull: () => {} })
    this.#windows.set(end, stored)
    const [oldest] = this.#windows.keys()
    if (this.#windows.size <= 2) return stored
    this.#windows.delete(oldest!)
    return stored.then(() => redis.hdel(key, windowField(oldest!)))
  }
}
