/** The queues of crawls and of their pages. */
import { Queue, type WorkerOptions } from 'bullmq'
import type { Redis } from 'ioredis'
import { limits } from '../../../core/limits/limits.ts'
import type { Origin } from '../../../core/process/turns.ts'
import { crawlsQueue, pagesQueue, queuePrefix } from '../keys.ts'
import type { VisitJob } from '../pages/visit-job.ts'
import { type CrawlRunId, crawlJobId } from '../store/store.ts'

/** A run of a crawl; `activeMs` is the running time before it, which does not count towards its timeout. */
export interface CrawlJob extends CrawlRunId {
  readonly activeMs: number
  /** Key that the crawl belongs to. */
  readonly owner: Origin
}

/** Events that BullMQ keeps of a queue; nothing reads them. */
const keptEvents = 100

const optionsOf = (redis: Redis) => ({
  connection: redis,
  prefix: queuePrefix,
  defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  streams: { events: { maxLen: keptEvents } },
})

export const openPagesQueue = (redis: Redis, build: string): Queue<VisitJob> => openQueue(pagesQueue(build), redis)
export const openCrawlsQueue = (redis: Redis, build: string): Queue<CrawlJob> => openQueue(crawlsQueue(build), redis)

function openQueue<Data>(name: string, redis: Redis): Queue<Data> {
  const queue = new Queue(name, optionsOf(redis))
  // The connection itself reports that it is lost.
  queue.on('error', () => {})
  return queue as Queue<Data>
}

/** Adds the job of a run, unless it is in the queue. */
export async function addCrawl(queue: Queue<CrawlJob>, job: CrawlJob): Promise<void> {
  await queue.add('crawl', job, { jobId: crawlJobId(job) })
}

export interface QueueTiming {
  /** Time without a sign of life after which the job of a worker goes to another one. */
  readonly lockMs?: number
  /** Interval of checks for such jobs. */
  readonly stalledMs?: number
}

/** Returns the options of a worker on a queue. */
export const workerOptions = (
  redis: Redis,
  { lockMs = limits.crawl.fleet.lockMs, stalledMs = limits.crawl.fleet.stalledMs }: QueueTiming,
): WorkerOptions => ({
  connection: redis,
  prefix: queuePrefix,
  lockDuration: lockMs,
  stalledInterval: stalledMs,
  autorun: false,
})
