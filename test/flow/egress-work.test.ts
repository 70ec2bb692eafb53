import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { CrawlAnswer } from '../../src/core/shapes/crawl.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { openPrivateNet, type PrivateNet } from '../support/private-net.ts'
import { failureOf, open } from '../support/session-steps.ts'
import { waitUntil } from '../support/wait.ts'
import { wayPages } from '../support/ways-out.ts'

let net: PrivateNet
let homes: Homes
/** Services configured by the operator: a search provider and a model in the private network. */
let service: Server

const respondWithText =
  (type: string, text: () => string, headers: Record<string, string> = {}, status = 200) =>
  (_: unknown, response: ServerResponse) => {
    response.writeHead(status, { 'content-type': type, ...headers })
    response.end(text())
  }

const secret = (path: string) => `http://x.private.test:${net.blocked.port}${path}`
const model = { asked: 0 }
/** Contacts before the current test. */
let before = 0
const contacts = () => net.blocked.contacts() - before

beforeAll(async () => {
  net = await openPrivateNet({
    ...wayPages,
    '/': respondWithText(
      'text/html',
      () =>
        `<!doctype html><title>Start</title><p>A page of a site with links.</p><a href="/fine">1</a> <a href="/away">2</a>
         <a href="${secret('/linked')}">3</a> <a href="file:///etc/passwd">4</a><iframe src="${secret('/framed')}"></iframe>
         <p>It costs 5.</p>`,
    ),
    '/fine': '<!doctype html><title>Fine</title><p>A page of the same site.</p>',
    '/mapped': '<!doctype html><title>Mapped</title><p>Told of by a sitemap.</p>',
    '/away': (_, response) => {
      response.writeHead(302, { location: secret('/away') })
      response.end()
    },
    '/robots.txt': respondWithText(
      'text/plain',
      () => `User-agent: *\nSitemap: ${secret('/told.xml')}\nSitemap: ${net.url}/map.xml\nSitemap: file:///etc/passwd`,
    ),
    '/map.xml': respondWithText(
      'application/xml',
      () =>
        `<sitemapindex><sitemap><loc>${secret('/nested.xml')}</loc></sitemap><sitemap><loc>${net.url}/moved.xml</loc></sitemap><sitemap><loc>${net.url}/pages.xml</loc></sitemap></sitemapindex>`,
    ),
    '/moved.xml': (_, response) => {
      response.writeHead(302, { location: secret('/moved.xml') })
      response.end()
    },
    '/pages.xml': respondWithText('application/xml', () => `<urlset><url><loc>${net.url}/mapped</loc></url></urlset>`),
  })
  service = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url!.startsWith('/search')) {
      const results = [net.url, secret('/found'), 'http://169.254.169.254/latest/meta-data/'].map((url) => ({
        url,
        title: 'A',
        content: 'b',
      }))
      return void response.end(JSON.stringify({ query: 'x', results }))
    }
    model.asked++
    response.end(JSON.stringify({ choices: [{ message: { content: '{"price":5}' } }] }))
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.3', resolve))
  const { port } = service.address() as AddressInfo
  homes = await openHomes({
    ...net.config,
    search: { order: ['searxng'], providers: { searxng: { url: `http://127.0.0.3:${port}` } } },
    model: { url: `http://127.0.0.3:${port}/v1`, name: 'm' },
  })
})
beforeEach(() => {
  before = net.blocked.contacts()
})
afterAll(async () => {
  await homes.close()
  await net.close()
  service.close()
  service.closeAllConnections()
})

test.each(['script', 'fetch', 'websocket', 'frame', 'worker', 'redirected-fetch', 'beacon'])(
  'a page rendered for its text is restricted like others (%s)',
  async (name) => {
    const to = encodeURIComponent(`http://${name}.private.test:${net.blocked.port}/${name}`)
    const url = `http://127.0.0.2:${net.site.port}/way?name=${name}&to=${to}`
    expect(await homes.clients.embedded.scrape({ url, render: 'browser' } as never)).toMatchObject({ success: true })
    await waitUntil(() => net.resolvedNames.has(`${name}.private.test`))
    expect(contacts()).toBe(0)
  },
)

describe.each(['http', 'browser'] as const)('a crawl (%s)', (render) => {
  test('does not follow links, redirects, frames, robots.txt or sitemaps to blocked addresses', async () => {
    const answer = await homes.clients.embedded.crawl({
      url: net.url,
      allow_external_links: true,
      sitemap: 'include',
      scrape_options: { render },
    } as never)
    const { data, errors, warning } = answer as CrawlAnswer
    expect(data.map(({ metadata }) => metadata.title).toSorted()).toEqual(['Fine', 'Mapped', 'Start'])
    const refused = errors.map(({ url, code }) => [url.replace(/:\d+/, ''), code]).toSorted()
    expect(refused).toEqual([
      ['http://site.open.test/away', 'url_blocked'],
      ['http://x.private.test/linked', 'url_blocked'],
    ])
    expect(warning).toContain('URL blocked')
    expect(contacts()).toBe(0)
  })
})

test('a search may use the provider configured by the operator, but its results are checked', async () => {
  const { data } = await homes.clients.http.search({ query: 'x', scrape_options: { formats: ['markdown'] } } as never)
  expect(data.map(({ content }) => (content as { metadata: { code?: string } }).metadata.code)).toEqual([
    undefined,
    'url_blocked',
    'url_blocked',
  ])
  expect(contacts()).toBe(0)
})

test('a scrape may use the model configured by the operator, but pages cannot reach its host', async () => {
  const schema = { type: 'object', properties: { price: { type: 'number' } } }
  const { data } = await homes.clients.http.scrape({
    url: net.url,
    formats: ['json'],
    json_options: { schema },
  } as never)
  expect(data).toMatchObject({ json: { price: 5 } })
  expect(model.asked).toBe(1)
  const { port } = service.address() as AddressInfo
  const error = await failureOf(homes.clients.http.scrape({ url: `http://127.0.0.3:${port}/v1` } as never))
  expect(error).toMatchObject({ code: 'url_blocked' })
})

test('an embedded engine may reach private addresses, but never cloud metadata', async () => {
  const own = await openHomes({ home: 'embedded', lookup: net.config.lookup! })
  try {
    const client = own.clients.embedded
    const { session_id: id } = await client.createSession({ headless: true })
    for (const render of ['http', 'browser']) {
      expect(await client.scrape({ url: secret('/private'), render } as never)).toMatchObject({ success: true })
    }
    expect(await open(client, id!, secret('/private'))).toMatchObject({ success: true })
    expect(contacts()).toBeGreaterThanOrEqual(3)
    for (const host of [
      '169.254.169.254',
      'metadata.test',
      'metadata.google.internal',
      '[::ffff:a9fe:a9fe]',
      '2852039166',
    ]) {
      const url = `http://${host}/latest/meta-data/`
      for (const render of ['http', 'browser']) {
        expect(await failureOf(client.scrape({ url, render } as never)), host).toMatchObject({ code: 'url_blocked' })
      }
      expect(await open(client, id!, url), host).toMatchObject({ error: 'URL blocked', code: 'url_blocked' })
    }
  } finally {
    await own.close()
  }
})
