/** The crawls of a fleet in Redis. */
import type { Redis } from 'ioredis'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { notFound } from '../../../engine/crawl/store/crawl-store.ts'
import type { CrawlRequest } from '../../../engine/crawl/store/journal.ts'
import { CrawlRecord } from '../../../engine/crawl/store/record.ts'
import { applyCommits } from '../../../engine/crawl/store/stored-crawl.ts'
import type { CrawlView } from '../../../engine/crawl/views.ts'
import { evictOldest } from '../../../engine/evict-oldest.ts'
import {
  allKey,
  buildsKey,
  crawlsQueue,
  endedChannel,
  eventsChannel,
  lockKey,
  metaKey,
  ownedKey,
  progressKey,
  runningKey,
  siteKey,
  visitsKey,
} from '../keys.ts'
import { actedPrefix } from '../pages/visit-job.ts'
import { chunkKeys, readingLogs } from './redis-logs.ts'
import { acceptCrawl, askToCancel, beginRun, endRun, moveRun } from './scripts.ts'

/** Maximum numbers of queued and running crawls; 0: unlimited. */
export interface CrawlQuota {
  readonly key: number
  readonly all: number
}

/** One run of a crawl, from its start or resumption to its end: a job in the queue. */
export interface CrawlRunId {
  readonly id: string
  readonly run: number
}

/** A run with the build whose workers it belongs to. */
export interface PlacedRun extends CrawlRunId {
  readonly build: string
}

/** Returns the ID of the job of a run. */
export const crawlJobId = ({ id, run }: CrawlRunId): string => `${id}-${run}`

export interface FleetCrawl extends CrawlView {
  readonly run: number
  readonly build: string
}

export class FleetCrawlStore {
  readonly #redis: Redis
  readonly #build: string
  /** Parts of crawls that have been read; their journals only grow, unless Redis loses its last writes. */
  readonly #records = new Map<string, Promise<CrawlRecord>>()

  /** `build` is that of this process; its workers get the runs that are accepted here. */
  constructor(redis: Redis, build: string) {
    this.#redis = redis
    this.#build = build
  }

  /** Accepts a new crawl. @throws BaxError for a reached quota */
  async add(id: string, request: CrawlRequest, quota: CrawlQuota): Promise<CrawlRunId> {
    return this.#accept(id, JSON.stringify(request), request.owner ?? null, quota)
  }

  /** Accepts another run of a crawl. @throws BaxError for a reached quota, `conflict` if it runs, `crawl_not_found` */
  async resume(record: CrawlRecord, quota: CrawlQuota): Promise<CrawlRunId> {
    return this.#accept(record.id, '', record.owner, quota)
  }

  async #accept(id: string, request: string, owner: string | null, quota: CrawlQuota): Promise<CrawlRunId> {
    const run = await acceptCrawl(
      this.#redis,
      metaKey(id),
      runningKey,
      ownedKey(owner),
      allKey,
      buildsKey,
      id,
      request,
      quota.key,
      quota.all,
      this.#build,
    )
    if (run === 'missing') throw notFound(id)
    if (run === 'running') throw new BaxError('conflict', 'the crawl is running')
    if (typeof run === 'string') throw quotaError(run, quota)
    return { id, run }
  }

  /** Returns a crawl as it is now. @throws BaxError `crawl_not_found` */
  async read(id: string): Promise<FleetCrawl> {
    const [request, journal, running, run, from, build] = await this.#redis.hmget(
      metaKey(id),
      'request',
      'journal',
      'running',
      'run',
      'from',
      'build',
    )
    if (!request) {
      this.#records.delete(id)
      throw notFound(id)
    }
    const logs = readingLogs(this.#redis, id)
    const bytes = Number(journal)
    // The first line of a resumed crawl says that it was resumed.
    const isWaiting = running !== null && journal === from
    const fromStart = () => applyCommits(emptyRecord(id, JSON.parse(request) as CrawlRequest), logs.journal, bytes)
    const continued = async (known: Promise<CrawlRecord>) => {
      const record = await applyCommits(await known, logs.journal, bytes)
      // After a crash, Redis may have lost commits that were read, and have others in their place.
      return record.bytes === bytes ? record : fromStart()
    }
    const known = this.#records.get(id)
    const reading = known ? continued(known) : fromStart()
    if (!known) evictOldest(this.#records, limits.crawl.fleet.records - 1)
    this.#records.set(id, reading)
    try {
      return {
        record: await reading,
        logs,
        isRunning: running !== null,
        isWaiting,
        run: Number(run),
        build: build ?? '',
      }
    } catch (error) {
      // The record may have been changed in part.
      if (this.#records.get(id) === reading) this.#records.delete(id)
      throw error
    }
  }

  /**
   * Reads a crawl into a record of the caller's own; `hasEnded` if the present run has nothing left but to end.
   * @throws BaxError `crawl_not_found`
   */
  async readFresh(id: string): Promise<{ readonly record: CrawlRecord; readonly hasEnded: boolean }> {
    const [request, journal, from] = await this.#redis.hmget(metaKey(id), 'request', 'journal', 'from')
    if (!request) throw notFound(id)
    const empty = emptyRecord(id, JSON.parse(request) as CrawlRequest)
    const record = await applyCommits(empty, readingLogs(this.#redis, id).journal, Number(journal))
    return { record, hasEnded: record.finished !== undefined && journal !== from }
  }

  /**
   * Returns a fencing token for coordinating a run; undefined if another worker or build has its job, or it has ended.
   * Without a token of the job's lock, nobody may have the job.
   */
  async begin({ id, run, build }: PlacedRun, token = ''): Promise<number | undefined> {
    const lock = lockOf({ id, run, build })
    return (await beginRun(this.#redis, metaKey(id), runningKey, lock, id, run, build, token)) ?? undefined
  }

  /** Takes a run over from another build; returns false if one of its workers has the job, or it is gone. */
  async adopt(run: PlacedRun): Promise<boolean> {
    const keys = [metaKey(run.id), runningKey, lockOf(run), visitsKey(run.id), buildsKey] as const
    return (await moveRun(this.#redis, ...keys, run.id, run.run, run.build, this.#build, actedPrefix)) === 1
  }

  /** Ends a run, unless another coordinator has taken over. */
  async end({ id, owner, finished }: CrawlRecord, fence: number): Promise<void> {
    const keys = [metaKey(id), runningKey, ownedKey(owner), visitsKey(id), siteKey(id), progressKey(id)]
    const isComplete = finished?.status === 'completed' ? '1' : '0'
    await endRun(this.#redis, ...keys, String(fence), id, eventsChannel(id), endedChannel, isComplete)
  }

  /** Asks the coordinator of a crawl to cancel it; returns whether the crawl runs. */
  async askToCancel(id: string): Promise<boolean> {
    return (await askToCancel(this.#redis, metaKey(id), runningKey, id, eventsChannel(id))) === 1
  }

  async isCancelled(id: string): Promise<boolean> {
    return (await this.#redis.hexists(metaKey(id), 'cancel')) === 1
  }

  ids(): Promise<string[]> {
    return this.#redis.zrange(allKey, '0', '-1')
  }

  /** Returns the runs that are queued or running. */
  async running(): Promise<PlacedRun[]> {
    const ids = await this.#redis.smembers(runningKey)
    const all = await Promise.all(ids.map((id) => this.#redis.hmget(metaKey(id), 'run', 'build')))
    return ids.flatMap((id, at) => {
      const [run, build] = all[at]!
      return run ? [{ id, run: Number(run), build: build ?? '' }] : []
    })
  }

  /** Removes crawls whose last commit is too old, unless they run. */
  async sweep(now = Date.now()): Promise<void> {
    for (const id of await this.#redis.zrangebyscore(allKey, 0, now - limits.crawl.keptMs))
      if ((await this.#redis.sismember(runningKey, id)) === 0) await this.remove(id)
  }

  /** Removes a crawl that was accepted, and has no job. */
  async withdraw(id: string, owner: string | null): Promise<void> {
    await this.#redis.srem(runningKey, id)
    await this.#redis.srem(ownedKey(owner), id)
    await this.remove(id)
  }

  async remove(id: string): Promise<void> {
    const [journal, pages] = await this.#redis.hmget(metaKey(id), 'journal', 'pages')
    const parts = chunkKeys(id, { journal: Number(journal), pages: Number(pages) })
    await this.#redis.unlink(metaKey(id), visitsKey(id), siteKey(id), progressKey(id), ...parts)
    await this.#redis.zrem(allKey, id)
    this.#records.delete(id)
  }
}

const lockOf = (run: PlacedRun): string => lockKey(crawlsQueue(run.build), crawlJobId(run))

const emptyRecord = (id: string, { input, created_at, owner = null }: CrawlRequest): CrawlRecord =>
  new CrawlRecord({ id, input, owner }, created_at)

function quotaError(reached: 'key' | 'all', { key }: CrawlQuota): BaxError {
  const { retryAfterSecs } = limits.overload
  if (reached === 'all')
    return new BaxError('no_capacity', 'the server has reached its limit of crawls', { retryAfterSecs })
  return new BaxError('rate_limited', `the limit of ${key} crawls per key is reached`, {
    hint: 'wait for a crawl to end, or cancel one',
    details: { limit: 'crawls', most: key },
    retryAfterSecs,
  })
}
