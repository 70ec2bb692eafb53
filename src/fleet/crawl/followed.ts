/** A running crawl, followed from any process through Redis. */
import type { Redis } from 'ioredis'
import { limits } from '../../core/limits/limits.ts'
import type { CrawlEventData } from '../../core/shapes/crawl.ts'
import type { FollowedCrawl } from '../../engine/crawl/feed.ts'
import type { Subscriptions } from '../redis/subscriptions.ts'
import { eventsChannel, progressChannel, progressKey } from './keys.ts'
import type { FleetCrawl, FleetCrawlStore } from './store/store.ts'

/** Progress as a coordinator reports it, with the last line that it had written. */
export interface ReportedProgress extends Progress {
  readonly seq: number
}

type Progress = CrawlEventData['crawl.progress']

interface FollowFacts {
  readonly redis: Redis
  readonly store: FleetCrawlStore
  readonly subscriptions: Subscriptions
}

/** Returns the pages that are visited; the journal may be newer than the report. */
export const currentOf = ({ record }: Pick<FleetCrawl, 'record'>, reported: Partial<ReportedProgress> | undefined) =>
  record.unfinishedOf(reported?.current ?? [], reported?.seq ?? 0)

export class RemoteCrawl implements FollowedCrawl {
  readonly #facts: FollowFacts
  readonly #id: string
  #crawl: FleetCrawl
  #progress: ReportedProgress | undefined
  readonly #listeners = new Set<() => void>()
  readonly #stops: (() => void)[] = []
  #reading: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  private constructor(facts: FollowFacts, crawl: FleetCrawl) {
    this.#facts = facts
    this.#id = crawl.record.id
    this.#crawl = crawl
  }

  /** Follows a crawl until `close`. @throws BaxError `crawl_not_found` */
  static async open(facts: FollowFacts, id: string): Promise<RemoteCrawl> {
    const { store, subscriptions, redis } = facts
    const remote = new RemoteCrawl(facts, await store.read(id))
    const changed = () => void remote.refresh()
    const progressed = (text: string | undefined) =>
      text !== undefined && (remote.#progress = JSON.parse(text) as ReportedProgress)
    remote.#stops.push(
      await subscriptions.listen(eventsChannel(id), changed),
      await subscriptions.listen(progressChannel(id), progressed),
    )
    // Messages may be lost with the connection.
    const timer = setInterval(changed, limits.crawl.fleet.checkMs)
    remote.#stops.push(() => clearInterval(timer))
    progressed((await redis.get(progressKey(id))) ?? undefined)
    await remote.refresh()
    return remote
  }

  get crawl(): FleetCrawl {
    return this.#crawl
  }

  isRunning(): boolean {
    return this.#crawl.isRunning
  }

  bytes(): number {
    return this.#crawl.record.bytes
  }

  /** Returns the latest progress; until a coordinator has reported any, what the journal has. */
  progress(): Progress {
    const { record } = this.#crawl
    const counts = { ...record.counts(), queued: record.queued, elapsed_ms: record.activeMs(Date.now()) }
    const { seq: _, current: __, ...reportedCounts } = this.#progress ?? {}
    const current = currentOf(this.#crawl, this.#progress)
    return { concurrency: 0, pages_per_second: 0, ...reportedCounts, current, ...counts }
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves when the crawl does not run any more. @throws the signal's reason */
  async ended(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    let check!: () => void
    let abort!: () => void
    try {
      await new Promise<void>((resolve, reject) => {
        check = () => this.isRunning() || resolve()
        abort = () => reject(signal!.reason as Error)
        signal?.addEventListener('abort', abort, { once: true })
        this.#listeners.add(check)
        check()
      })
    } finally {
      this.#listeners.delete(check)
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Reads the crawl again; all calls during a read share the next one. */
  refresh(): Promise<void> {
    return (this.#next ??= this.#reading.then(() => {
      this.#next = undefined
      return (this.#reading = this.#read())
    }))
  }

  close(): void {
    for (const stop of this.#stops.splice(0)) stop()
  }

  async #read(): Promise<void> {
    // Fails while Redis is away; the next refresh is early enough.
    const crawl = await this.#facts.store.read(this.#id).catch(() => undefined)
    if (crawl) this.#crawl = crawl
    for (const listener of this.#listeners) listener()
  }
}
