/** The part of a worker that coordinates crawls and visits their pages. */
import { type Job, type Queue, WaitingError, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { KeyRing } from '../../../core/access/keys.ts'
import type { Log } from '../../../core/config/config.ts'
import type { BaxError } from '../../../core/errors/errors.ts'
import type { WorkerIdentity } from '../../../core/fleet.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { PageScraper } from '../../../engine/scrape/scraper.ts'
import { Subscriptions } from '../../redis/subscriptions.ts'
import { crawlsQueue, endedChannel, pagesQueue } from '../keys.ts'
import { FleetHosts } from '../pages/hosts.ts'
import type { VisitJob } from '../pages/visit-job.ts'
import { PageVisits } from '../pages/page-visits.ts'
import { FleetCrawlStore } from '../store/store.ts'
import { Coordinator } from './coordinator.ts'
import { type CrawlJob, openCrawlsQueue, openPagesQueue, type QueueTiming, workerOptions } from './queues.ts'
import { repairQueues } from './repair.ts'
import { type FleetLoad, heldJobs } from './slots.ts'

export interface CrawlWorkerFacts extends QueueTiming {
  /** A connection that others may share; it is not closed. */
  readonly redis: Redis
  /** Build of this worker, which takes the jobs of its own build only. */
  readonly build: string
  readonly scraper: () => Promise<PageScraper>
  readonly keys: KeyRing
  readonly log: Log
  /** Pages that this worker visits at the same time. */
  readonly pages: number
  /** Crawls that it coordinates at the same time. */
  readonly crawls?: number
  /** Whether it visits pages; it does by default. */
  readonly visits?: boolean
  /** Returns the workers that accept work, of all builds. */
  readonly workers: () => Promise<readonly Pick<WorkerIdentity, 'build' | 'pages'>[]>
  /** Called with the error of a page for which the browser was unavailable; resolves once that was checked. */
  readonly onUnavailable?: (error: BaxError) => Promise<void>
}

/** Connections and queues that the coordinators on a worker share. */
export interface WorkerParts extends Pick<CrawlWorkerFacts, 'redis' | 'build' | 'scraper' | 'keys' | 'log'> {
  readonly store: FleetCrawlStore
  readonly subscriptions: Subscriptions
  readonly pagesQueue: Queue<VisitJob>
  readonly hosts: FleetHosts
  readonly load: () => Promise<FleetLoad>
}

export class CrawlWorker {
  readonly #parts: WorkerParts
  readonly #crawlsQueue: Queue<CrawlJob>
  readonly #visits: PageVisits
  readonly #pages: Worker<VisitJob, void>
  readonly #crawls: Worker<CrawlJob, void>
  readonly #coordinators = new Set<Coordinator>()
  /** Jobs of both queues that are running. */
  readonly #running = new Set<Promise<void>>()
  readonly #timers: readonly NodeJS.Timeout[]
  readonly #workers: CrawlWorkerFacts['workers']
  #unlisten = () => {}
  #draining: Promise<void> | undefined

  private constructor(facts: CrawlWorkerFacts) {
    const {
      redis,
      build,
      scraper,
      keys,
      log,
      workers,
      pages,
      crawls = limits.crawl.fleet.coordinated,
      onUnavailable = async () => {},
    } = facts
    const store = new FleetCrawlStore(redis, build)
    this.#workers = workers
    this.#parts = {
      redis,
      build,
      scraper,
      keys,
      log,
      store,
      load: () => this.#load(),
      subscriptions: new Subscriptions(redis),
      pagesQueue: openPagesQueue(redis, build),
      hosts: new FleetHosts(redis, log),
    }
    this.#crawlsQueue = openCrawlsQueue(redis, build)
    this.#visits = new PageVisits({ redis, store, scraper, log, pages, onUnavailable })
    const options = workerOptions(redis, facts)
    const { lostPages, lostCrawls } = limits.crawl.fleet
    this.#pages = new Worker(pagesQueue(build), (job, token) => this.#track(this.#visits.visit(job, token!)), {
      ...options,
      concurrency: heldJobs(pages),
      maxStalledCount: lostPages,
    })
    this.#crawls = new Worker(crawlsQueue(build), (job, token) => this.#track(this.#coordinate(job, token!)), {
      ...options,
      concurrency: crawls,
      maxStalledCount: lostCrawls,
    })
    for (const worker of [this.#pages, this.#crawls])
      worker.on('error', (error) =>
        log('debug', 'a queue reported an error', { queue: worker.name, error: error.message }),
      )
    this.#timers = [
      setInterval(() => void this.#sweep(), limits.crawl.sweepMs).unref(),
      setInterval(() => void this.#repair(), limits.crawl.fleet.repairMs).unref(),
    ]
  }

  /** Starts taking crawls and pages. @throws BaxError `fleet_unavailable` */
  static async start(facts: CrawlWorkerFacts): Promise<CrawlWorker> {
    const worker = new CrawlWorker(facts)
    if (facts.visits === false) await worker.#pages.pause(true)
    worker.#unlisten = await worker.#parts.subscriptions.listen(endedChannel, (id) => id && worker.#visits.abandon(id))
    // In case that removing the queues of this build was interrupted.
    await Promise.all([worker.#crawlsQueue.resume(), worker.#parts.pagesQueue.resume()])
    for (const queue of [worker.#pages, worker.#crawls])
      queue
        .run()
        .catch((error: Error) => facts.log('error', 'a queue stopped', { queue: queue.name, error: error.message }))
    await worker.#sweep()
    await worker.#repair()
    return worker
  }

  /** Number of pages that are being visited. */
  get busy(): number {
    return this.#visits.count
  }

  /** Number of crawls that are being coordinated. */
  get coordinating(): number {
    return this.#coordinators.size
  }

  /** Starts or stops taking pages; those under way are finished. */
  visitPages(isOn: boolean): void {
    void (isOn ? this.#pages.resume() : this.#pages.pause(true))
  }

  /** Takes nothing new, gives its crawls to other workers, and resolves once its pages are finished. */
  drain(): Promise<void> {
    return (this.#draining ??= this.#drain())
  }

  async #drain(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    for (const coordinator of this.#coordinators) coordinator.interrupt()
    await Promise.all([this.#closed(this.#pages.close()), this.#closed(this.#crawls.close())])
  }

  #track(job: Promise<void>): Promise<void> {
    this.#running.add(job)
    return job.finally(() => this.#running.delete(job))
  }

  /**
   * Waits until a queue is closed, for a limited time once no job is running: BullMQ waits forever for a connection that
   * is being renewed (https://github.com/taskforcesh/bullmq/issues/4656). Nothing of such a queue keeps the process alive.
   */
  async #closed(closing: Promise<void>): Promise<void> {
    const isClosed = closing.then(() => true)
    do await Promise.race([closing, Promise.allSettled(this.#running)])
    while (!(await withDeadline(isClosed, { ms: limits.crawl.fleet.closeMs, value: false })) && this.#running.size > 0)
  }

  /** Drains, and closes everything that it has opened. */
  async close(): Promise<void> {
    await this.drain()
    this.#unlisten()
    this.#parts.subscriptions.close()
    this.#parts.hosts.close()
    await Promise.all([this.#parts.pagesQueue.close(), this.#crawlsQueue.close()])
  }

  async #load(): Promise<FleetLoad> {
    const own = (await this.#workers()).filter(({ build }) => build === this.#parts.build)
    const slots = own.reduce((sum, { pages }) => sum + pages, 0)
    return { slots, owners: (await this.#crawlsQueue.getActive()).map(({ data }) => data.owner) }
  }

  async #coordinate(job: Job<CrawlJob>, token: string): Promise<void> {
    const coordinator = new Coordinator(this.#parts, job.data)
    this.#coordinators.add(coordinator)
    if (this.#draining) coordinator.interrupt()
    try {
      if ((await coordinator.run(token)) === 'ended') return
    } finally {
      this.#coordinators.delete(coordinator)
    }
    await job.moveToWait(token)
    throw new WaitingError()
  }

  async #sweep(): Promise<void> {
    const { store, log } = this.#parts
    try {
      await store.sweep()
    } catch (error) {
      log('warn', 'old crawls were not removed', { error: (error as Error).message })
    }
  }

  async #repair(): Promise<void> {
    const { redis, store, build, log } = this.#parts
    const builds = async () => new Set((await this.#workers()).map((worker) => worker.build))
    // Fails while Redis is away; the next time is early enough.
    await repairQueues({ redis, store, queue: this.#crawlsQueue, build, builds, log }).catch((error: Error) =>
      log('debug', 'the queues of crawls were not repaired', { error: error.message }),
    )
  }
}
