import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../support/client.ts'
import type { BaxError } from '../../src/core/errors/errors.ts'
import type { ScrapeInput } from '../../src/core/shapes/scrape.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { openPrivateNet, type PrivateNet } from '../support/private-net.ts'
import { command, failureOf, open, valueOf } from '../support/session-steps.ts'
import { waitUntil } from '../support/wait.ts'
import { wayPages, waysOut } from '../support/ways-out.ts'

let homes: Homes
let net: PrivateNet
let client: Client
let session: string

const create = async (input: object) => (await client.createSession({ headless: true, ...input })).session_id!

beforeAll(async () => {
  net = await openPrivateNet({
    ...wayPages,
    '/': '<!doctype html><title>Home</title><p>Home</p>',
    '/external': '<!doctype html><title>Links</title><a href="http://external.open.test/">external</a>',
    '/links': '<!doctype html><title>Links</title><a href="http://else.open.test/">else</a>',
  })
  homes = await openHomes(net.config)
  client = homes.clients.http
  // Workers require a secure origin, such as a loopback address.
  session = await create({ allowed_domains: ['127.0.0.2', '*.fine.open.test'] })
})
afterAll(async () => {
  await homes.close()
  await net.close()
})

const blockedHosts = async (session_id: string) =>
  (await client.getSessionLog({ session_id })).events
    .filter(({ type }) => type === 'network.blocked')
    .map(({ data }) => data['host'])

describe('a page cannot reach a domain that is not allowed:', () => {
  test.each(Object.keys(waysOut))('%s', async (name) => {
    const { allowed } = net
    const pageOf = (host: string) =>
      `http://127.0.0.2:${net.site.port}/way?name=${name}&to=${encodeURIComponent(`http://${host}:${allowed.port}/${name}-${host}`)}`
    await open(client, session, pageOf(`${name}.fine.open.test`))
    await waitUntil(() => allowed.paths.includes(`/${name}-${name}.fine.open.test`))
    await open(client, session, pageOf(`${name}.open.test`))
    // It was attempted, and reported.
    await waitUntil(async () => (await blockedHosts(session)).includes(`${name}.open.test`))
    expect(allowed.paths.filter((path) => path.endsWith(`-${name}.open.test`))).toEqual([])
    expect(net.resolvedNames).not.toContain(`${name}.open.test`)
  })
})

test('commands report a blocked navigation, also after a redirect, and the events its requests', async () => {
  const id = await create({ allowed_domains: ['site.open.test'] })
  expect(await open(client, id, net.url)).toMatchObject({ success: true })
  for (const name of ['navigate_to', 'new_tab']) {
    const commands = [command(name, { url: `http://else.open.test:${net.site.port}/` })]
    expect(await client.runCommands({ session_id: id, commands })).toMatchObject({
      success: false,
      results: [
        {
          code: 'url_blocked',
          error: 'URL blocked: else.open.test is not in the allowed domains',
          hint: expect.stringContaining('site.open.test'),
        },
      ],
    })
  }
  const to = encodeURIComponent(`http://else.open.test:${net.site.port}/`)
  expect(await open(client, id, `${net.url}/redirect?to=${to}`)).toMatchObject({ success: false, code: 'url_blocked' })
  await open(client, id, net.url)
  await valueOf(client, id, `fetch('http://else.open.test:${net.site.port}/x.json').catch(() => null)`)
  const { network } = await client.observe({ session_id: id, include: ['network'] })
  expect(network!.at(-1)).toMatchObject({ url: expect.stringContaining('/x.json'), error: 'URL blocked' })
  expect(await client.getSession({ session_id: id })).toMatchObject({ tabs: 1 })
})

test('a CDP client is restricted too', async () => {
  const id = await create({ allowed_domains: ['site.open.test'], start_url: net.url })
  const url = `http://cdp.open.test:${net.allowed.port}/cdp`
  await client.cdp({ session_id: id, method: 'Page.navigate', params: { url } })
  await client.cdp({ session_id: id, method: 'Target.createTarget', params: { url } })
  await waitUntil(async () => (await blockedHosts(id)).length > 1)
  expect(net.allowed.paths).not.toContain('/cdp')
})

test('other sessions are not restricted, and do not learn what was blocked', async () => {
  await open(client, session, `http://127.0.0.2:${net.site.port}/`)
  const url = `http://shared.open.test:${net.site.port}/`
  expect(await open(client, session, url)).toMatchObject({ success: false, code: 'url_blocked' })
  const free = await create({})
  expect(await open(client, free, url)).toMatchObject({ success: true })
  expect(await open(client, session, url)).toMatchObject({ success: false })
  expect(await blockedHosts(free)).toEqual([])
})

test('the allowed domains also hold behind a proxy of the session', async () => {
  const contacted: string[] = []
  const proxy = createServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', (head) => {
        const [, host, port] = /^\w+ (?:http:\/\/)?([^:/ ]+):(\d+)/.exec(head.toString()) ?? []
        contacted.push(host!)
        const target = connect(Number(port), '127.0.0.2', () => {
          target.write(head)
          target.pipe(socket).pipe(target)
        }).on('error', () => socket.destroy())
      })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.2', resolve))
  const server = `http://127.0.0.2:${(proxy.address() as AddressInfo).port}`
  const id = await create({ allowed_domains: ['site.open.test'], proxy: { server } })
  expect(await open(client, id, net.url)).toMatchObject({ success: true })
  expect(
    await open(client, id, `${net.url}/redirect?to=${encodeURIComponent(`http://else.open.test:${net.site.port}/`)}`),
  ).toMatchObject({ success: false, code: 'url_blocked' })
  expect(await blockedHosts(id)).toContain('else.open.test')
  expect([...new Set(contacted)]).toEqual(['site.open.test'])
  await client.closeSession({ session_id: id })
  await new Promise((resolve) => proxy.close(resolve))
})

test('a failed connection to an allowed domain is no blocked one', async () => {
  const id = await create({ allowed_domains: ['*.open.test'] })
  expect(await open(client, id, 'http://site.open.test:1025/')).toMatchObject({ code: 'connection_failed' })
  expect(await blockedHosts(id)).toEqual([])
})

test('the policy of the engine holds for allowed domains', async () => {
  const id = await create({ allowed_domains: ['*'] })
  expect(await open(client, id, `http://x.private.test:${net.blocked.port}/`)).toMatchObject({ code: 'url_blocked' })
  expect(net.blocked.contacts()).toBe(0)
})

test('a start URL outside of them, a remote browser and invalid patterns are refused', async () => {
  expect(await failureOf(create({ allowed_domains: ['a.test'], start_url: net.url }))).toMatchObject({
    code: 'url_blocked',
    message: expect.stringContaining('site.open.test is not in the allowed domains'),
  })
  expect(await failureOf(create({ allowed_domains: ['a.test'], cdp_url: net.url }))).toMatchObject({
    code: 'invalid_request',
    message: 'allowed_domains cannot be enforced in a browser reached by cdp_url',
  })
  for (const pattern of ['https://a.test', 'a.test/x', 'a b', '', 'a.test:99999', '@', 'x'.repeat(300)])
    expect(await failureOf(create({ allowed_domains: [pattern] })), pattern).toMatchObject({ code: 'invalid_request' })
  expect(await failureOf(create({ allowed_domains: [] }))).toMatchObject({ code: 'invalid_request' })
})

describe('scrapes, crawls and maps', () => {
  const elsewhere = (path: string) => `http://else.open.test:${net.allowed.port}${path}`
  const redirect = (path: string) => `${net.url}/redirect?to=${encodeURIComponent(elsewhere(path))}`
  const allowed_domains = ['site.open.test']

  test.each(Object.keys(waysOut))('a rendered page cannot reach another domain: %s', async (name) => {
    const pageOf = (host: string) =>
      `http://127.0.0.2:${net.site.port}/way?name=${name}&to=${encodeURIComponent(`http://${host}:${net.allowed.port}/scrape-${name}`)}`
    const url = pageOf(`scrape-${name}.open.test`)
    const options: Partial<ScrapeInput> = { render: 'browser', formats: ['rawHtml', 'screenshot'], wait_for: 300 }
    const limited = { url, ...options, allowed_domains: ['127.0.0.2'] }
    const { code } = await client.scrape(limited).catch((error: BaxError) => error)
    // A page that leaves its domain cannot be read.
    expect([undefined, 'url_blocked']).toContain(code)
    expect(net.allowed.paths).not.toContain(`/scrape-${name}`)
    expect(net.resolvedNames).not.toContain(`scrape-${name}.open.test`)
  })

  test('a limited rendering leaves later ones unlimited', async () => {
    const page = (path: string) => `${net.url}/way?name=image&to=${encodeURIComponent(elsewhere(path))}`
    const options: Partial<ScrapeInput> = { render: 'browser', formats: ['screenshot'] }
    for (const path of ['/limited-1', '/limited-2'])
      expect(await client.scrape({ url: page(path), allowed_domains, ...options })).toMatchObject({ success: true })
    expect(await client.scrape({ url: page('/unlimited'), ...options })).toMatchObject({ success: true })
    await waitUntil(() => net.allowed.paths.includes('/unlimited'))
    expect(net.allowed.paths.filter((path) => path.startsWith('/limited'))).toEqual([])
  })

  test.each(['http', 'browser', 'auto'] as const)(
    'a redirect to another domain is refused with render %s',
    async (render) => {
      const url = redirect(`/redirected-${render}`)
      // The caller does not learn where the site redirects to.
      const failure = { code: 'url_blocked', error: 'URL blocked' }
      await expect(client.scrape({ url, allowed_domains, render })).rejects.toMatchObject({
        code: 'url_blocked',
        message: 'URL blocked',
      })
      expect(await client.crawl({ url, allowed_domains, render })).toMatchObject({
        success: false,
        status: 'failed',
        errors: [failure],
      })
      expect(await client.map({ url, allowed_domains })).toMatchObject({ success: false, ...failure })
      expect(net.allowed.paths).not.toContain(`/redirected-${render}`)
    },
  )

  test('a crawl with external links skips other domains', async () => {
    const url = `${net.url}/external`
    const crawled = await client.crawl({ url, allowed_domains, allow_external_links: true })
    expect(crawled).toMatchObject({
      completed: 1,
      skipped: [{ url: 'http://external.open.test/', reason: 'off_host' }],
    })
    expect(net.resolvedNames).not.toContain('external.open.test')
  })

  test('a batch reports the URLs on other domains', async () => {
    const { id } = await client.batchScrape({ urls: [net.url, elsewhere('/batch')], allowed_domains })
    await waitUntil(async () => (await client.getBatch({ id })).status === 'completed')
    expect(await client.getBatch({ id })).toMatchObject({ data: [{ metadata: { title: 'Home' } }] })
    expect(await client.getBatchErrors({ id })).toMatchObject({ errors: [{ url: elsewhere('/batch') }] })
    expect(net.allowed.paths).not.toContain('/batch')
  })
})
