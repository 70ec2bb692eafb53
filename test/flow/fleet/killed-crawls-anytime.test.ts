/**
 * Kills processes of a fleet at any moment of its crawls: no page is missing, and none is there twice.
 * `BAX_TEST_KILLS=100` runs that many random rounds; a failure prints the seed, which `BAX_TEST_SEED` repeats.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CrawlAnswer } from '../../../src/core/shapes/crawl.ts'
import { crawlAlone } from '../../support/crawl-alone.ts'
import { expectWhole } from '../../support/crawl-fleet.ts'
import {
  endedCrawl,
  type GatewayProcess,
  type ProcessFleet,
  startProcessFleet,
  type WorkerProcess,
} from '../../support/fleet-processes.ts'
import { type GatedSite, serveTree } from '../../support/gated-site.ts'
import { titled } from '../../support/needs.ts'
import { noRedis } from '../../support/redis.ts'
import { servedWithinMs } from '../../support/served.ts'

const rounds = Number(process.env['BAX_TEST_KILLS'] ?? 2)
const seed = Number(process.env['BAX_TEST_SEED'] ?? Date.now() % 2 ** 31)
const pages = 40
const crawls = 8

/** Processes to kill in a round, each after this share of all requests of its crawls. */
const anyKills = fc.record(
  {
    gateway: fc.double({ min: 0, max: 1, noNaN: true }),
    worker: fc.double({ min: 0, max: 1, noNaN: true }),
    other: fc.double({ min: 0, max: 1, noNaN: true }),
  },
  { requiredKeys: ['worker'] },
)

describe.skipIf(noRedis)(titled('crawls of a fleet whose processes are killed at any moment', noRedis), () => {
  let fleet: ProcessFleet
  let site: GatedSite
  let gateway: GatewayProcess
  let alone: CrawlAnswer
  const workers: WorkerProcess[] = []
  const input = () => ({ url: `${site.url}/p/0`, limit: pages, max_depth: 20, async: true })

  beforeAll(async () => {
    ;[fleet, site] = await Promise.all([startProcessFleet(), serveTree(pages, { fan: 4 })])
    ;[gateway, alone] = await Promise.all([fleet.addGateway(), crawlAlone(input())])
    expect(alone.completed).toBe(pages)
  }, servedWithinMs)
  afterAll(async () => {
    await fleet?.close()
    await site?.close()
  })

  /** Kills a process once the site was requested this often in the round, or when the crawls have ended. */
  const killAfter = async (share: number | undefined, ended: Promise<unknown>, kill: () => Promise<void>) => {
    if (share === undefined) return
    const reached = site.requested(Math.ceil(share * pages * crawls)).catch(() => ended)
    await Promise.race([reached, ended])
    await kill()
  }

  test(
    `keep every page in ${rounds} rounds`,
    async () => {
      const round = fc.asyncProperty(anyKills, async (kills) => {
        const [doomed] = await Promise.all([fleet.addGateway(), addWorkers()])
        const begin = async (at: number) =>
          ((await (at % 2 === 0 ? gateway : doomed).client.crawl(input())) as { id: string }).id
        const ids = await Promise.all(Array.from({ length: crawls }, (_, at) => begin(at)))
        const ended = Promise.all(ids.map((id) => endedCrawl(gateway, id)))
        const killWorker = async () => {
          await workers.shift()!.kill()
          // Somebody must go on.
          await addWorkers()
        }
        await Promise.all([
          killAfter(kills.gateway, ended, () => doomed.kill()),
          killAfter(kills.worker, ended, killWorker),
          killAfter(kills.other, ended, killWorker),
        ])
        for (const state of await ended) expectWhole(state, alone)
        await doomed.kill()
        await fleet.expectQueuesEmpty()
      })
      await fc.assert(round, { numRuns: rounds, seed, endOnFailure: true })
    },
    120_000 * (rounds + 1),
  )

  /** Keeps two workers running. */
  async function addWorkers(): Promise<void> {
    while (workers.length < 2) workers.push(await fleet.addWorker())
  }
})
