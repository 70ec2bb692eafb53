/** The v1 client of the official SDK with a server that requires a key. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Firecrawl, loadFirecrawl } from '../support/firecrawl.ts'
import { type SearchServer, serveSearch } from '../support/search-server.ts'
import { type Served, serveBax, servedWithinMs } from '../support/served.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'
import { article } from '../support/web.ts'

let served: Served
let site: Site
let engines: SearchServer
let firecrawl: Firecrawl['v1']

interface Delivered {
  readonly type: string
  readonly data: readonly { readonly metadata: { readonly title: string } }[]
}
/** Received webhooks. */
const delivered: (Delivered & { readonly id?: string })[] = []

const menu = '<a href="/docs/a">A</a> <a href="/docs/b">B</a> <a href="/private/x">X</a>'

beforeAll(async () => {
  ;[site, engines] = await Promise.all([
    serveSite({
      '/': `<!doctype html><title>Home</title><main><h1>Home</h1>${menu}</main>`,
      '/docs/a': '<!doctype html><title>A</title><h1>A</h1>',
      '/docs/b': '<!doctype html><title>B</title><h1>B</h1>',
      '/article': article,
      '/robots.txt': (_, response) => response.end('User-agent: *\nDisallow: /private/\n'),
      '/slow': () => {},
      '/hook': (request, response) => {
        let text = ''
        request.setEncoding('utf8').on('data', (part: string) => (text += part))
        request.on('end', () => {
          delivered.push(JSON.parse(text) as Delivered)
          response.end('ok')
        })
      },
    }),
    serveSearch(),
  ])
  served = await serveBax(engines.env('searxng'))
  const { Firecrawl } = await loadFirecrawl()
  firecrawl = new Firecrawl({ apiKey: served.key, apiUrl: served.url }).v1
}, servedWithinMs)
afterAll(async () => {
  await served.close()
  await engines.close()
  await site.close()
})

describe('scrape', () => {
  test('returns a page with its formats', async () => {
    const answer = await firecrawl.scrapeUrl(`${site.url}/article`, {
      formats: ['markdown', 'rawHtml', 'screenshot@fullPage', 'json'],
      jsonOptions: { schema: { type: 'object', properties: { author: { type: 'string' } } } },
      onlyMainContent: true,
      waitFor: 1,
    })
    expect(answer).toMatchObject({
      success: true,
      markdown: expect.stringContaining('# How deltas grow'),
      rawHtml: expect.stringContaining('<script>'),
      screenshot: expect.stringMatching(/^iVBOR/),
      json: { author: 'Ada Rivers' },
      metadata: { title: 'How deltas grow', sourceURL: `${site.url}/article`, status_code: 200 },
    })
    expect(answer['warning']).toBeUndefined()
  })

  test('names ignored options, and reports errors', async () => {
    expect((await firecrawl.scrapeUrl(`${site.url}/article`, { location: { country: 'DE' } }))['warning']).toContain(
      'location',
    )
    await expect(firecrawl.scrapeUrl(site.url, { formats: ['no-such-format' as 'html'] })).rejects.toMatchObject({
      statusCode: 400,
      message: expect.stringContaining('formats[0] must be one of'),
    })
    await expect(firecrawl.scrapeUrl('ftp://127.0.0.1/', {})).rejects.toMatchObject({
      statusCode: 403,
      message: expect.stringContaining('URL blocked'),
    })
  })
})

describe('crawl', () => {
  test('waits for the result, with options for pages and paths as regular expressions', async () => {
    const job = await firecrawl.crawlUrl(site.url, {
      includePaths: ['docs/.'],
      maxDepth: 1,
      scrapeOptions: { formats: ['html'] },
    })
    expect(job).toMatchObject({ success: true, status: 'completed', completed: 2, total: 2 })
    expect(job.data.map(({ html }) => html)).toEqual([
      expect.stringContaining('<h1>A'),
      expect.stringContaining('<h1>B'),
    ])
    expect(job.data[0]).not.toHaveProperty('markdown')
  })

  test('can be started, queried and cancelled, and lists its errors', async () => {
    const { success, id } = await firecrawl.asyncCrawlUrl(`${site.url}/slow`, { limit: 10 })
    expect(success).toBe(true)
    expect(await firecrawl.checkCrawlStatus(id)).toMatchObject({ status: 'scraping' })
    expect(await firecrawl.cancelCrawl(id)).toMatchObject({ success: true, status: 'cancelled' })
    expect(await firecrawl.checkCrawlStatus(id, true)).toMatchObject({ status: 'cancelled' })
    const whole = await firecrawl.asyncCrawlUrl(site.url, { limit: 10 })
    const state = () => firecrawl.checkCrawlStatus(whole.id, true)
    await waitUntil(async () => (await state()).status === 'completed')
    expect((await state()).data).toHaveLength(3)
    expect(await firecrawl.checkCrawlErrors(whole.id)).toMatchObject({ robots_blocked: [`${site.url}/private/x`] })
  })

  test('delivers its events to a webhook', async () => {
    const { id } = await firecrawl.asyncCrawlUrl(`${site.url}/docs/a`, {
      limit: 1,
      webhook: { url: `${site.url}/hook`, metadata: { order: 7 } },
    })
    await waitUntil(() => delivered.some(({ type }) => type === 'crawl.completed'))
    expect(delivered.map(({ type }) => type)).toEqual(['crawl.started', 'crawl.page', 'crawl.completed'])
    expect(delivered[1]).toMatchObject({
      success: true,
      id,
      metadata: { order: 7 },
      data: [{ metadata: { title: 'A' } }],
    })
  })

  test('a crawl started without polling is returned as a whole', async () => {
    const whole = await served.request('POST', '/v1/crawl', { url: `${site.url}/docs/a` })
    expect(whole).toMatchObject({ success: true, completed: 1, data: [{ metadata: { title: 'A' } }], errors: [] })
  })
})

test('map lists URLs', async () => {
  const { links } = await firecrawl.mapUrl(site.url, { search: 'docs', limit: 10 })
  expect(links).toEqual([`${site.url}/docs/a`, `${site.url}/docs/b`])
})

test('search returns results, and scrapes them', async () => {
  engines.setResults([{ url: `${site.url}/article`, title: 'Deltas', snippet: 'How they grow' }])
  const { data } = await firecrawl.search('deltas', { scrapeOptions: { formats: ['markdown'] } })
  expect(data).toMatchObject([
    {
      url: `${site.url}/article`,
      title: 'Deltas',
      description: 'How they grow',
      content: { markdown: expect.stringContaining('# How deltas grow') },
    },
  ])
  engines.setModes('searxng', 'down')
  await expect(firecrawl.search('deltas', {})).rejects.toMatchObject({ statusCode: 503 })
})
