/**
 * Keeps the crawls of a fleet in Redis; workers do the work. Maps are not part of it: they run on one worker, to which the
 * gateway forwards them.
 */
import type { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { type Caller, canSee } from '../../core/access/caller.ts'
import { allowanceOf, type Allowances } from '../../core/access/quota.ts'
import type { Log } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { newId } from '../../core/ids.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Call } from '../../core/operation/call.ts'
import type { CrawlInput, CrawlStatus } from '../../core/shapes/crawl.ts'
import type { CrawlHost, CrawlProgress, ListedCrawl, OpenCrawl, StartedCrawl } from '../../engine/crawl/crawls.ts'
import { finishLine, startLines } from '../../engine/crawl/lines.ts'
import { type CrawlPlan, planCrawl } from '../../engine/crawl/plan.ts'
import { notFound } from '../../engine/crawl/store/crawl-store.ts'
import { Journal, type JournalEntry } from '../../engine/crawl/store/journal.ts'
import { assertResumable } from '../../engine/crawl/views.ts'
import type { Identities } from '../../engine/scrape/identity/identities.ts'
import { ask } from '../redis/ask.ts'
import { Subscriptions } from '../redis/subscriptions.ts'
import { currentOf, RemoteCrawl, type ReportedProgress } from './followed.ts'
import { progressKey } from './keys.ts'
import { addCrawl, type CrawlJob, openCrawlsQueue } from './queue/queues.ts'
import { WritingLogs } from './store/redis-logs.ts'
import {
  type CrawlQuota,
  type CrawlRunId,
  crawlJobId,
  type FleetCrawl,
  FleetCrawlStore,
  type PlacedRun,
} from './store/store.ts'

export interface FleetCrawlFacts {
  /** A connection that others may share; it is not closed. */
  readonly redis: Redis
  /** Build of this gateway, whose workers get its crawls. */
  readonly build: string
  readonly log: Log
  readonly mostPages: number
  /** Limits of callers; unlimited when absent. */
  readonly allowances?: Allowances
  /** Checks a crawl before it is accepted. @throws BaxError */
  readonly check: (plan: CrawlPlan, signal: AbortSignal) => Promise<void>
  /** Encrypts the identities of crawls with a key that all workers have. */
  readonly identities: () => Promise<Pick<Identities, 'seal'>>
  /** Returns the number of workers; each adds the crawls of a single server to the limit of all callers. */
  readonly workers: () => Promise<number>
}

export class FleetCrawlHost implements CrawlHost<FleetCrawl> {
  readonly #facts: FleetCrawlFacts
  readonly #store: FleetCrawlStore
  readonly #queue: Queue<CrawlJob>
  readonly #subscriptions: Subscriptions
  readonly #sweeper: NodeJS.Timeout

  constructor(facts: FleetCrawlFacts) {
    const { redis, build } = facts
    this.#facts = facts
    this.#store = new FleetCrawlStore(redis, build)
    this.#queue = openCrawlsQueue(redis, build)
    this.#subscriptions = new Subscriptions(redis)
    this.#sweeper = setInterval(() => void this.#sweep(), limits.crawl.sweepMs).unref()
    void this.#sweep()
  }

  get mostPages(): number {
    return this.#facts.mostPages
  }

  /** Limits how long a caller waits for Redis. @throws BaxError `fleet_unavailable` */
  ask<T>(work: () => Promise<T>): Promise<T> {
    return ask(this.#facts.redis, work, limits.crawl.fleet.answerMs)
  }

  async start(given: CrawlInput, { caller, signal: aborted }: Call): Promise<StartedCrawl> {
    await this.#facts.check(planCrawl(given, caller.keyId), aborted)
    const { input } = await (await this.#facts.identities()).seal(given, caller)
    const id = newId('crl')
    const request = { input, created_at: new Date().toISOString(), owner: caller.keyId }
    await this.ask(async () => {
      const run = await this.#store.add(id, request, await this.#quotaOf(caller))
      try {
        await this.#add(run, { activeMs: 0, owner: caller.keyId })
      } catch (error) {
        // A full Redis may have stored only the crawl, which must not run after the error.
        await this.#store.withdraw(id, caller.keyId)
        throw error
      }
    })
    const ended = (signal: AbortSignal) =>
      this.#following(id, async (remote) => {
        const cancel = () => void this.#store.askToCancel(id).catch(() => {})
        if (signal.aborted) cancel()
        signal.addEventListener('abort', cancel, { once: true })
        await remote.ended().finally(() => signal.removeEventListener('abort', cancel))
        return remote.crawl
      })
    return { id, ended }
  }

  async find(id: string, caller: Caller): Promise<FleetCrawl> {
    const crawl = await this.#store.read(id)
    if (canSee(caller, crawl.record.owner)) return crawl
    throw notFound(id)
  }

  async all(caller: Caller): Promise<{ crawls: FleetCrawl[] }> {
    const found = await Promise.all((await this.#store.ids()).map((id) => this.#tryRead(id)))
    const crawls = found
      .filter((crawl) => crawl !== undefined)
      .filter(({ record }) => canSee(caller, record.owner))
      .toSorted((a, b) => b.record.createdAt.localeCompare(a.record.createdAt))
    return { crawls }
  }

  async progressOf(crawls: readonly ListedCrawl[]): Promise<CrawlProgress[]> {
    const running = crawls.filter(({ isRunning }) => isRunning)
    const texts = await Promise.all(running.map(({ record }) => this.#facts.redis.get(progressKey(record.id))))
    return running.map((crawl, at) => {
      const reported = JSON.parse(texts[at] ?? '{}') as Partial<ReportedProgress>
      return { current: currentOf(crawl, reported), queued: crawl.record.queued }
    })
  }

  async stop({ record: { id }, run, build }: FleetCrawl): Promise<CrawlStatus | undefined> {
    if (!(await this.ask(() => this.#store.askToCancel(id)))) return undefined
    return this.#following(id, async (remote) => {
      await this.ask(() => this.#cancelWaiting({ id, run, build }))
      await remote.ended()
      return remote.crawl.record.status(false)
    })
  }

  async resume({ record, isRunning }: FleetCrawl, caller: Caller): Promise<void> {
    if (isRunning) throw new BaxError('conflict', 'the crawl is running')
    assertResumable(record, false)
    const { owner } = record
    await this.#add(await this.#store.resume(record, await this.#quotaOf(caller)), {
      activeMs: record.activeMs(),
      owner,
    })
  }

  async open(id: string, caller: Caller): Promise<OpenCrawl> {
    const { logs, record, isRunning } = await this.ask(() => this.find(id, caller))
    const { bytes, seq } = record
    if (!isRunning) return { logs, bytes, seq }
    const live = await this.ask(() => RemoteCrawl.open(this.#followFacts, id))
    return { logs, bytes, seq, live, close: () => live.close() }
  }

  /** Leaves the crawls to the workers. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper)
    this.#subscriptions.close()
    await this.#queue.close()
  }

  get #followFacts() {
    return { redis: this.#facts.redis, store: this.#store, subscriptions: this.#subscriptions }
  }

  async #following<T>(id: string, work: (remote: RemoteCrawl) => Promise<T>): Promise<T> {
    const remote = await this.ask(() => RemoteCrawl.open(this.#followFacts, id))
    try {
      return await work(remote)
    } finally {
      remote.close()
    }
  }

  #add(run: CrawlRunId, facts: Omit<CrawlJob, keyof CrawlRunId>): Promise<void> {
    return addCrawl(this.#queue, { ...run, ...facts })
  }

  /** Ends a cancelled crawl that no worker has taken yet, or whose worker was lost. */
  async #cancelWaiting(run: PlacedRun): Promise<void> {
    const queue = openCrawlsQueue(this.#facts.redis, run.build)
    const removed = await queue.remove(crawlJobId(run)).finally(() => queue.close())
    // If a worker has the job, it cancels the crawl itself.
    if (removed === 0) return
    const fence = await this.#store.begin(run)
    if (fence === undefined) return
    const { redis, log } = this.#facts
    const { record, hasEnded } = await this.#store.readFresh(run.id)
    if (hasEnded) return this.#store.end(record, fence)
    const logs = new WritingLogs({
      redis,
      id: run.id,
      fence,
      log,
      signal: AbortSignal.timeout(limits.crawl.fleet.answerMs),
    })
    const journal = await Journal.reopen(logs.journal, record.bytes, record.seq)
    const write = async (lines: readonly JournalEntry[]) => {
      for (const placed of await journal.commit(lines)) record.apply(placed)
    }
    if (record.seq === 0) await write(startLines(record, planCrawl(record.input)))
    await write([finishLine(record, 'cancelled')])
    await this.#store.end(record, fence)
  }

  async #quotaOf(caller: Caller): Promise<CrawlQuota> {
    const { allowances, workers } = this.#facts
    if (!allowances) return { key: 0, all: 0 }
    const all = limits.overload.crawls * Math.max(1, await workers())
    return { key: allowanceOf(caller, allowances).crawls, all }
  }

  /** Reads a crawl; undefined if it was removed meanwhile. */
  async #tryRead(id: string): Promise<FleetCrawl | undefined> {
    try {
      return await this.#store.read(id)
    } catch (error) {
      if ((error as BaxError).code === 'crawl_not_found') return undefined
      throw error
    }
  }

  async #sweep(): Promise<void> {
    try {
      await this.#store.sweep()
    } catch (error) {
      this.#facts.log('warn', 'old crawls were not removed', { error: (error as Error).message })
    }
  }
}
