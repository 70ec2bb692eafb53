/** A worker in its fleet: its lease, and what it takes from the queues. */
import type { Redis } from 'ioredis'
import type { KeyRing } from '../../core/access/keys.ts'
import type { Log } from '../../core/config/config.ts'
import type { Diagnostics, Sessions } from '../../core/engine.ts'
import type { BaxError } from '../../core/errors/errors.ts'
import type { WorkerIdentity, WorkerLabel } from '../../core/fleet.ts'
import type { PageScraper } from '../../engine/scrape/scraper.ts'
import { CrawlWorker } from '../crawl/queue/worker.ts'
import { type FleetDirectory, openDirectory } from '../directory/directory.ts'
import { WorkerLease } from '../directory/worker-lease.ts'
import type { FleetMember } from '../provision/store.ts'
import type { Taker } from '../provision/taker.ts'
import { startTaking } from '../provision/taking.ts'
import { Capabilities, type Checks } from './capabilities.ts'

export interface MembershipOptions {
  /** A connection that others may share; it is not closed. */
  readonly redis: Redis
  readonly member: FleetMember
  readonly worker: Omit<WorkerIdentity, 'id' | 'started_at'>
  readonly sessions: Sessions
  readonly diagnostics: Diagnostics
  readonly checks: Checks
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

interface MembershipParts {
  readonly lease: WorkerLease
  readonly taker: Taker
  readonly crawls: CrawlWorker | undefined
  readonly directory: FleetDirectory
  readonly capabilities: Capabilities
}

export class Membership {
  readonly lease: WorkerLease
  readonly #taker: Taker
  /** Absent without slots for pages. */
  readonly #crawls: CrawlWorker | undefined
  readonly #directory: FleetDirectory
  readonly #capabilities: Capabilities

  private constructor(parts: MembershipParts) {
    this.lease = parts.lease
    this.#taker = parts.taker
    this.#crawls = parts.crawls
    this.#directory = parts.directory
    this.#capabilities = parts.capabilities
  }

  /** Registers a worker, which then takes work that it can do. @throws BaxError `fleet_unavailable` */
  static async begin(options: MembershipOptions): Promise<Membership> {
    const { redis, member, worker, sessions, diagnostics, checks, scraper, keys, log, scrapes, endAll, onDrain } =
      options
    const { labels, pages, version } = worker
    const directory = openDirectory({ redis, build: member.build, version, reapMs: 0 })
    let crawls: CrawlWorker | undefined
    let lease: WorkerLease | undefined
    let taker: Taker | undefined
    const onChange = () => {
      lease?.report()
      taker?.wake()
      crawls?.visitPages(can('render'))
    }
    const capabilities = await Capabilities.start({ labels, checks, log, onChange })
    const can = (label: WorkerLabel) => capabilities.works().labels.includes(label)
    lease = await WorkerLease.start({
      redis,
      log,
      worker,
      capabilities: () => capabilities.works(),
      load: () => ({ busy_pages: scrapes() + (crawls?.busy ?? 0), memory_bytes: process.memoryUsage.rss() }),
      onLost: endAll,
      onDrain: () => {
        log('info', 'this worker gets no new work')
        onDrain()
        void crawls?.drain()
      },
    })
    const { id } = lease
    const workers = async () => (await directory.workers()).filter(({ state }) => state === 'ready')
    const failed = (error: BaxError) => capabilities.recheck(error)
    taker = await startTaking({ redis, member, version, lease, can, failed, sessions, diagnostics, log })
    if (pages > 0)
      crawls = await CrawlWorker.start({
        redis,
        build: member.build,
        scraper,
        keys,
        log,
        pages,
        workers,
        onUnavailable: failed,
        visits: can('render'),
      })
    // It may have changed meanwhile.
    crawls?.visitPages(can('render'))
    log('info', 'registered', { worker_id: id, url: worker.url })
    return new Membership({ lease, taker, crawls, directory, capabilities })
  }

  /** Called when the browser or Docker of the worker is unavailable to a request. */
  failed(error: BaxError): void {
    void this.#capabilities.recheck(error)
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
    this.#capabilities.close()
    await Promise.all([this.#taker.close(), this.#crawls?.close()])
    this.#directory.close()
    await this.lease.stop()
  }
}
