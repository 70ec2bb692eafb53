/** Workers behind bad networks: one that is cut off for 40 seconds, and one that is slow and loses packets. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BaxError } from '../../../src/core/errors/errors.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import { crawlAlone } from '../../support/crawl-alone.ts'
import { comparable } from '../../support/crawl-fleet.ts'
import { type FarNetwork, makeFarNetwork, noNetworkBecause } from '../../support/far-network.ts'
import {
  endedCrawl,
  type GatewayProcess,
  type ProcessFleet,
  startProcessFleet,
  workersOf,
} from '../../support/fleet-processes.ts'
import { serveTree } from '../../support/gated-site.ts'
import { missingPrograms, titled } from '../../support/needs.ts'
import { freePort } from '../../support/ports.ts'
import { noRedis } from '../../support/redis.ts'
import { servedWithinMs } from '../../support/served.ts'
import { failureOf } from '../../support/session-steps.ts'
import { waitUntil } from '../../support/wait.ts'

const impossible = noRedis ?? missingPrograms('iptables') ?? noNetworkBecause ?? null
const pages = 80
const title = [{ command: 'get_title' as const }]
const hang = [{ command: 'evaluate' as const, data: { expression: 'new Promise(() => {})', timeout_ms: 60_000 } }]
const { leaseMs } = limits.fleet

describe.skipIf(impossible)(titled('a fleet on bad networks', impossible), () => {
  const closers: (() => Promise<unknown>)[] = []
  let networks: readonly [FarNetwork, FarNetwork]
  let fleets: readonly [ProcessFleet, ProcessFleet]

  beforeAll(async () => {
    networks = [await makeFarNetwork(), await makeFarNetwork()]
    fleets = await Promise.all(
      networks.map(({ near }) => startProcessFleet({ bind: `127.0.0.1 ${near}`, 'protected-mode': 'no' })),
    ).then(([one, other]) => [one!, other!])
  }, servedWithinMs)
  afterAll(async () => {
    for (const fleet of fleets ?? []) await fleet.close()
    for (const close of closers) await close()
    for (const network of networks ?? []) await network.close()
  })

  /** Serves pages to both networks, and returns the crawl of them. */
  const prepare = async ({ near }: FarNetwork) => {
    const site = await serveTree(pages, { host: near })
    closers.push(site.close)
    const input = {
      url: `${site.url}/p/0`,
      limit: pages,
      max_depth: 20,
      timeout: limits.scrape.maxTimeoutMs,
      async: true,
    }
    return { site, input, allowed: ['--allow-private', near] }
  }
  const expectSame = async (gateway: GatewayProcess, id: string, input: object, near: string) =>
    expect(comparable(await endedCrawl(gateway, id))).toMatchObject(
      comparable(await crawlAlone({ ...input }, { allowPrivate: [near] })),
    )

  test.concurrent('a worker that is cut off for 40 seconds loses everything, and starts over when it returns', async () => {
    const [[network], [fleet]] = [networks, fleets]
    const { site, input, allowed } = await prepare(network)
    const { port } = new URL(fleet.redis.url)
    const gateway = await fleet.addGateway({ flags: allowed })
    const far = { inside: network.inside, redisUrl: `redis://${network.near}:${port}` }
    const lost = await fleet.addWorker({ ...far, flags: ['--host', network.address, ...allowed] })
    const { client } = gateway
    const { session_id } = await client.createSession({ start_url: `${site.url}/p/1` })
    const { id } = (await client.crawl(input)) as { id: string }
    await site.requested(20, { hold: true })
    await site.waiting(4)
    const batch = failureOf(client.runCommands({ session_id: session_id!, commands: hang }))
    expect(await client.listSessions({})).toMatchObject({ total: 1 })

    network.cut()
    const cutAt = performance.now()
    const healthy = await fleet.addWorker({ flags: ['--sessions', '0', ...allowed] })
    // Requests in flight end with the lease at the latest, although nothing reports that the worker is gone.
    expect(await batch).toMatchObject({ code: 'worker_lost', status: 503 })
    expect(performance.now() - cutAt).toBeLessThan(leaseMs + 10_000)
    // Connections can fail before the lease ends.
    const run = () => failureOf(client.runCommands({ session_id: session_id!, commands: title }))
    let failure: BaxError
    await waitUntil(async () => (failure = await run()).status === 410)
    expect(failure!).toMatchObject({ code: 'session_closed', details: { reason: 'worker_lost' } })
    // The other worker continues the crawl; late results of the lost one are discarded.
    await waitUntil(() => performance.now() - cutAt > 25_000)
    site.release()
    await expectSame(gateway, id, input, network.near)
    await waitUntil(() => performance.now() - cutAt > 40_000)

    network.restore()
    const registered = async () => (await workersOf(gateway)).map(({ worker_id }) => worker_id)
    await waitUntil(async () => (await registered()).length === 2)
    expect(await registered()).not.toContain(lost.id)
    expect(await registered()).toContain(healthy.id)
    expect(lost.log()).toContain('the lease of this worker is lost')
    // All workers are asked: it has closed what it held, and the session stays lost.
    expect(await client.listSessions({})).toMatchObject({ total: 0 })
    expect(await failureOf(client.getSession({ session_id: session_id! }))).toMatchObject({ status: 410 })
    // It is the only one with slots for sessions.
    const again = await client.createSession({ start_url: `${site.url}/p/2` })
    expect((await client.runCommands({ session_id: again.session_id!, commands: title })).results).toHaveLength(1)
    await client.closeSessions({})
    await fleet.expectQueuesEmpty()
    expect((await client.listCrawls({ limit: 10 })).total).toBe(1)
  })

  test.concurrent('a worker with a delay of 300 ms that loses packets delays its own work only', async () => {
    const [[, network], [, fleet]] = [networks, fleets]
    const { input, allowed } = await prepare(network)
    const [inner, redisPort] = [await freePort(), Number(new URL(fleet.redis.url).port)]
    // Half of the delay in each direction.
    const [front, back] = await Promise.all([network.forward(inner, 150), network.forwardBack(redisPort, 150)])
    const gateway = await fleet.addGateway({ flags: allowed })
    const slow = await fleet.addWorker({
      inside: network.inside,
      redisUrl: `redis://${network.near}:${back}`,
      flags: ['--port', String(inner), '--advertise', `http://${network.address}:${front}`, ...allowed],
    })
    const fast = await fleet.addWorker({ flags: allowed })
    network.lose(0.02)
    const { client } = gateway
    const { id } = (await client.crawl(input)) as { id: string }
    const sessions = await Promise.all([1, 2, 3, 4].map(() => client.createSession({})))
    expect(sessions.map(({ status }) => status)).toEqual(['ready', 'ready', 'ready', 'ready'])
    const used = (await workersOf(gateway)).map(({ worker_id, sessions: { used } }) => [worker_id, used])
    expect(Object.fromEntries(used)).toEqual({ [slow.id]: 2, [fast.id]: 2 })
    for (const { session_id } of sessions)
      expect((await client.runCommands({ session_id: session_id!, commands: title })).results).toHaveLength(1)
    await expectSame(gateway, id, input, network.near)
    await client.closeSessions({})
    await fleet.expectQueuesEmpty()
  })
})
