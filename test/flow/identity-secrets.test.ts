/** Every operation that takes an identity, with secrets in all of its fields: they are kept from everything else. */
import { readdir, readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { call, follow } from '../../src/client/client.ts'
import { BaxError } from '../../src/core/errors/errors.ts'
import { operations, streams } from '../../src/operations/index.ts'
import { type ForwardProxy, serveProxy } from '../support/forward-proxy.ts'
import { type Homes, isFleet, openHomes } from '../support/homes.ts'
import { type KeyHolder, keyHolder } from '../support/owned-objects.ts'
import { freePort } from '../support/ports.ts'
import { type SearchServer, serveSearch } from '../support/search-server.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let [homes, site, web, forward, owner, other]: [Homes, Site, SearchServer, ForwardProxy, KeyHolder, KeyHolder] =
  [] as never
/** Names of a session and a profile with secret cookies. */
let session_id: string
const profile = 'ann'
const logged: unknown[] = []
/** Answers to the calls of the key that uses the secrets. */
const received: unknown[] = []
/** Secrets that the site has received. */
const sent = new Set<string>()

/** A page for somebody with a secret, which sets another one. */
const account = ({ headers }: IncomingMessage, response: ServerResponse) => {
  const secrets = `${headers.cookie} ${headers.authorization}`.match(/secret-\w+/g) ?? []
  for (const secret of secrets) sent.add(secret)
  const text = secrets.length > 0 ? 'Orders of Ann. <a href="/more">More</a>' : 'Please log in'
  response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'rotated=secret-rotated; Max-Age=900' })
  response.end(`<!doctype html><title>Shop</title><main><p>${text}</p></main>`)
}

beforeAll(async () => {
  ;[site, web, forward] = await Promise.all([
    serveSite({ '/': account, '/more': account, '/gone': (_, response) => void response.destroy() }),
    serveSearch(),
    serveProxy({ username: 'ann', password: 'secret-proxy' }),
  ])
  web.setResults([{ url: `${site.url}/`, title: 'Shop', snippet: 'Orders' }])
  homes = await openHomes({
    search: web.config('searxng'),
    ...(!isFleet && { log: (...line) => logged.push(line) }),
  })
  ;[owner, other] = await Promise.all([keyHolder(homes), keyHolder(homes)])
  const { client } = owner
  const open = async (secret: string) => {
    const { session_id: id } = await client.createSession({
      headless: true,
      start_url: site.url,
      proxy: { server: forward.url, username: 'ann', password: 'secret-proxy', bypass: '127.0.0.1' },
    })
    const data = { expression: `document.cookie = 'own=${secret}; path=/; max-age=900'` }
    await client.runCommands({ session_id: id!, commands: [{ command: 'evaluate', data }] })
    return id!
  }
  const saved = await open('secret-profile')
  await client.saveProfile({ name: profile, session_id: saved })
  await client.closeSession({ session_id: saved })
  session_id = await open('secret-session')
})
afterAll(() => Promise.all([homes, site, web, forward].map((opened) => opened?.close())))

/** Identities with secrets; operations take those whose fields they have. */
const identities = () => ({
  given: {
    headers: { Authorization: 'Bearer secret-header' },
    cookies: 'a=secret-cookie',
    proxy: forward.url.replace('//', '//ann:secret-proxy@'),
  },
  list: {
    cookies: [{ name: 'a', value: 'secret-cookie' }],
    proxy: [{ server: forward.url, username: 'ann', password: 'secret-proxy' }],
  },
  saved: { profile, save_profile: true },
  profile: { profile },
  session: { session_id },
  unreachable: { cookies: 'a=secret-cookie', proxy: `http://ann:secret-proxy@127.0.0.1:${closed}` },
  wrong: { proxy: forward.url.replace('//', '//ann:secret-wrong@') },
  // Invalid ones are repeated in errors by their names only.
  badHeader: { headers: { 'X-Key': 'secret-header\r\n' } },
  badCookies: { cookies: 'curl secret-cookie' },
  badProxy: { proxy: 'ftp://ann:secret-proxy@127.0.0.1' },
  badList: { cookies: [{ name: '', value: 'secret-cookie' }] },
})
let closed: number
beforeAll(async () => void (closed = await freePort()))

type Name = keyof typeof operations

const shapeOf = (schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> => {
  const inner = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema
  return inner instanceof z.ZodObject ? (inner.shape as Record<string, z.ZodType>) : {}
}

/** Fields of requests beside the identity. Operations that get one need theirs here. */
const requests: Partial<Record<Name, () => Record<string, unknown>>> = {
  scrape: () => ({ url: site.url }),
  scrapeV2: () => ({ url: site.url, render: 'browser' }),
  crawl: () => ({ url: site.url, limit: 2 }),
  crawlV2: () => ({ url: site.url, limit: 2 }),
  map: () => ({ url: site.url, limit: 3 }),
  mapV2: () => ({ url: site.url, limit: 3 }),
  batchScrape: () => ({ urls: [site.url, `${site.url}/gone`] }),
  batchScrapeV2: () => ({ urls: [site.url, `${site.url}/gone`] }),
  extract: () => ({ urls: [site.url], prompt: 'title' }),
  extractV2: () => ({ urls: [site.url], prompt: 'title' }),
  search: () => ({ query: 'shop', formats: ['markdown'] }),
  searchV2: () => ({ query: 'shop', scrape_options: { formats: ['markdown'] } }),
  sendRequest: () => ({ url: site.url }),
}

/** Operations with a profile or cookies, directly or in `scrape_options`. */
const taking = (Object.keys(operations) as Name[]).filter((name) => {
  const shape = shapeOf(operations[name].input)
  return [shape, shapeOf(shape['scrape_options'])].some((fields) => 'save_profile' in fields || 'geolocation' in fields)
})

test('all operations with an identity are tried', () => {
  expect(taking.filter((name) => name !== 'createSession').sort()).toEqual(Object.keys(requests).sort())
})

/** Adds an identity where the operation takes it; undefined if it takes none of its fields. */
function withIdentity(name: Name, identity: Record<string, unknown>): Record<string, unknown> | undefined {
  const shape = shapeOf(operations[name].input)
  const inner = shapeOf(shape['scrape_options'])
  const request = requests[name]!()
  const [beside, within] = [shape, inner].map((fields) =>
    Object.fromEntries(Object.entries(identity).filter(([field]) => field in fields)),
  ) as [Record<string, unknown>, Record<string, unknown>]
  if (Object.keys(beside).length > 0) return { ...request, ...beside }
  if (Object.keys(within).length === 0) return undefined
  return { ...request, scrape_options: { ...(request['scrape_options'] as object | undefined), ...within } }
}

/** Calls an operation; returns its answer or its error. */
async function ask({ transport }: KeyHolder, name: Name, input: Record<string, unknown>): Promise<unknown> {
  try {
    return await call(transport, operations[name].http, input)
  } catch (error) {
    if (error instanceof BaxError) return error.toBody()
    throw error
  }
}

describe.each(Object.keys(requests) as Name[])('%s', (name) => {
  test('returns and reports no secret of an identity', async () => {
    for (const identity of Object.values(identities())) {
      const input = withIdentity(name, identity)
      if (input) received.push(await ask(owner, name, input))
    }
    expect(received.length).toBeGreaterThan(0)
    expect(secretsIn(received)).toEqual([])
  })
})

/** Returns the secrets in a value. Cookies that a site sets are part of the answer to a request. */
const secretsIn = (value: unknown): string[] =>
  [...new Set((JSON.stringify(value) ?? '').match(/secret-\w+/g))].filter((secret) => secret !== 'secret-rotated')

describe('afterwards', () => {
  test('the site and the proxy have received the secrets', () => {
    expect([...sent].sort()).toEqual([
      'secret-cookie',
      'secret-header',
      'secret-profile',
      'secret-rotated',
      'secret-session',
    ])
    expect(forward.passed.length).toBeGreaterThan(0)
  })

  test('crawls, their pages, errors, events and options contain none', async () => {
    const { client } = owner
    await waitUntil(async () => (await client.listCrawls({})).crawls.every(({ status }) => status !== 'scraping'))
    const { crawls } = await client.listCrawls({})
    expect(crawls.length).toBeGreaterThan(6)
    const facts: unknown[] = [crawls, await client.activeCrawls({}), await client.getSession({ session_id })]
    for (const { id } of crawls) {
      facts.push(await client.getCrawl({ id }), await client.getCrawlErrors({ id }))
      for await (const event of follow(owner.transport, streams.crawlEvents.http, { id })) facts.push(event)
    }
    expect(secretsIn(facts)).toEqual([])
  })

  test('another key finds neither pages nor crawls of theirs', async () => {
    const { crawls } = await owner.client.listCrawls({})
    const found: unknown[] = [await other.client.listCrawls({}), await other.client.activeCrawls({})]
    for (const { id } of crawls.slice(0, 3)) found.push(await ask(other, 'getCrawl', { id }))
    for (const render of ['http', 'browser'] as const)
      found.push(await other.client.scrape({ url: site.url, render, max_age: 600_000 }))
    for (const identity of [{ profile }, { session_id }])
      found.push(await ask(other, 'scrape', { url: site.url, ...identity }))
    found.push(await ask(other, 'getProfile', { profile_id: profile }), await other.client.listProfiles({}))
    expect(secretsIn(found)).toEqual([])
    expect(JSON.stringify(found)).not.toContain('Orders of Ann')
  })

  test('logs and stored files contain none, except profiles', async () => {
    const entries = await readdir(homes.stateDir, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('profiles'))
    const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')))
    expect(files.length).toBeGreaterThan(0)
    expect(secretsIn([logged, texts])).toEqual([])
    expect(JSON.stringify([logged, texts])).not.toContain('secret-rotated')
  })
})
