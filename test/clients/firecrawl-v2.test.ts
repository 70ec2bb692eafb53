/** The v2 client of the official SDK with a server that requires a key. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noOpenssl } from '../support/certificates.ts'
import { type Firecrawl, loadFirecrawl } from '../support/firecrawl.ts'
import { testUnless } from '../support/needs.ts'
import { type SearchServer, serveSearch } from '../support/search-server.ts'
import { type Served, serveBax, servedWithinMs } from '../support/served.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'
import { article, respondWith, untrustedServer } from '../support/web.ts'

const page = (title: string, ...links: string[]) =>
  `<!doctype html><title>${title}</title><main><h1>${title}</h1><p>The page ${title} of a site about rivers and deltas.</p>
   ${links.map((link) => `<a href="${link}">${link}</a>`).join(' ')}</main>`

let served: Served
let site: Site
let engines: SearchServer
let firecrawl: Firecrawl
/** Releases the responses of the slow page. */
let letGo = () => {}
/** A URL on a closed port. */
let closed: string

beforeAll(async () => {
  const held = new Promise<void>((resolve) => (letGo = resolve))
  ;[site, engines] = await Promise.all([
    serveSite({
      '/': page('Home', '/docs/', '/blog/1', '/gone', '/private/x'),
      '/docs/': page('Docs', '/docs/a', '/docs/b?page=1', '/docs/b?page=2', '/'),
      '/docs/a': page('A', '/docs/'),
      '/docs/b': page('B', '/docs/'),
      '/blog/1': page('Blog', '/'),
      '/private/x': page('Private'),
      '/article': article,
      '/form': `<!doctype html><title>Form</title><input id="name"><p id="out"></p>
        <script>const field = document.querySelector('#name'); field.oninput = () => out.textContent = 'Hello ' + field.value</script>`,
      '/robots.txt': (_, response) => response.end('User-agent: *\nDisallow: /private/\n'),
      '/slow': (_, response) => void held.then(() => response.end(page('Slow'))),
    }),
    serveSearch(),
  ])
  const gone = await serveSite({})
  closed = gone.url
  await gone.close()
  served = await serveBax(engines.env('searxng'))
  const { Firecrawl } = await loadFirecrawl()
  firecrawl = new Firecrawl({ apiKey: served.key, apiUrl: served.url })
}, servedWithinMs)
afterAll(async () => {
  await served.close()
  await engines.close()
  await site.close()
})

describe('scrape', () => {
  test('returns the requested formats in the shapes of the SDK', async () => {
    const document = await firecrawl.scrape(`${site.url}/article`, {
      formats: ['markdown', 'html', 'rawHtml', 'links', 'images', 'summary', { type: 'screenshot', fullPage: true }],
      onlyMainContent: true,
      waitFor: 1,
    })
    expect(document).toMatchObject({
      markdown: expect.stringContaining('# How deltas grow'),
      html: expect.stringContaining('<h1>How deltas grow</h1>'),
      rawHtml: expect.stringContaining('var tracked = true'),
      summary: expect.stringContaining('Rivers carry sand'),
      screenshot: expect.stringMatching(/^data:image\/png;base64,iVBOR/),
      metadata: {
        title: 'How deltas grow',
        description: 'Rivers build land where they meet the sea.',
        sourceURL: `${site.url}/article`,
        url: `${site.url}/article`,
        statusCode: 200,
        contentType: expect.stringContaining('text/html'),
        publishedTime: '2026-03-01T08:00:00Z',
        ogTitle: 'How deltas grow',
      },
    })
    expect(document.links).toContain(`${site.url}/sediment?x=1#top`)
    expect(document.images).toEqual([`${site.url}/map.png`])
    expect(document.markdown).not.toContain('All rights reserved')
  })

  test('extracts data that matches a schema', async () => {
    const schema = { type: 'object', properties: { title: { type: 'string' }, author: { type: 'string' } } }
    const { json } = await firecrawl.scrape(`${site.url}/article`, { formats: [{ type: 'json', schema }] })
    expect(json).toMatchObject({ title: 'How deltas grow', author: 'Ada Rivers' })
  })

  test('runs its actions', async () => {
    const { markdown, actions } = await firecrawl.scrape(`${site.url}/form`, {
      formats: ['markdown'],
      onlyMainContent: false,
      actions: [
        { type: 'click', selector: '#name' },
        { type: 'write', text: 'Ada' },
        { type: 'executeJavascript', script: 'document.title' },
        { type: 'scrape' },
        { type: 'screenshot' },
      ],
    })
    expect(markdown).toContain('Hello Ada')
    expect(actions).toEqual({
      screenshots: [expect.stringMatching(/^data:image\/png;base64,/)],
      scrapes: [{ url: `${site.url}/form`, html: expect.stringContaining('Hello Ada') }],
      javascriptReturns: [{ type: 'string', value: 'Form' }],
    })
  })

  test('says in the warning of the document what location and proxy do not do', async () => {
    const { markdown, warning } = await firecrawl.scrape(`${site.url}/article`, {
      location: { country: 'AT' },
      proxy: 'stealth',
    })
    expect(markdown).toContain('How deltas grow')
    expect(warning).toContain('location.country sets languages, but not where requests leave from')
    expect(warning).toContain('proxy "stealth" is not available')
  })

  testUnless(noOpenssl)('accepts any certificate with skipTlsVerification', async () => {
    const secure = await untrustedServer(respondWith('text/html', article))
    try {
      await expect(firecrawl.scrape(secure.url)).rejects.toMatchObject({ code: 'tls_error' })
      const { markdown, warning } = await firecrawl.scrape(secure.url, { skipTlsVerification: true })
      expect(markdown).toContain('How deltas grow')
      expect(warning).toBeUndefined()
    } finally {
      await secure.close()
    }
  })

  test('returns a page with an error status as a document with that status', async () => {
    const { metadata, warning } = await firecrawl.scrape(`${site.url}/nothing`)
    expect(metadata).toMatchObject({ statusCode: 404, error: 'Not Found' })
    expect(warning).toContain('404')
  })

  test('throws errors with the message, code and status of bax', async () => {
    const unauthorized = new (await loadFirecrawl()).Firecrawl({ apiKey: 'fc-wrong', apiUrl: served.url })
    const failures = [
      [() => firecrawl.scrape(closed), { status: 200, code: 'connection_failed' }],
      [() => firecrawl.scrape('ftp://127.0.0.1/'), { status: 403, code: 'url_blocked' }],
      [() => firecrawl.scrape(site.url, { formats: ['audio'] }), { status: 400, code: 'invalid_request' }],
      [() => unauthorized.scrape(site.url), { status: 401, code: 'unauthorized' }],
    ] as const
    for (const [call, expected] of failures) {
      await expect(call()).rejects.toMatchObject({ ...expected, message: expect.stringMatching(/\S/) })
    }
  })
})

describe('crawl', () => {
  test('waits for the whole site, and obeys sitemap and robots.txt', async () => {
    const job = await firecrawl.crawl(site.url, { limit: 20, pollInterval: 1, scrapeOptions: { formats: ['links'] } })
    expect(job).toMatchObject({ status: 'completed', completed: 7, total: 7, next: null })
    expect(job.data.map(({ metadata }) => metadata!.url!.slice(site.url.length))).toEqual([
      '/',
      '/docs/',
      '/blog/1',
      '/gone',
      '/docs/a',
      '/docs/b?page=1',
      '/docs/b?page=2',
    ])
    expect(job.data[0]).toMatchObject({ links: expect.arrayContaining([`${site.url}/docs/`]) })
    expect(job.data[0]).not.toHaveProperty('markdown')
    const { robotsBlocked } = await firecrawl.getCrawlErrors(job.id)
    expect(robotsBlocked).toEqual([`${site.url}/private/x`])
  })

  test('stays below the start page without crawlEntireDomain', async () => {
    const paths = async (options: Record<string, unknown>) => {
      const { data } = await firecrawl.crawl(`${site.url}/docs/`, { limit: 20, pollInterval: 1, ...options })
      return data.map(({ metadata }) => metadata!.url!.slice(site.url.length)).sort()
    }
    expect(await paths({})).toEqual(['/docs/', '/docs/a', '/docs/b?page=1', '/docs/b?page=2'])
    expect(await paths({ crawlEntireDomain: true, excludePaths: ['^/(gone|docs/b)'] })).toEqual([
      '/',
      '/blog/1',
      '/docs/',
      '/docs/a',
    ])
    expect(await paths({ includePaths: ['/[ab]$'], maxDiscoveryDepth: 1 })).toEqual([
      '/docs/a',
      '/docs/b?page=1',
      '/docs/b?page=2',
    ])
  })

  test('can be started, queried page by page, and cancelled', async () => {
    const { id, url } = await firecrawl.startCrawl(`${site.url}/slow`, { limit: 5 })
    expect(id).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
    expect(url).toBe(`${served.url}/v2/crawl/${id}`)
    expect(await firecrawl.getCrawlStatus(id)).toMatchObject({ id, status: 'scraping', completed: 0, data: [] })
    expect(await firecrawl.cancelCrawl(id)).toBe(true)
    expect(await firecrawl.getCrawlStatus(id)).toMatchObject({ status: 'cancelled' })
    letGo()
    await expect(firecrawl.getCrawlStatus('no-such-crawl')).rejects.toMatchObject({
      status: 404,
      code: 'crawl_not_found',
    })
  })

  test('returns its pages in parts that the SDK joins', async () => {
    const { id } = await firecrawl.startCrawl(site.url, { limit: 20 })
    await waitUntil(async () => (await firecrawl.getCrawlStatus(id)).status === 'completed')
    const part = await served.request('GET', `/v2/crawl/${id}?limit=2`)
    expect(part['data']).toHaveLength(2)
    const rest = await served.request('GET', (part['next'] as string).slice(served.url.length))
    expect(rest['data']).toHaveLength(2)
    expect(rest['next']).toBe(`${served.url}/v2/crawl/${id}?skip=4&limit=2`)
    expect((await firecrawl.getCrawlStatus(id)).data).toHaveLength(7)
  })

  test('can be watched, document by document', async () => {
    const { id } = await firecrawl.startCrawl(`${site.url}/docs/`, { limit: 20 })
    const watcher = firecrawl.watcher(id, { pollInterval: 1 })
    const seen: string[] = []
    watcher.on('document', ({ metadata }) => seen.push(metadata!.url!.slice(site.url.length)))
    const done = new Promise<{ status: string }>((resolve) => watcher.on('done', resolve))
    await watcher.start()
    expect((await done).status).toBe('completed')
    expect(seen.sort()).toEqual(['/docs/', '/docs/a', '/docs/b?page=1', '/docs/b?page=2'])
  })

  test('stops waiting when the start page cannot be loaded', async () => {
    const job = await firecrawl.crawl(closed, { pollInterval: 1 })
    expect(job).toMatchObject({ status: 'failed', data: [] })
  })
})

test('map lists the URLs of a site', async () => {
  const all = await firecrawl.map(site.url)
  expect(all.links.map(({ url }) => url)).toContain(`${site.url}/docs/b?page=2`)
  const { links } = await firecrawl.map(site.url, { search: '/docs/b', ignoreQueryParameters: true, timeout: 60_000 })
  expect(links).toEqual([{ url: `${site.url}/docs/b` }])
})

describe('search', () => {
  test('groups results, with their pages on request', async () => {
    engines.setResults([{ url: `${site.url}/article`, title: 'Deltas', snippet: 'How they grow' }])
    const plain = await firecrawl.search('deltas', { limit: 3 })
    expect(plain.web).toEqual([
      { url: `${site.url}/article`, title: 'Deltas', description: 'How they grow', position: 1 },
    ])
    const { web } = await firecrawl.search('deltas', { scrapeOptions: { formats: ['markdown'] }, sources: ['web'] })
    expect(web![0]).toMatchObject({
      url: `${site.url}/article`,
      title: 'Deltas',
      markdown: expect.stringContaining('# How deltas grow'),
      metadata: { statusCode: 200 },
    })
  })

  test('filters hosts with query operators, and reports unsupported sources', async () => {
    engines.reset()
    const found = await firecrawl.search('deltas', { includeDomains: ['a.test', 'b.test'], sources: ['web', 'news'] })
    expect(engines.requests[0]!.query.get('q')).toBe('deltas (site:a.test OR site:b.test)')
    expect(found.warning).toContain('only the web is searched, not news')
    expect(await firecrawl.search('deltas', { sources: ['images'] })).toEqual({ warning: expect.any(String) })
    expect(engines.requests).toHaveLength(1)
  })

  test('fails when all providers fail', async () => {
    engines.setModes('searxng', 'down')
    await expect(firecrawl.search('deltas')).rejects.toMatchObject({ status: 503, code: 'search_unavailable' })
    engines.reset()
  })
})
