/** Everything that a fleet writes while Redis has reached its memory limit. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../support/client.ts'
import { overHttp } from '../../../src/client/transport.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import type { CrawlState } from '../../../src/core/shapes/crawl.ts'
import { operations } from '../../../src/operations/index.ts'
import { crawlAlone } from '../../support/crawl-alone.ts'
import { startFleet, type TestFleet } from '../../support/fleet.ts'
import { type GatedSite, serveTree } from '../../support/gated-site.ts'
import { titled } from '../../support/needs.ts'
import { noRedis } from '../../support/redis.ts'
import { failureOf } from '../../support/session-steps.ts'
import { waitUntil } from '../../support/wait.ts'

const addressed = Object.entries(operations).map(([name, { http }]) => ({ name, http }))
const pages = 60
const title = [{ command: 'get_title' as const }]

describe.skipIf(noRedis)(titled('a fleet whose Redis is full', noRedis), () => {
  let fleet: TestFleet
  let site: GatedSite
  beforeAll(async () => {
    ;[fleet, site] = await Promise.all([startFleet([{ sessions: 2 }]), serveTree(pages)])
  })
  afterAll(async () => {
    await fleet.close()
    await site.close()
  })
  const client = () => fleet.gateway.client
  const limitMemory = (bytes: number) => fleet.redis.client.config('SET', 'maxmemory', String(bytes))
  const full = { code: 'fleet_unavailable', status: 503, message: expect.stringMatching(/memory/) }

  test('says so for everything new, keeps what there is, and continues when there is memory again', async () => {
    const input = {
      url: `${site.url}/p/0`,
      limit: pages,
      max_depth: 20,
      timeout: limits.scrape.maxTimeoutMs,
      async: true,
    }
    const alone = await crawlAlone(input)
    const { session_id } = await client().createSession({ start_url: `${site.url}/p/1` })
    const { id } = (await client().crawl(input)) as { id: string }
    const read = () => client().getCrawl({ id, skip: 0, limit: pages }) as Promise<CrawlState>
    await site.requested(20, { hold: true })
    await site.waiting(4)
    const before = await fleet.redis.client.hgetall(`bax:dir:worker:${fleet.workers[0]!.id}`)
    await limitMemory(1)
    site.release()

    const keyed = createClient(overHttp(fleet.gateway.url, { 'idempotency-key': 'once' }), addressed)
    // A session with a slot, one with an idempotency key, a key, and a crawl.
    const failures = await Promise.all([
      failureOf(client().createSession({})),
      failureOf(keyed.createSession({})),
      failureOf(client().createKey({ name: 'ann', scopes: ['browser'] })),
      failureOf(client().crawl(input)),
      failureOf(client().createRelayToken({})),
    ])
    for (const failure of failures) expect(failure).toMatchObject(full)
    // Sessions can be used, and pages scraped.
    expect((await client().runCommands({ session_id: session_id!, commands: title })).results).toHaveLength(1)
    expect((await client().scrape({ url: `${site.url}/p/2` })).success).toBe(true)
    // The crawl waits, and does not fail.
    const { completed, status } = await read()
    expect({ status, isWhole: completed === pages }).toEqual({ status: 'scraping', isWhole: false })

    await limitMemory(0)
    await waitUntil(async () => (await read()).status !== 'scraping')
    const whole = await read()
    expect(whole).toMatchObject({ status: 'completed', completed: pages, total: pages })
    expect(whole.data).toEqual(alone.data)
    expect(await client().listKeys({})).toMatchObject({ keys: [] })
    expect((await client().listCrawls({ limit: 10 })).total).toBe(1)
    const after = await fleet.redis.client.hgetall(`bax:dir:worker:${fleet.workers[0]!.id}`)
    expect(after['used:session']).toBe(before['used:session'])
    const [first, second] = await Promise.all([keyed.createSession({}), keyed.createSession({})])
    expect(second).toEqual(first)
    expect((await client().listSessions({})).total).toBe(2)
  })

  test('refuses to queue a session, and creates those that wait when there is memory again', async () => {
    // Both slots are in use.
    const waiting = await client().createSession({})
    expect(waiting).toMatchObject({ status: 'provisioning' })
    const { sessions } = await client().listSessions({})
    await limitMemory(1)
    expect(await failureOf(client().createSession({}))).toMatchObject(full)
    // Its slot goes to the session that waits, once that can be written.
    await client().closeSession({ session_id: sessions[0]!.session_id })
    const record = () => client().getProvision({ provision_id: waiting.provision_id! })
    expect(await record()).toMatchObject({ status: 'provisioning' })
    await limitMemory(0)
    await waitUntil(async () => (await record()).status !== 'provisioning')
    expect(await record()).toMatchObject({ status: 'ready', error: null })
    expect((await client().listSessions({})).total).toBe(2)
  })
})
