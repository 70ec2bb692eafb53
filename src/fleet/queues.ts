/** Lengths of BullMQ's queues. */
import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import type { FleetQueue } from '../core/shapes/fleet/status.ts'
import { buildsKey, crawlsQueue, pagesQueue, queuePrefix } from './crawl/keys.ts'
import { ask } from './redis/ask.ts'

/** The queues of crawls and pages, by what their workers do. */
const kinds = { crawls: crawlsQueue, pages: pagesQueue }

/** Reads the state of the queues of crawls and pages, over a connection that may be shared. */
export class JobQueues {
  readonly #redis: Redis
  readonly #queues = new Map<string, Queue>()

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** Returns the state of the queues of one build. */
  of(build: string): Promise<FleetQueue[]> {
    return ask(this.#redis, () => this.#read([build]))
  }

  /** Returns the state of the queues of all builds together: during an upgrade there are several. */
  all(): Promise<FleetQueue[]> {
    return ask(this.#redis, async () => this.#read(await this.#redis.smembers(buildsKey)))
  }

  #read(builds: readonly string[]): Promise<FleetQueue[]> {
    return Promise.all(
      Object.entries(kinds).map(async ([queue, nameOf]) => {
        const states = await Promise.all(builds.map((build) => readQueue(this.#queue(nameOf(build)))))
        return states.reduce(joined, { queue, waiting: 0, active: 0, delayed: 0, failed: 0, oldest_secs: null })
      }),
    )
  }

  #queue(name: string): Queue {
    const known = this.#queues.get(name)
    if (known) return known
    const queue = new Queue(name, { connection: this.#redis, prefix: queuePrefix, skipMetasUpdate: true })
    // Those of the connection, which reports them itself.
    queue.on('error', () => {})
    this.#queues.set(name, queue)
    return queue
  }
}

type QueueState = Omit<FleetQueue, 'queue'>

async function readQueue(queue: Queue): Promise<QueueState> {
  const [counts, [oldest]] = await Promise.all([
    queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed'),
    queue.getJobs(['waiting', 'prioritized'], 0, 0, true),
  ])
  const count = (name: string) => counts[name] ?? 0
  return {
    waiting: count('waiting') + count('prioritized'),
    active: count('active'),
    delayed: count('delayed'),
    failed: count('failed'),
    oldest_secs: oldest ? Math.max(0, Math.round((Date.now() - oldest.timestamp) / 100) / 10) : null,
  }
}

const joined = (sum: FleetQueue, one: QueueState): FleetQueue => ({
  queue: sum.queue,
  waiting: sum.waiting + one.waiting,
  active: sum.active + one.active,
  delayed: sum.delayed + one.delayed,
  failed: sum.failed + one.failed,
  oldest_secs: one.oldest_secs === null ? sum.oldest_secs : Math.max(sum.oldest_secs ?? 0, one.oldest_secs),
})
