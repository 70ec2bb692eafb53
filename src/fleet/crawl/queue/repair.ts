/**
 * Repairs the queues of crawls: after a gateway was killed between accepting a crawl and adding its job, and after the
 * last worker of a build has ended, whose crawls continue on the workers of another build.
 */
import type { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Log } from '../../../core/config/config.ts'
import { limits } from '../../../core/limits/limits.ts'
import { buildsKey, repairedKey } from '../keys.ts'
import { crawlJobId, type FleetCrawlStore, type PlacedRun } from '../store/store.ts'
import { addCrawl, type CrawlJob, openCrawlsQueue, openPagesQueue } from './queues.ts'

export interface RepairFacts {
  readonly redis: Redis
  readonly store: FleetCrawlStore
  /** Crawls of this build. */
  readonly queue: Queue<CrawlJob>
  readonly build: string
  /** Returns the builds of the workers that accept work. */
  readonly builds: () => Promise<ReadonlySet<string>>
  readonly log: Log
}

/** Repairs the queues, unless another worker of this build has done so in the last seconds. */
export async function repairQueues(facts: RepairFacts): Promise<void> {
  const { redis, store, build } = facts
  if ((await redis.set(repairedKey(build), 1, 'PX', limits.crawl.fleet.repairMs, 'NX')) === null) return
  const ready = await facts.builds()
  // Another build may not take over from this one.
  if (!ready.has(build)) return
  const kept = new Set<string>()
  for (const run of await store.running()) {
    const isOwn = run.build === build || (!ready.has(run.build) && (await adopt(run, facts)))
    if (isOwn) await addMissing(run, facts)
    else kept.add(run.build)
  }
  for (const other of await redis.smembers(buildsKey))
    if (!ready.has(other) && !kept.has(other)) await removeQueues(other, facts)
}

async function adopt(run: PlacedRun, { redis, store, log }: RepairFacts): Promise<boolean> {
  if (!(await store.adopt(run))) return false
  log('info', 'a crawl continues on another build', { crawl: run.id, before: run.build })
  const queue = openCrawlsQueue(redis, run.build)
  await queue.remove(crawlJobId(run)).finally(() => queue.close())
  return true
}

/** Adds the job of an accepted crawl that has none; a job that is added meanwhile has the same ID. */
async function addMissing({ id, run }: PlacedRun, { store, queue }: RepairFacts): Promise<void> {
  if (await queue.getJob(crawlJobId({ id, run }))) return
  const { record, isRunning, run: current } = await store.read(id)
  if (isRunning && current === run) await addCrawl(queue, { id, run, activeMs: record.activeMs(), owner: record.owner })
}

/** Removes the queues of a build that has neither workers nor crawls; its gateways or workers may return later. */
async function removeQueues(build: string, { redis }: RepairFacts): Promise<void> {
  for (const queue of [openCrawlsQueue(redis, build), openPagesQueue(redis, build)])
    await queue.obliterate({ force: true }).finally(() => queue.close())
  await redis.srem(buildsKey, build)
}
