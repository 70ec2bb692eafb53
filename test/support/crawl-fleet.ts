/** A gateway and workers for crawls on a real Redis, in this process or in others that can be killed. */
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { expect } from 'vitest'
import type { KeyRing } from '../../src/core/access/keys.ts'
import type { Allowances } from '../../src/core/access/quota.ts'
import { type CrawlAnswer, crawlInput, type CrawlState } from '../../src/core/shapes/crawl.ts'
import { createEngine } from '../../src/engine/index.ts'
import { CrawlService } from '../../src/engine/crawl/crawls.ts'
import { FleetCrawlHost } from '../../src/fleet/crawl/host.ts'
import type { FleetCrawl } from '../../src/fleet/crawl/store/store.ts'
import type { QueueTiming } from '../../src/fleet/crawl/queue/queues.ts'
import { CrawlWorker } from '../../src/fleet/crawl/queue/worker.ts'
import { connectRedis } from '../../src/fleet/redis/connect.ts'
import { callOf } from './call.ts'
import { expectConsistentCounts } from './crawl.ts'
import { makeHostProgram } from './host-process.ts'
import type { TestRedis } from './redis.ts'
import { waitUntil } from './wait.ts'

/** Checks that a crawl has every page once, in the order of an undisturbed one. */
export function expectWhole(state: CrawlState, alone: CrawlAnswer): void {
  const { completed } = alone
  // A page that is missing is named with its reason.
  expect(state).toMatchObject({ status: 'completed', errors: [], skipped: [], robots_blocked: [], completed })
  expectConsistentCounts(state as never)
  expect(comparable(state)).toMatchObject(comparable(alone))
}

/** Locks that expire soon, so that tests of killed workers are fast: on a busy machine also those of living workers expire. */
export const shortLocks: QueueTiming = { lockMs: 1000, stalledMs: 250 }
const pagesPerWorker = 4
const build = 'source'

export interface CrawlFleet {
  readonly crawls: CrawlService<FleetCrawl>
  /** The engine whose scraper all workers in this process share, and that runs crawls alone for comparison. */
  readonly engine: ReturnType<typeof createEngine>
  /** State folder of that engine; workers in other processes have another one. */
  readonly stateDir: string
  /** Starts workers in this process. */
  addWorkers(count: number): Promise<CrawlWorker[]>
  /** Starts a worker in a process of its own. */
  addProcess(): Promise<ChildProcess>
  /** Ends the workers in this process. */
  removeWorkers(): Promise<void>
  /** Runs a crawl to its end, on the fleet or on one engine. */
  crawl(input: Record<string, unknown>): Promise<CrawlAnswer>
  crawlAlone(input: Record<string, unknown>): Promise<CrawlAnswer>
  start(input: Record<string, unknown>): Promise<string>
  whole(id: string): Promise<CrawlState>
  /** Resolves when a crawl does not run any more. */
  ended(id: string): Promise<CrawlState>
  /** Checks that neither the queues nor the crawls have left anything for work that has ended. */
  expectNothingLeft(): Promise<void>
  close(): Promise<void>
}

interface FleetOptions {
  /** Timing of the workers, by default the usual one. */
  readonly timing?: QueueTiming
  /** Build of the gateway, if it is not that of the workers. */
  readonly gatewayBuild?: string
  readonly allowances?: Allowances
  readonly keys?: KeyRing
  /** Returns the number of workers by which the limit of crawls is multiplied. */
  readonly workerCount?: () => number
}

export async function openCrawlFleet({ url, client }: TestRedis, options: FleetOptions = {}): Promise<CrawlFleet> {
  const stateDir = await mkdtemp(join(tmpdir(), 'bax-test-fleet-'))
  const log = () => {}
  const engine = createEngine({
    home: 'embedded',
    stateDir,
    cacheDir: join(stateDir, 'cache'),
    display: false,
    writeAnywhere: true,
    log,
  })
  const { allowances, keys = engine.keys, gatewayBuild = build, workerCount = () => 1, timing = {} } = options
  const program = await makeHostProgram(workerSource(timing))
  const redis = await connectRedis({ url, log })
  const crawls = new CrawlService(
    new FleetCrawlHost({
      redis,
      build: gatewayBuild,
      log,
      mostPages: Infinity,
      check: async () => {},
      identities: async () => (await engine.extractor.load()).identities,
      workers: async () => workerCount(),
      ...(allowances && { allowances }),
    }),
  )
  const workers: CrawlWorker[] = []
  const connections: Redis[] = [redis]
  let processes = 0
  const call = callOf()
  const whole = async (id: string) => crawls.get({ id, skip: 0, limit: 100_000 }, call)
  const fleet: CrawlFleet = {
    crawls,
    engine,
    stateDir,
    addWorkers: async (count) => {
      const added = await Promise.all(
        Array.from({ length: count }, async () => {
          const own = await connectRedis({ url, log })
          connections.push(own)
          return CrawlWorker.start({
            redis: own,
            scraper: () => engine.extractor.load(),
            keys,
            log,
            pages: pagesPerWorker,
            build,
            workers: async () => [{ build, pages: (workers.length + processes) * pagesPerWorker }],
            ...timing,
          })
        }),
      )
      workers.push(...added)
      return added
    },
    addProcess: async () => {
      processes++
      const { process } = await program.start<string>([url])
      process.once('exit', () => processes--)
      return process
    },
    removeWorkers: async () => {
      await Promise.all(workers.splice(0).map((worker) => worker.close()))
    },
    crawl: async (input) => (await crawls.crawl(crawlInput.parse(input), call)) as CrawlAnswer,
    crawlAlone: async (input) => (await engine.crawls.crawl(crawlInput.parse(input), call)) as CrawlAnswer,
    start: async (input) => {
      const { id } = (await crawls.crawl(crawlInput.parse({ ...input, async: true }), call)) as { id: string }
      return id
    },
    whole,
    ended: async (id) => {
      await waitUntil(async () => (await crawls.get({ id, skip: 0, limit: 0 }, call)).status !== 'scraping')
      return whole(id)
    },
    expectNothingLeft: () => expectNothingLeft(client),
    close: async () => {
      await fleet.removeWorkers()
      await crawls.close()
      for (const connection of connections) connection.disconnect()
      await program.close()
      await engine.close()
      await rm(stateDir, { recursive: true, force: true })
    },
  }
  return fleet
}

async function expectNothingLeft(client: Redis): Promise<void> {
  const left = async () => {
    const keys = await client.keys('bax:*')
    // Leases of killed coordinators expire by themselves.
    const known =
      /^bax:(?:crawls(?::builds|:repaired:source)?$|crawl:[^:]+(?::(?:journal|pages):\d+|:site)?$|host:.*|queue:(?:pages|crawls)-source:(?:meta|events|id|stalled-check|marker)$)/
    return keys.filter((key) => !known.test(key))
  }
  // Workers complete their jobs after their results are stored.
  await waitUntil(async () => (await left()).length === 0).catch(() => {})
  expect(await left()).toEqual([])
}

/** Removes what differs between two runs: IDs, times and durations. */
export function comparable(answer: CrawlAnswer | CrawlState): object {
  const {
    id: _id,
    url: _url,
    duration_ms: _ms,
    created_at: _at,
    expires_at: _until,
    next: _next,
    ...rest
  } = answer as CrawlState
  return rest
}

const workerSource = (timing: QueueTiming) => `
import { connectRedis } from './src/fleet/redis/connect.ts'
import { createEngine } from './src/engine/index.ts'
import { CrawlWorker } from './src/fleet/crawl/queue/worker.ts'
const log = () => {}
const engine = createEngine({ home: 'embedded', stateDir, cacheDir: stateDir, display: false, writeAnywhere: true, log })
const redis = await connectRedis({ url: process.argv[2], log })
const worker = await CrawlWorker.start({
  redis, log, keys: engine.keys, scraper: () => engine.extractor.load(), pages: ${pagesPerWorker},
  build: '${build}', workers: async () => [{ build: '${build}', pages: ${2 * pagesPerWorker} }], ...${JSON.stringify(timing)},
})
process.on('message', async () => { await worker.close(); redis.disconnect(); await engine.close(); process.exit(0) })
process.send('ready')
`
