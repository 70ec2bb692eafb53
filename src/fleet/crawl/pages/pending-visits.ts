/** Visits that a coordinator has requested: adds their jobs, and waits for their results. */
import { performance } from 'node:perf_hooks'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { unlessFull } from '../../redis/unless-full.ts'
import { jobKey, metaKey, visitedChannel, visitsKey } from '../keys.ts'
import { LostRun } from '../store/redis-logs.ts'
import type { FleetPagesFacts } from './fleet-pages.ts'
import { pendingJob, pendingValue, requestVisit, type StoredVisit, visitField, type VisitJob } from './visit-job.ts'

const { checkMs, lostPages } = limits.crawl.fleet

interface Pending {
  readonly field: string
  readonly jobId: string
  readonly since: number
  /** Whether the job is in the queue. */
  added: boolean
  finish(result: StoredVisit | 'lost'): void
}

export class PendingVisits {
  readonly #facts: FleetPagesFacts
  readonly #pending = new Map<string, Pending>()
  readonly #listening: Promise<() => void>
  #number = 0

  constructor(facts: FleetPagesFacts) {
    this.#facts = facts
    const { subscriptions, id, signal } = facts
    this.#listening = subscriptions.listen(visitedChannel(id), (field) => void this.#check(field))
    // The first request reports a failure.
    this.#listening.catch(() => {})
    const timer = setInterval(() => void this.#checkOld(), checkMs)
    const stop = () => {
      clearInterval(timer)
      this.#listening.then((unlisten) => unlisten()).catch(() => {})
    }
    signal.addEventListener('abort', stop, { once: true })
  }

  /** Has a page visited; a visit that an earlier coordinator requested is continued. @throws the signal's reason */
  async request(job: VisitJob): Promise<StoredVisit> {
    const field = visitField(job.kind, job.url)
    await this.#listening
    let earlier = this.#facts.earlier.delete(field) ? await this.#take(field) : undefined
    for (let lost = 0; lost <= lostPages; lost++) {
      if (typeof earlier === 'object') return earlier
      const visit = await this.#wait(field, earlier, job)
      if (visit !== 'lost') return visit
      earlier = undefined
    }
    throw new BaxError('worker_lost', 'every worker that visited the page was lost')
  }

  /** Returns the result in a field, or the ID of the job under way. */
  async #take(field: string): Promise<StoredVisit | string | undefined> {
    const { redis, id } = this.#facts
    const value = await redis.hget(visitsKey(id), field)
    if (value === null) return undefined
    const job = pendingJob(value)
    return job ?? (JSON.parse(value) as StoredVisit)
  }

  async #wait(field: string, earlier: string | undefined, job: VisitJob): Promise<StoredVisit | 'lost'> {
    const { signal, fence, id } = this.#facts
    const jobId = earlier ?? `${id}-${fence}-${this.#number++}`
    let abort!: () => void
    try {
      return await new Promise<StoredVisit | 'lost'>((resolve, reject) => {
        abort = () => reject(signal.reason as Error)
        signal.addEventListener('abort', abort, { once: true })
        if (signal.aborted) return abort()
        const pending: Pending = {
          field,
          jobId,
          since: performance.now(),
          added: earlier !== undefined,
          finish: resolve,
        }
        this.#pending.set(field, pending)
        if (pending.added) return
        this.#add(field, jobId, job).then(() => (pending.added = true), reject)
      })
    } finally {
      signal.removeEventListener('abort', abort)
      this.#pending.delete(field)
    }
  }

  async #add(field: string, jobId: string, job: VisitJob): Promise<void> {
    const { redis, queue, id, fence, signal } = this.#facts
    const add = async () => {
      const isOwn = await requestVisit(redis, metaKey(id), visitsKey(id), fence, field, pendingValue(jobId))
      if (isOwn === 0) throw new LostRun('fenced')
      // A rendered form is requested when it is the turn of its page, for which others wait.
      await queue.add(job.kind, job, { jobId, lifo: job.kind === 'render' })
    }
    // The next commit reports that Redis is full.
    await unlessFull(add, { signal, onFull: () => {} })
  }

  /** Takes the result of a visit, if there is one; checks all of them without a field. */
  async #check(field: string | undefined): Promise<void> {
    if (field === undefined) return this.#checkOld(0)
    const pending = this.#pending.get(field)
    if (!pending) return
    const value = await this.#take(field).catch(() => undefined)
    if (typeof value === 'object') pending.finish(value)
  }

  /** Finds results whose message was lost, and jobs that are gone: their workers were lost too often, or Redis was. */
  async #checkOld(age: number = checkMs): Promise<void> {
    const before = performance.now() - age
    const old = [...this.#pending.values()].filter(({ since, added }) => added && since <= before)
    // Fails while Redis is away; the next check is early enough.
    await Promise.all(old.map((pending) => this.#checkOne(pending))).catch(() => {})
  }

  async #checkOne({ field, jobId, finish }: Pending): Promise<void> {
    const { redis, queue } = this.#facts
    const isQueued = (await redis.exists(jobKey(queue.name, jobId))) === 1
    const value = await this.#take(field)
    if (typeof value === 'object') finish(value)
    else if (!isQueued) finish('lost')
  }
}
