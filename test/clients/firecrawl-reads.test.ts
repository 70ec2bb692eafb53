/** Options of the SDK for the reader of a page, and for the elements of it that are kept, with both of its clients. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Firecrawl, loadFirecrawl } from '../support/firecrawl.ts'
import { type ForwardProxy, serveProxy } from '../support/forward-proxy.ts'
import { type SearchServer, serveSearch } from '../support/search-server.ts'
import { type Served, serveBax, servedWithinMs } from '../support/served.ts'
import { serveSite, type Site } from '../support/site.ts'

/** The page as the site received its request. */
const page = (headers: Record<string, unknown>) => `<!doctype html><html><title>Teas</title>
  <nav><a href="/more">Menu</a></nav>
  <main><h1>Teas</h1><p class="price">4 EUR</p><p>Green tea from Japan.</p><p class="note ad">Buy now</p></main>
  <div id="asked">Team ${headers['x-team']}, ${headers['accept-language']}, ${headers['user-agent']}</div>
  <footer><a href="/imprint">Imprint</a></footer>`

let served: Served
let site: Site
let engines: SearchServer
let forward: ForwardProxy
let firecrawl: Firecrawl
let url: string

beforeAll(async () => {
  ;[site, engines, forward] = await Promise.all([
    serveSite({
      '/teas': ({ headers }, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end(page(headers))
      },
    }),
    serveSearch(),
    serveProxy({ username: 'ann', password: 'secret-proxy' }),
  ])
  served = await serveBax(engines.env('searxng'))
  const { Firecrawl } = await loadFirecrawl()
  firecrawl = new Firecrawl({ apiKey: served.key, apiUrl: served.url })
  url = `${site.url}/teas`
}, servedWithinMs)
afterAll(() => Promise.all([served, engines, site, forward].map((opened) => opened?.close())))
beforeEach(() => void forward.passed.splice(0))

type Result = {
  readonly markdown?: string
  readonly html?: string
  readonly links?: unknown
  readonly warning?: string
}
/** Scrapes with the clients of both APIs. */
const clients: Readonly<Record<string, (address: string, options: Record<string, unknown>) => Promise<Result>>> = {
  v2: (address, options) => firecrawl.scrape(address, options),
  v1: (address, options) => firecrawl.v1.scrapeUrl(address, options),
}

describe.each(Object.keys(clients))('the %s client', (name) => {
  const scrape = (options: Record<string, unknown>, address = url) => clients[name]!(address, options)
  const asked = async (options: Record<string, unknown>) =>
    (await scrape({ includeTags: ['#asked'], ...options })).markdown

  test('sends headers, and the languages of a location', async () => {
    expect(await asked({ headers: { 'X-Team': 'blue' } })).toContain('Team blue, ')
    expect(await asked({ location: { country: 'AT' } })).toContain('de-AT,de;q=0.9')
    expect(await asked({ location: { country: 'CH', languages: ['it'] } })).toContain('it-CH,it;q=0.9')
  })

  test('reads a page as a phone with mobile', async () => {
    expect(await asked({ mobile: true })).toMatch(/Mobile.* Safari/)
    expect(await asked({})).not.toContain('Mobile')
  })

  test('reads through the URL of a proxy, and reports kinds of proxies that are not available', async () => {
    const proxy = forward.url.replace('//', '//ann:secret-proxy@')
    const through = await scrape({ proxy }, `http://shop.test:${new URL(site.url).port}/teas`)
    expect(through.markdown).toContain('Green tea from Japan.')
    expect(through).toMatchObject({ metadata: { proxy: forward.url } })
    expect(forward.passed.some((line) => line.endsWith('/teas'))).toBe(true)
    expect((await scrape({ proxy: 'basic' })).warning).toBeUndefined()
    expect((await scrape({ proxy: 'stealth' })).warning).toContain('proxy "stealth" is not available')
  })

  test('keeps only the elements of includeTags, in the order of the page', async () => {
    const options = { formats: ['markdown', 'html', 'links', 'rawHtml'], includeTags: ['footer', '.price', 'h1'] }
    const kept = await scrape(options)
    expect(kept.markdown).toBe(`# Teas\n\n4 EUR\n\n[Imprint](${site.url}/imprint)\n`)
    expect(kept.html).toBe(
      `<!DOCTYPE html><html><body><h1>Teas</h1><p class="price">4 EUR</p><footer><a href="${site.url}/imprint">Imprint</a></footer></body></html>`,
    )
    expect(JSON.stringify(kept.links)).not.toContain('/more')
    expect(kept).toMatchObject({ rawHtml: expect.stringContaining('Buy now'), metadata: { title: 'Teas' } })
  })

  test('removes the elements of excludeTags, also within those of includeTags', async () => {
    const without = await scrape({ excludeTags: ['.ad', '#asked', 'nav'], onlyMainContent: false })
    expect(without.markdown).toBe(`# Teas\n\n4 EUR\n\nGreen tea from Japan.\n\n[Imprint](${site.url}/imprint)\n`)
    const both = await scrape({ includeTags: ['main'], excludeTags: ['h1', 'p.note'] })
    expect(both.markdown).toBe('4 EUR\n\nGreen tea from Japan.\n')
  })

  test('takes patterns with asterisks for both', async () => {
    expect((await scrape({ includeTags: ['*pric*', 'h1'] })).markdown).toBe('# Teas\n\n4 EUR\n')
    const without = await scrape({ includeTags: ['main'], excludeTags: ['*not*', '*rice*'] })
    expect(without.markdown).toBe('# Teas\n\nGreen tea from Japan.\n')
  })

  test('reports selectors that match nothing, and rejects invalid ones', async () => {
    expect(await scrape({ includeTags: ['article'] })).toMatchObject({
      markdown: '',
      warning: 'no element matches include_tags',
    })
    await expect(scrape({ excludeTags: ['.ad', 'a:hover'] })).rejects.toThrow(
      'excludeTags[1]: "a:hover" is not valid: :hover is not supported',
    )
  })
})

describe('the elements of includeTags and excludeTags', () => {
  const scrapeOptions = { includeTags: ['.price', '.note'], excludeTags: ['.ad'] }
  const expected = '4 EUR\n'

  test('are those of the pages of crawls and batches', async () => {
    const crawled = await firecrawl.crawl(url, { limit: 1, pollInterval: 1, scrapeOptions })
    expect(crawled.data.map(({ markdown }) => markdown)).toEqual([expected])
    const batch = await firecrawl.batchScrape([url], { options: scrapeOptions, pollInterval: 1 })
    expect(batch.data.map(({ markdown }) => markdown)).toEqual([expected])
    const old = await firecrawl.v1.crawlUrl(url, { limit: 1, scrapeOptions }, 1)
    expect(old.data.map(({ markdown }) => markdown)).toEqual([expected])
  })

  test('are those of the pages that a search found', async () => {
    engines.setResults([{ url, title: 'Teas', snippet: 'Green tea' }])
    const { web } = await firecrawl.search('tea', { scrapeOptions: { formats: ['markdown'], ...scrapeOptions } })
    expect(web![0]!.markdown).toBe(expected)
    const { data } = await firecrawl.v1.search('tea', { scrapeOptions: { formats: ['markdown'], ...scrapeOptions } })
    expect(data).toMatchObject([{ content: { markdown: expected } }])
  })

  test('are named in errors as they were given', async () => {
    const invalid = { formats: ['markdown'], includeTags: ['::before'] }
    const message = 'scrapeOptions.includeTags[0]: "::before" is not valid'
    await expect(firecrawl.startCrawl(url, { scrapeOptions: invalid })).rejects.toThrow(message)
    await expect(firecrawl.search('tea', { scrapeOptions: invalid })).rejects.toThrow(message)
    const { error, details } = await served.request('POST', '/v1/crawl', {
      url,
      scrape_options: { include_tags: ['('] },
    })
    expect(error).toContain('scrape_options.include_tags[0]')
    expect(details).toMatchObject([{ path: 'scrape_options.include_tags[0]' }])
  })
})
