/** A rolling upgrade as the guide describes it, while sessions, scrapes and crawls run. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
import type { Client } from '../../support/client.ts'
import { buildsKey } from '../../../src/fleet/crawl/keys.ts'
import { crawlAlone } from '../../support/crawl-alone.ts'
import { comparable } from '../../support/crawl-fleet.ts'
import {
  endedCrawl,
  type GatewayProcess,
  type ProcessFleet,
  startProcessFleet,
  type WorkerProcess,
  workersOf,
} from '../../support/fleet-processes.ts'
import { type GatedSite, serveTree } from '../../support/gated-site.ts'
import { titled } from '../../support/needs.ts'
import { noRedis } from '../../support/redis.ts'
import { servedWithinMs } from '../../support/served.ts'
import { failureOf } from '../../support/session-steps.ts'
import { waitUntil } from '../../support/wait.ts'

const [old, young] = ['a'.repeat(64), 'b'.repeat(64)]
const pages = 200
const title = [{ command: 'get_title' as const }]

describe.skipIf(noRedis)(titled('a rolling upgrade of a fleet', noRedis), () => {
  let fleet: ProcessFleet
  let site: GatedSite
  let alone: object
  let workers: WorkerProcess[]
  /** Those behind the load balancer. */
  let gateways: GatewayProcess[]
  let turn = 0
  /** Another gateway each time, as behind a load balancer. */
  const client = (): Client => gateways[turn++ % gateways.length]!.client
  // Pages are held back for as long as workers and gateways take to start.
  const timeout = limits.scrape.maxTimeoutMs
  const input = () => ({ url: `${site.url}/p/0`, limit: pages, max_depth: 20, timeout, async: true })
  const begin = async () => ((await client().crawl(input())) as { id: string }).id

  beforeAll(async () => {
    ;[fleet, site] = await Promise.all([startProcessFleet(), serveTree(pages)])
    const two = <T>(start: (options: { build: string }) => Promise<T>) =>
      Promise.all([start({ build: old }), start({ build: old })])
    ;[alone, workers, gateways] = await Promise.all([
      crawlAlone(input()).then(comparable),
      two(fleet.addWorker),
      two(fleet.addGateway),
    ])
  }, servedWithinMs)
  afterAll(async () => {
    await fleet?.close()
    await site?.close()
  })

  test('a gateway that is upgraded before the workers refuses new work, and names both builds', async () => {
    const { session_id } = await client().createSession({ start_url: `${site.url}/p/1` })
    const early = await fleet.addGateway({ build: young })
    const refused = [
      failureOf(early.client.createSession({})),
      failureOf(early.client.scrape({ url: `${site.url}/p/0` })),
      failureOf(early.client.crawl(input())),
    ]
    for (const failure of await Promise.all(refused)) {
      expect(failure).toMatchObject({
        code: 'fleet_unavailable',
        status: 503,
        hint: expect.stringContaining('workers first'),
      })
      expect(failure.message).toMatch(
        /^this is bax \S+ \(build bbbbbbbbbbbb\), but all workers run bax \S+ \(build aaaaaaaaaaaa\)$/,
      )
    }
    // Sessions and crawls of the other build can be used.
    expect((await early.client.runCommands({ session_id: session_id!, commands: title })).results).toHaveLength(1)
    await early.client.closeSession({ session_id: session_id! })
    expect(await early.stop()).toBe(0)
  })

  test('workers first, then gateways, then the old workers: everything that was accepted completes', async () => {
    const { session_id } = await client().createSession({ start_url: `${site.url}/p/1` })
    const crawls = [await begin()]
    await site.requested(50, { hold: true })
    await site.waiting(8)

    // Callers that notice nothing.
    let upgrading = true
    let calls = 0
    const load = (async () => {
      for (; upgrading; calls++) {
        const { results } = await client().runCommands({ session_id: session_id!, commands: title })
        expect(results[0]!.data).toMatchObject({ result: { value: '/p/1' } })
        expect((await client().getCrawl({ id: crawls[0]!, skip: 0, limit: 0 })).status).toMatch(
          /^(?:scraping|completed)$/,
        )
      }
    })()
    load.catch(() => {})
    const called = async () => {
      const before = calls
      await Promise.race([waitUntil(() => calls > before + 3), load])
    }

    // Workers of the new build, which get nothing yet.
    const next = await Promise.all([fleet.addWorker({ build: young }), fleet.addWorker({ build: young })])
    await called()
    expect((await workersOf(gateways[0]!)).filter(({ state }) => state === 'ready')).toHaveLength(4)
    crawls.push(await begin())

    // The gateways, one after the other; the load balancer leaves one out before it ends.
    for (const gateway of gateways) {
      gateways = [...gateways.filter((one) => one !== gateway), await fleet.addGateway({ build: young })]
      // Its last requests have been answered.
      await called()
      expect(await gateway.stop()).toBe(0)
      await called()
    }
    crawls.push(await begin())
    const created = await client().createSession({})
    expect(created).toMatchObject({ status: 'ready' })

    // The old workers keep their sessions, and give their crawls away.
    const ends = workers.map((worker) => worker.stop())
    await waitUntil(async () => (await workersOf(gateways[0]!)).filter(({ state }) => state === 'draining').length > 0)
    await called()
    site.release()
    const after = [...crawls.slice(1), await begin()]
    for (const id of after) expect(comparable(await endedCrawl(gateways[0]!, id))).toMatchObject(alone)
    upgrading = false
    await load
    expect(comparable(await endedCrawl(gateways[0]!, crawls[0]!))).toMatchObject(alone)
    // An idle one ends at once, the other one with its session.
    expect(await Promise.race(ends)).toBe(0)
    expect((await client().runCommands({ session_id: session_id!, commands: title })).results).toHaveLength(1)
    await client().closeSession({ session_id: session_id! })
    expect(await Promise.all(ends)).toEqual([0, 0])

    const left = await workersOf(gateways[0]!)
    expect(left.map(({ worker_id: id, build }) => [id, build]).toSorted()).toEqual(
      next.map(({ id }) => [id, young]).toSorted(),
    )
    await client().closeSession({ session_id: created.session_id! })
    await fleet.expectQueuesEmpty()
    // The queues of the old build are gone.
    await waitUntil(async () => (await fleet.redis.client.smembers(buildsKey)).join() === young)
    expect((await fleet.redis.client.keys('bax:queue:*')).filter((key) => key.includes(old))).toEqual([])
  })
})
