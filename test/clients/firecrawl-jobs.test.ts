/** Batches, extractions, webhooks and websockets with today's SDK of Firecrawl and an older one. */
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type Firecrawl, type FirecrawlV1, loadFirecrawl, loadOldFirecrawl } from '../support/firecrawl.ts'
import { type Served, serveBax, servedWithinMs } from '../support/served.ts'
import { docx, p } from '../support/office-files.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'
import { article } from '../support/web.ts'

const page = (title: string) =>
  `<!doctype html><title>${title}</title><main><h1>${title}</h1><p>Page ${title}</p></main>`

let served: Served
let site: Site
let firecrawl: Firecrawl
let old: FirecrawlV1
/** Releases the responses of slow pages. */
let release = () => {}
const held = new Promise<void>((resolve) => (release = resolve))

/** A receiver of webhooks that fails the first request. */
const received: { headers: Record<string, unknown>; text: string }[] = []
let refusals = 1
const receiver = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8').on('data', (part: string) => (text += part))
  request.on('end', () => {
    if (refusals-- > 0) return response.writeHead(503).end()
    received.push({ headers: request.headers, text })
    return response.end('ok')
  })
})
const secret = 'a secret of the server'

beforeAll(async () => {
  site = await serveSite({
    '/a': page('A'),
    '/b': page('B'),
    '/moved': (_, response) => response.writeHead(302, { location: '/a' }).end(),
    '/article': article,
    '/robots.txt': (_, response) => response.end('User-agent: *\nDisallow: /b\n'),
    '/slow': (_, response) => void held.then(() => response.end(page('Slow'))),
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  served = await serveBax({ BAX_WEBHOOK_SECRET: secret })
  const { Firecrawl } = await loadFirecrawl()
  firecrawl = new Firecrawl({ apiKey: served.key, apiUrl: served.url })
  old = new (await loadOldFirecrawl())({ apiKey: served.key, apiUrl: served.url })
  // Node 20 has no websocket of its own, which today's SDK looks for.
  Object.assign(globalThis, { WebSocket: globalThis.WebSocket ?? WebSocket })
}, servedWithinMs)
afterAll(async () => {
  release()
  await served.close()
  receiver.close()
  await site.close()
})

const urlOf = (path: string) => `${site.url}${path}`
const titles = (pages: readonly { metadata?: unknown }[]) =>
  pages.map(({ metadata }) => (metadata as { title: string }).title)

describe('a batch', () => {
  test('scrapes each page of the list, in its order, also behind redirects and disallowed by robots.txt', async () => {
    const job = await firecrawl.batchScrape([urlOf('/b'), urlOf('/moved'), urlOf('/a'), urlOf('/none')], {
      options: { formats: ['markdown', 'links'] },
      pollInterval: 1,
    })
    expect(job).toMatchObject({ status: 'completed', completed: 4, total: 4 })
    expect(titles(job.data).slice(0, 3)).toEqual(['B', 'A', 'A'])
    expect(job.data[1]).toMatchObject({
      markdown: expect.stringContaining('# A'),
      metadata: { sourceURL: urlOf('/moved'), url: urlOf('/a') },
    })
    expect(job.data[3]).toMatchObject({ metadata: { statusCode: 404 } })
  })

  test('rejects invalid URLs, or skips and lists them', async () => {
    const urls = [urlOf('/a'), 'http://', 'ftp://127.0.0.1/x']
    await expect(firecrawl.startBatchScrape(urls)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('urls[1] is not a URL'),
    })
    const started = await firecrawl.startBatchScrape(urls, { ignoreInvalidURLs: true })
    expect(started).toMatchObject({ invalidURLs: ['http://', 'ftp://127.0.0.1/x'] })
    expect(started.url).toBe(`${served.url}/v2/batch/scrape/${started.id}`)
    await expect(firecrawl.startBatchScrape([urlOf('/a')], { appendToId: started.id })).rejects.toMatchObject({
      message: expect.stringContaining('appendToId is not supported'),
    })
  })

  test('reports the errors of its pages, and URLs that are listed twice', async () => {
    const { id } = await firecrawl.startBatchScrape(['http://127.0.0.1:1/', urlOf('/a'), urlOf('/a#part')])
    await waitUntil(async () => (await firecrawl.getBatchScrapeStatus(id)).status === 'completed')
    const { errors } = await firecrawl.getBatchScrapeErrors(id)
    expect(errors).toEqual([expect.objectContaining({ url: 'http://127.0.0.1:1/', code: 'url_blocked' })])
    const state = await served.request('GET', `/v2/batch/scrape/${id}?limit=0`)
    expect(state).toMatchObject({
      completed: 1,
      warning: expect.stringContaining('1 of the URLs are listed more than once'),
    })
  })

  test('runs actions on each page', async () => {
    const job = await firecrawl.batchScrape([urlOf('/a'), urlOf('/b')], {
      options: { formats: ['markdown'], actions: [{ type: 'executeJavascript', script: 'document.title' }] },
      pollInterval: 1,
    })
    expect(job.data.map(({ actions }) => actions)).toMatchObject([
      { javascriptReturns: [{ value: 'A' }] },
      { javascriptReturns: [{ value: 'B' }] },
    ])
  })

  test('can be cancelled, and counts in the queue meanwhile', async () => {
    const { id } = await firecrawl.startBatchScrape([urlOf('/slow'), urlOf('/slow?2')])
    await waitUntil(async () => (await firecrawl.getQueueStatus())['activeJobsInQueue'] === 2)
    expect(await firecrawl.getQueueStatus()).toMatchObject({ success: true, jobsInQueue: 2, waitingJobsInQueue: 0 })
    expect(await firecrawl.getConcurrency()).toEqual({ concurrency: 2, maxConcurrency: 64 })
    expect((await firecrawl.getActiveCrawls()).crawls).toEqual([])
    expect(await firecrawl.cancelBatchScrape(id)).toBe(true)
    expect(await firecrawl.getBatchScrapeStatus(id)).toMatchObject({ status: 'cancelled', data: [] })
    expect(await firecrawl.getQueueStatus()).toMatchObject({ jobsInQueue: 0, mostRecentSuccess: expect.any(String) })
  })

  test('can be cancelled over v1', async () => {
    const { id } = await served.request('POST', '/v1/batch/scrape', { urls: [urlOf('/slow')] })
    const batch = `/v1/batch/scrape/${String(id)}`
    expect(await served.request('DELETE', batch)).toEqual({ success: true, status: 'cancelled' })
    expect(await served.request('GET', batch)).toMatchObject({ status: 'cancelled', data: [] })
  })

  test('works with the older SDK', async () => {
    const job = await old.batchScrapeUrls([urlOf('/a'), urlOf('/b')], { formats: ['html'] }, 1)
    expect(job).toMatchObject({ success: true, status: 'completed', completed: 2 })
    expect(titles(job.data)).toEqual(['A', 'B'])
    const { id } = await old.asyncBatchScrapeUrls(['http://127.0.0.1:1/'], {}, undefined, undefined, true)
    await waitUntil(async () => (await old.checkBatchScrapeStatus(id))['status'] === 'completed')
    expect(await old.checkBatchScrapeErrors(id)).toMatchObject({ errors: [{ code: 'url_blocked' }] })
  })
})

describe('a watched crawl or batch', () => {
  test('sends each document over a websocket, then its end', async () => {
    const { id } = await firecrawl.startBatchScrape([urlOf('/a'), urlOf('/b')])
    const watcher = firecrawl.watcher(id, { kind: 'batch' })
    const seen: unknown[] = []
    watcher.on('document', (document) => seen.push(document))
    const done = new Promise<{ status: string }>((resolve) => watcher.on('done', resolve))
    await watcher.start()
    expect((await done).status).toBe('completed')
    expect(titles(seen as [])).toEqual(['A', 'B'])
  })

  test('works with the older SDK', async () => {
    const watcher = await old.batchScrapeUrlsAndWatch([urlOf('/a'), urlOf('/b')], { formats: ['markdown'] })
    const seen: unknown[] = []
    watcher.addEventListener('document', (event) => seen.push((event as CustomEvent).detail))
    await new Promise((resolve, reject) => {
      watcher.addEventListener('done', resolve)
      watcher.addEventListener('error', reject)
    })
    expect(titles(seen as [])).toEqual(['A', 'B'])
  })

  test('needs a key', async () => {
    const { id } = await firecrawl.startBatchScrape([urlOf('/a')])
    const refused = new WebSocket(`${served.url.replace('http', 'ws')}/v2/batch/scrape/${id}`, 'fc-wrong')
    const status = await new Promise((resolve) =>
      refused.on('unexpected-response', (_, response) => resolve(response.statusCode)).on('error', () => {}),
    )
    expect(status).toBe(401)
  })
})

test('lists the running crawls of the caller', async () => {
  const { id } = await firecrawl.startCrawl(urlOf('/slow?crawl'), {
    limit: 5,
    webhook: {
      url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      secret: 'this is not to be shown',
      events: ['failed'],
    },
  })
  const { crawls } = await firecrawl.getActiveCrawls()
  expect(await served.request('GET', '/v1/crawl/active')).toMatchObject({
    success: true,
    crawls: [{ id: expect.stringMatching(/^crl_/), url: urlOf('/slow?crawl') }],
  })
  expect(crawls).toMatchObject([{ id, url: urlOf('/slow?crawl'), options: { limit: 5 } }])
  expect(JSON.stringify(crawls)).not.toContain('not to be shown')
  await firecrawl.cancelCrawl(id)
  expect((await firecrawl.getActiveCrawls()).crawls).toEqual([])
  received.length = 0
})

test('credits and tokens are unlimited', async () => {
  expect(await served.request('GET', '/v1/team/credit-usage')).toEqual({
    success: true,
    data: {
      remaining_credits: 1_000_000_000,
      plan_credits: 1_000_000_000,
      billing_period_start: null,
      billing_period_end: null,
    },
  })
  expect(await served.request('GET', '/v1/team/token-usage')).toMatchObject({
    data: { remaining_tokens: 1_000_000_000 },
  })
  expect(await served.request('GET', '/v2/team/token-usage')).toMatchObject({
    data: { remainingTokens: 1_000_000_000 },
  })
  expect(await firecrawl.getCreditUsage()).toMatchObject({ remainingCredits: 1_000_000_000, billingPeriodStart: null })
  expect(await firecrawl.getTokenUsage()).toMatchObject({ remainingTokens: 1_000_000_000, billingPeriodEnd: null })
  expect(await firecrawl.getCreditUsageHistorical(true)).toEqual({ success: true, periods: [] })
  expect(await firecrawl.getTokenUsageHistorical()).toEqual({ success: true, periods: [] })
  expect(await served.request('GET', '/v1/team/credit-usage/historical?byApiKey=true')).toEqual({
    success: true,
    periods: [],
  })
})

describe('an extraction', () => {
  const schema = { type: 'object', properties: { title: { type: 'string' }, author: { type: 'string' } } }

  test('joins the data of its pages, and says that rules were used', async () => {
    const result = await firecrawl.extract({ urls: [urlOf('/article'), urlOf('/none')], schema, pollInterval: 1 })
    expect(result).toMatchObject({
      success: true,
      status: 'completed',
      data: { title: 'How deltas grow', author: 'Ada Rivers' },
      json_source: 'heuristic',
      sources: { author: [urlOf('/article')] },
    })
  })

  test('works with the older SDK', async () => {
    const result = await old.extract([urlOf('/article')], { schema })
    expect(result).toMatchObject({ success: true, data: { author: 'Ada Rivers' } })
  })

  test('fails when no page could be loaded, and rejects patterns', async () => {
    const failed = await firecrawl.extract({ urls: ['http://127.0.0.1:1/'], schema, pollInterval: 1 })
    expect(failed).toMatchObject({ success: false, status: 'failed', code: 'url_blocked' })
    await expect(firecrawl.extract({ urls: [`${site.url}/*`], schema })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('urls[0] is a pattern'),
    })
  })

  test('is not found under the ID of another job', async () => {
    const { id } = await firecrawl.startBatchScrape([urlOf('/a')])
    const answer = await served.request('GET', `/v2/extract/${id}`)
    expect(answer).toMatchObject({ code: 'crawl_not_found' })
  })
})

describe('an uploaded document', () => {
  test('is converted to the requested formats', async () => {
    const document = await firecrawl.parse(
      { data: docx(p('Deltas', '<w:pStyle w:val="H1"/>')), filename: 'deltas.docx' },
      { formats: ['markdown', 'html'] },
    )
    expect(document).toMatchObject({
      markdown: '# Deltas\n',
      html: expect.stringContaining('<h1>Deltas</h1>'),
      metadata: { title: 'A title', sourceURL: 'deltas.docx' },
    })
  })

  test('has no identity', async () => {
    const parsed = firecrawl.parse({ data: Buffer.from('One line'), filename: 'a.txt' }, { cookies: 'a=1' } as never)
    await expect(parsed).rejects.toThrow('cookies is not supported here')
  })

  test('is read with a boundary of any length', async () => {
    for (const boundary of ['b', 'x'.repeat(70)]) {
      const body = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nOne line\r\n--${boundary}--\r\n`
      const headers = { 'x-api-key': served.key, 'content-type': `multipart/form-data; boundary=${boundary}` }
      const response = await fetch(`${served.url}/v2/parse`, { method: 'POST', headers, body })
      expect(await response.json()).toMatchObject({
        success: true,
        data: { markdown: expect.stringContaining('One line') },
      })
    }
  })

  test('is rejected if it is no document', async () => {
    const file = { data: Buffer.from('PK\u0003\u0004'), filename: 'x.zip', contentType: 'application/zip' }
    await expect(firecrawl.parse(file)).rejects.toMatchObject({ code: 'unsupported_content_type' })
    expect(await served.request('POST', '/v2/parse', {})).toMatchObject({ code: 'unsupported_media_type' })
  })
})

describe('a webhook', () => {
  test('receives signed events in order, repeated after a failure', async () => {
    const { port } = receiver.address() as AddressInfo
    refusals = 1
    const webhook = { url: `http://127.0.0.1:${port}/hook`, headers: { 'X-Own': 'yes' }, metadata: { order: 7 } }
    const { id } = await firecrawl.startBatchScrape([urlOf('/a'), 'http://127.0.0.1:1/', urlOf('/b')], { webhook })
    await waitUntil(() => received.length === 5)
    const bodies = received.map(({ text }) => JSON.parse(text) as Record<string, unknown> & { data: [] })
    expect(bodies.map(({ type, success }) => [type, success])).toEqual([
      ['batch_scrape.started', true],
      ['batch_scrape.page', true],
      ['batch_scrape.page', false],
      ['batch_scrape.page', true],
      ['batch_scrape.completed', true],
    ])
    expect(bodies[1]).toMatchObject({
      id,
      metadata: { order: 7 },
      data: [{ metadata: { title: 'A', statusCode: 200 } }],
    })
    for (const { headers, text } of received) {
      const signature = createHmac('sha256', secret).update(text).digest('hex')
      expect(headers).toMatchObject({ 'x-own': 'yes', 'x-firecrawl-signature': `sha256=${signature}` })
    }
  })

  test('is rejected at an address that the egress policy blocks', async () => {
    const webhook = 'http://169.254.169.254/latest'
    await expect(firecrawl.startCrawl(urlOf('/a'), { webhook })).rejects.toMatchObject({
      status: 403,
      code: 'url_blocked',
    })
  })
})
