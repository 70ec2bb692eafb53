/** A webhook whose receiver fails in all tries, which takes ten seconds; firecrawl-jobs.test.ts has the others. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadFirecrawl } from '../support/firecrawl.ts'
import { type Served, serveBax, servedWithinMs } from '../support/served.ts'
import { serveSite, type Site } from '../support/site.ts'

let served: Served
let site: Site

beforeAll(async () => {
  site = await serveSite({
    '/a': '<!doctype html><title>A</title><main><h1>A</h1><p>Page A</p></main>',
    // Never responds.
    '/slow': () => {},
    '/hook': (_, response) => response.writeHead(503).end(),
  })
  served = await serveBax()
}, servedWithinMs)
afterAll(async () => {
  await served.close()
  await site.close()
})

test('a webhook that fails adds a warning to the crawl', async () => {
  const { Firecrawl } = await loadFirecrawl()
  const firecrawl = new Firecrawl({ apiKey: served.key, apiUrl: served.url })
  const webhook = {
    url: `${site.url}/hook`,
    events: ['started', 'completed'],
    secret: 'of this request only',
  }
  const { id } = await firecrawl.startBatchScrape([`${site.url}/a`, `${site.url}/slow`], { webhook })
  await expect.poll(async () => (await served.request('GET', `/v2/crawl/${id}`))['warning']).toMatch(/webhook: .*503/)
  await firecrawl.cancelBatchScrape(id)
})
