/** A worker in its fleet: its lease, and what it takes from the queues. */
import type { Redis } from 'ioredis'
import type { KeyRing } from '../../core/access/keys.ts'
import type { Log } from '../../core/config/config.ts'
import type { Diagnostics, Sessions } from '../../core/engine.ts'
import type { WorkerIdentity } from '../../core/fleet.ts'
import type { PageScraper } from '../../engine/scrape/scraper.ts'
import { CrawlWorker } from '../crawl/queue/worker.ts'
import { type FleetDirectory, openDirectory } from '../directory/directory.ts'
import { WorkerLease } from '../directory/worker-lease.ts'
import type { FleetMember } from '../provision/store.ts'
import type { Taker } from '../provision/taker.ts'
import { startTaking } from '../provision/taking.ts'

export interface MembershipOptions {
  /** A connection that others may share; it is not closed. */
  readonly redis: Redis
  readonly member: FleetMember
  readonly worker: Omit<WorkerIdentity, 'id' | 'started_at'>
  readonly sessions: Sessions
  readonly diagnostics: Diagnostics
  readonly scraper: () => Promise<PageScraper>
  readonly keys: KeyRing
  readonly log: Log
  /** Returns the number of scrapes and searches that are running. */
  readonly scrapes: () => number
  /** Ends everything that the worker holds. */
  readonly endAll: () => Promise<void>
  /** Called when the worker is asked to drain. */
  readonly onDrain: () => void
}

export class Membership {
  readonly lease: WorkerLease
  readonly #taker: Taker
  /** Absent without slots for pages. */
  readonly #crawls: CrawlWorker | undefined
  readonly #directory: FleetDirectory

  private constructor(lease: WorkerLease, taker: Taker, crawls: CrawlWorker | undefined, directory: FleetDirectory) {
    this.lease = lease
    this.#taker = taker
    this.#crawls = crawls
    this.#directory = directory
  }

  /** Registers a worker, which then takes work. @throws BaxError `fleet_unavailable` */
  static async begin(options: MembershipOptions): Promise<Membership> {
    const { redis, member, worker, sessions, diagnostics, scraper, keys, log, scrapes, endAll, onDrain } = options
    const { pages, version } = worker
    const directory = openDirectory({ redis, build: member.build, version, reapMs: 0 })
    let crawls: CrawlWorker | undefined
    const lease = await WorkerLease.start({
      redis,
      log,
      worker,
      load: () => ({ busy_pages: scrapes() + (crawls?.busy ?? 0), memory_bytes: process.memoryUsage.rss() }),
      onLost: endAll,
      onDrain: () => {
        log('info', 'this worker gets no new work')
        onDrain()
        void crawls?.drain()
      },
    })
    const workers = async () => (await directory.workers()).filter(({ state }) => state === 'ready')
    const taker = await startTaking({ redis, member, version, lease, sessions, diagnostics, log })
    if (pages > 0) crawls = await CrawlWorker.start({ redis, build: member.build, scraper, keys, log, pages, workers })
    log('info', 'registered', { worker_id: lease.id, url: worker.url })
    return new Membership(lease, taker, crawls, directory)
  }

  /** Tells the queues that a slot may be free. */
  wake(): void {
    this.#taker.wake()
  }

  /** Takes nothing new, and resolves once its pages are finished and its crawls have gone to other workers. */
  async drain(): Promise<void> {
    await this.lease.drain()
    // Sessions under way are created within the limit of the drain, or given to another worker.
    void this.#taker.close()
    await this.#crawls?.drain()
  }

  /** Deregisters. What the worker still holds counts as lost. */
  async end(): Promise<void> {
    await Promise.all([this.#taker.close(), this.#crawls?.close()])
    this.#directory.close()
    await this.lease.stop()
  }
}
