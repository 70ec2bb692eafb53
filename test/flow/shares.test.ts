/** Resources that keys share: one key that uses all of its share does not delay the others. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { dnsHostLookup } from '../../src/engine/egress/host-lookup.ts'
import { HostResolver } from '../../src/engine/egress/host-resolver.ts'
import { type DnsServer, serveDns } from '../support/dns-server.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type KeyHolder, keyHolder } from '../support/owned-objects.ts'
import { openPrivateNet, type PrivateNet } from '../support/private-net.ts'
import { waitUntil } from '../support/wait.ts'

const dead = 80
/** Sessions that have a browser at the same time. */
const slots = 4
const page = (name: string) =>
  `<!doctype html><title>${name}</title><main><h1>${name}</h1><p>A page of a site.</p></main>`

let net: PrivateNet
let dns: DnsServer
let homes: Homes
let ann: KeyHolder
let bob: KeyHolder

beforeAll(async () => {
  const images = Array.from({ length: dead }, (_, at) => `<img src="http://x${at}.silent.test/a.png">`).join('')
  net = await openPrivateNet({ '/': page('Home'), '/dead': page('Dead') + images })
  dns = await serveDns(
    Object.fromEntries(['ann', 'bob', 'shown', 'again', 'crawled'].map((name) => [`${name}.test`, ['127.0.0.2']])),
  )
  const lookup = dnsHostLookup({ hosts: '/nonexistent', resolvConf: '/nonexistent', servers: [dns.address] })
  homes = await openHomes({ ...net.config, lookup, pool: { warm: 1, browsers: 1, contextsPerBrowser: slots } })
  ann = await keyHolder(homes)
  bob = await keyHolder(homes)
})
afterAll(async () => {
  await homes?.close()
  await Promise.all([dns?.close(), net?.close()])
})

const urlOf = (host: string, path = '/') => `http://${host}:${net.site.port}${path}`

describe('names', () => {
  test('that nobody answers, in the page of one key, do not delay another key', async () => {
    const leaving = new AbortController()
    const slow = ann.client
      .scrape(
        { url: urlOf('ann.test', '/dead'), formats: ['screenshot'], timeout: 120_000 },
        { signal: leaving.signal },
      )
      .catch((error: Error) => error.name)
    await waitUntil(() => dns.questions.filter((question) => question.includes('silent.test')).length >= 20)
    const answer = await bob.client.scrape({ url: urlOf('bob.test'), render: 'browser' })
    expect(answer).toMatchObject({ success: true, data: { metadata: { title: 'Home' } } })
    leaving.abort()
    await slow
  })

  test('are looked up for the key of their scrape, crawl or session', async () => {
    const asked = new Map<string, unknown>()
    const resolve = HostResolver.prototype.resolve
    const spy = vi.spyOn(HostResolver.prototype, 'resolve').mockImplementation(function (
      this: HostResolver,
      host,
      work,
    ) {
      asked.set(host, work?.from)
      return resolve.call(this, host, work)
    })
    try {
      await ann.client.scrape({ url: urlOf('ann.test'), render: 'http' })
      await ann.client.crawl({ url: urlOf('crawled.test'), limit: 1 })
      expect([asked.get('ann.test'), asked.get('crawled.test')]).toEqual([ann.keyId, ann.keyId])
      // Of its own host, because a tab keeps connections.
      for (const [holder, host] of [
        [bob, 'shown.test'],
        [ann, 'again.test'],
      ] as const) {
        await holder.client.scrape({ url: urlOf(host), render: 'browser' })
        expect(asked.get(host)).toBe(holder.keyId)
        asked.clear()
        const { session_id } = await holder.client.createSession({})
        const commands = [{ command: 'navigate_to', data: { url: urlOf('bob.test') } }]
        const { results } = await holder.client.runCommands({ session_id: session_id!, commands })
        expect(results).toMatchObject([{ success: true }])
        expect(asked.get('bob.test')).toBe(holder.keyId)
        await holder.client.closeSession({ session_id: session_id! })
      }
    } finally {
      spy.mockRestore()
    }
  })
})

describe('browsers', () => {
  test('go to the sessions of keys in turn', async () => {
    const create = async ({ client }: KeyHolder) => (await client.createSession({})).provision_id!
    await Promise.all(Array.from({ length: slots }, () => ann.client.createSession({})))
    const queued = [await create(ann), await create(ann), await create(ann), await create(bob)]
    const positions = await Promise.all(
      queued.map(async (provision_id, at) => {
        const { client } = at < 3 ? ann : bob
        return (await client.getProvision({ provision_id })).queue_position
      }),
    )
    expect(positions).toEqual([1, 3, 4, 2])
    for (const { client } of [ann, bob]) await client.closeSessions({})
  })
})

describe('videos', () => {
  test('are recorded for a key up to its share', async () => {
    const record = async ({ client }: KeyHolder) => {
      const { session_id } = await client.createSession({ start_url: 'data:text/html,<h1>Shown' })
      return (await client.runCommands({ session_id: session_id!, commands: [{ command: 'start_video' }] })).results[0]!
    }
    const share = limits.recording.videos / 2
    for (let video = 0; video < share; video++) expect(await record(ann)).toMatchObject({ success: true })
    expect(await record(ann)).toMatchObject({
      code: 'rate_limited',
      error: 'one key may have 2 videos being recorded at a time',
    })
    expect(await record(bob)).toMatchObject({ success: true })
    await ann.client.closeSessions({})
    expect(await record(ann)).toMatchObject({ success: true })
    for (const { client } of [ann, bob]) await client.closeSessions({})
  })
})
