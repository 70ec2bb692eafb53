/** The pages of a crawl, visited by the workers of the fleet on behalf of the crawl's coordinator. */
import type { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { BaxError } from '../../../core/errors/errors.ts'
import type { ComparedForms, LoadedVisit, LoadRequest, PageForm, PageSource, WrittenPage } from '../../../engine/crawl/pages/page-source.ts' // prettier-ignore
import { UnrenderedError } from '../../../engine/crawl/pages/page-source.ts'
import type { Comparison } from '../../../engine/render/decide/difference.ts'
import type { Subscriptions } from '../../redis/subscriptions.ts'
import { errorOf, type StoredForm, type StoredVisit, type VisitJob } from './visit-job.ts'
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
  readonly signal: AbortSignal
}

export class FleetPages implements PageSource {
  readonly #facts: FleetPagesFacts
  readonly #visits: PendingVisits

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

  #request(job: Omit<VisitJob, 'crawl'>): Promise<StoredVisit> {
    return this.#visits.request({ ...job, crawl: this.#facts.id })
  }
}
