/** Crawls of a fleet whose processes are killed: nothing is missing, and nothing is there twice. */
import { afterAll, beforeAll, describe, test } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
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

const sizes = { large: 500, small: 200 }
/** Pages that a worker visits at the same time. */
const slots = 4

describe.skipIf(noRedis)(titled('crawls of a fleet whose processes are killed', noRedis), { timeout: 600_000 }, () => {
  let fleet: ProcessFleet
  let large: GatedSite
  let small: GatedSite
  let gateway: GatewayProcess
  let coordinator: WorkerProcess
  const input = (site: GatedSite) => ({
    url: `${site.url}/p/0`,
    limit: sizes.large,
    max_depth: 20,
    // Pages are held back for as long as a worker takes to start.
    timeout: limits.scrape.maxTimeoutMs,
    async: true,
  })

  beforeAll(async () => {
    ;[fleet, large, small] = await Promise.all([startProcessFleet(), serveTree(sizes.large), serveTree(sizes.small)])
    ;[gateway, coordinator] = await Promise.all([fleet.addGateway(), fleet.addWorker()])
  }, servedWithinMs)
  afterAll(async () => {
    await fleet?.close()
    await Promise.all([large?.close(), small?.close()])
  })

  /** Starts a crawl; with one worker, that is its coordinator. */
  const begin = async ({ client }: GatewayProcess, site: GatedSite) =>
    ((await client.crawl(input(site))) as { id: string }).id

  test('500 pages, while a worker, a gateway and the worker that coordinates are killed', async () => {
    const doomed = await fleet.addGateway()
    const id = await begin(doomed, large)
    // Held back from the start: one worker could crawl all pages before the other one is ready.
    const [other] = await Promise.all([fleet.addWorker(), large.requested(150, { hold: true })])
    // Both workers have all their slots in use.
    await large.waiting(2 * slots)
    await Promise.all([other.kill(), doomed.kill()])
    await large.waiting(slots)
    large.release()
    const [next] = await Promise.all([fleet.addWorker(), large.requested(200, { hold: true })])
    await large.waiting(2 * slots)
    await coordinator.kill()
    await large.waiting(slots)
    large.release()
    coordinator = next
    expectWhole(await endedCrawl(gateway, id), await crawlAlone(input(large)))
    await fleet.expectQueuesEmpty()
  })

  test('two crawls at once, while a worker and a gateway are killed', async () => {
    const doomed = await fleet.addGateway()
    const ids = [await begin(gateway, small), await begin(doomed, small)]
    const [other] = await Promise.all([fleet.addWorker(), small.requested(100, { hold: true })])
    await small.waiting(2 * slots)
    await Promise.all([other.kill(), doomed.kill()])
    await small.waiting(slots)
    small.release()
    const alone = await crawlAlone(input(small))
    for (const id of ids) expectWhole(await endedCrawl(gateway, id), alone)
    await fleet.expectQueuesEmpty()
  })
})
