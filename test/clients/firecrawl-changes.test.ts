/** Change tracking, and extraction with a language model, with today's SDK of Firecrawl and an older one. */
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FakeModel, serveModel } from '../support/fake-model.ts'
import { type Firecrawl, type FirecrawlV1, loadFirecrawl, loadOldFirecrawl } from '../support/firecrawl.ts'
import { type Served, serveBax, servedWithinMs } from '../support/served.ts'
import { serveSite, type Site } from '../support/site.ts'

let served: Served
let site: Site
let model: FakeModel
let firecrawl: Firecrawl
let old: FirecrawlV1
/** Text and status of the page. */
let [price, status] = ['9', 200]
/** Every test tracks pages of its own. */
let tests = 0

const respond = (_: unknown, response: ServerResponse) =>
  response
    .writeHead(status, { 'content-type': 'text/html' })
    .end(`<!doctype html><title>Prices</title><main><h1>Prices</h1><p>Starter</p><p>Costs ${price} a month</p></main>`)

beforeAll(async () => {
  site = await serveSite({ '/price': respond, '/other': respond })
  model = await serveModel()
  const { url, name, key } = model.config
  served = await serveBax({ BAX_MODEL_URL: url, BAX_MODEL: name, BAX_MODEL_KEY: key! })
  const { Firecrawl } = await loadFirecrawl()
  firecrawl = new Firecrawl({ apiKey: served.key, apiUrl: served.url })
  old = new (await loadOldFirecrawl())({ apiKey: served.key, apiUrl: served.url })
}, servedWithinMs)
afterAll(async () => {
  await served.close()
  await site.close()
  await model.close()
})
beforeEach(() => {
  price = '9'
  status = 200
  tests += 1
})

const page = (path = '/price') => `${site.url}${path}?${tests}`
const tracked = (options: object = {}, client = firecrawl) =>
  client.scrape(page(), { formats: ['markdown', { type: 'changeTracking', modes: [], ...options }] })

describe('an extraction with a language model', () => {
  const schema = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] }

  test('returns the data of the model, and says so', async () => {
    model.reply({ content: '{"price":41}' })
    const extracted = await firecrawl.extract({ urls: [page()], schema, prompt: 'the price', pollInterval: 1 })
    expect(extracted).toMatchObject({ success: true, status: 'completed', data: { price: 41 }, json_source: 'model' })
    expect(JSON.stringify(model.calls)).toContain('Costs 9 a month')
    model.reply({ content: '{"price":42}' })
    expect(await old.extract([page('/other')], { schema })).toMatchObject({ success: true, data: { price: 42 } })
  })

  test('says that rules were used when the model fails', async () => {
    model.reply({ status: 400, error: 'no such model' })
    const extracted = await firecrawl.extract({ urls: [page()], schema, pollInterval: 1 })
    expect(extracted).toMatchObject({ status: 'completed', json_source: 'heuristic' })
  })
})

describe('a scrape', () => {
  test('reports a new, an unchanged and a changed page', async () => {
    const before = new Date().toISOString()
    const formats = ['markdown', 'changeTracking']
    const first = await firecrawl.scrape(page(), { formats })
    expect(first.changeTracking).toEqual({ previousScrapeAt: null, changeStatus: 'new', visibility: 'visible' })
    const { changeTracking: second } = await firecrawl.scrape(page(), { formats, maxAge: 60_000 })
    expect(second).toEqual({ previousScrapeAt: expect.any(String), changeStatus: 'same', visibility: 'visible' })
    expect(second!.previousScrapeAt! >= before).toBe(true)
    price = '12'
    const { changeTracking: third, markdown } = await firecrawl.scrape(page(), { formats })
    expect(markdown).toContain('Costs 12')
    expect(third).toEqual({ previousScrapeAt: expect.any(String), changeStatus: 'changed', visibility: 'visible' })
    expect(third!.previousScrapeAt! > second!.previousScrapeAt!).toBe(true)
  })

  test('shows the changed lines with the mode git-diff', async () => {
    await tracked()
    price = '12'
    const { changeTracking } = await tracked({ modes: ['git-diff'] })
    expect(changeTracking!.diff!.text).toBe('@@ -2,4 +2,4 @@\n \n Starter\n \n-Costs 9 a month\n+Costs 12 a month')
    const [chunk] = changeTracking!.diff!.json!.files[0]!.chunks
    expect(chunk!.changes.slice(3)).toEqual([
      { type: 'del', del: true, ln: 5, content: '-Costs 9 a month' },
      { type: 'add', add: true, ln: 5, content: '+Costs 12 a month' },
    ])
  })

  test('shows the changed fields of extracted data with the mode json', async () => {
    const schema = { type: 'object', properties: { name: { type: 'string' }, price: { type: 'string' } } }
    const options = { modes: ['json'], prompt: 'the plan', schema }
    model.reply(({ messages }) => ({
      content: JSON.stringify({ name: 'Starter', price: /Costs (\d+)/.exec(messages.at(-1)!.content)![1] }),
    }))
    await tracked(options)
    expect(model.calls).toHaveLength(0)
    price = '12'
    expect((await tracked(options)).changeTracking).toMatchObject({
      changeStatus: 'changed',
      json: { price: { previous: '9', current: '12' } },
    })
    price = '15'
    model.reply({ status: 400, error: 'no such model' })
    const failed = await tracked(options)
    expect(failed.changeTracking).toMatchObject({ changeStatus: 'changed' })
    expect(failed.changeTracking).not.toHaveProperty('json')
    expect(failed.warning).toContain('changeTracking.json is missing: ')
  })

  test('keeps a history for each tag, each key and each form of the page', async () => {
    const made = await served.bax('key', 'create', 'other', '--scopes', 'scrape')
    const { Firecrawl } = await loadFirecrawl()
    const other = new Firecrawl({ apiKey: made.stdout.trim(), apiUrl: served.url })
    await tracked()
    expect((await tracked({ tag: 'weekly' })).changeTracking).toMatchObject({ changeStatus: 'new' })
    expect((await tracked({ tag: 'weekly' })).changeTracking).toMatchObject({ changeStatus: 'same' })
    expect((await tracked({}, other)).changeTracking).toMatchObject({ changeStatus: 'new' })
    const whole = await firecrawl.scrape(page(), { formats: ['markdown', 'changeTracking'], onlyMainContent: false })
    expect(whole.changeTracking).toMatchObject({ changeStatus: 'new' })
    expect((await tracked()).changeTracking).toMatchObject({ changeStatus: 'same' })
  })

  test('reports a removed page and its return, and does not compare a failing one', async () => {
    await tracked()
    status = 503
    const failing = await tracked()
    expect(failing.changeTracking).toBeUndefined()
    expect(failing.warning).toContain('changeTracking is missing: the page answered 503')
    status = 404
    expect((await tracked()).changeTracking).toMatchObject({
      changeStatus: 'removed',
      previousScrapeAt: expect.any(String),
    })
    status = 200
    expect((await tracked()).changeTracking).toMatchObject({
      changeStatus: 'new',
      previousScrapeAt: expect.any(String),
    })
  })

  test('requires Markdown, and a page', async () => {
    await expect(firecrawl.scrape(page(), { formats: ['changeTracking'] })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('requires the format markdown'),
    })
    const form = new FormData()
    form.append('file', new Blob(['x'], { type: 'text/plain' }), 'x.txt')
    form.append('options', '{"formats":["markdown","changeTracking"]}')
    const response = await fetch(`${served.url}/v2/parse`, {
      method: 'POST',
      headers: { 'x-api-key': served.key },
      body: form,
    })
    expect(await response.json()).toMatchObject({ error: 'changes of an uploaded file are not tracked' })
  })
})

test('batches and crawls compare with earlier scrapes', async () => {
  await tracked()
  price = '12'
  const formats = ['markdown', { type: 'changeTracking', modes: ['git-diff'] }]
  const batch = await firecrawl.batchScrape([page(), page('/other')], { options: { formats }, pollInterval: 1 })
  expect(batch.data.map(({ changeTracking }) => changeTracking)).toMatchObject([
    { changeStatus: 'changed', diff: { text: expect.stringContaining('+Costs 12 a month') } },
    { changeStatus: 'new' },
  ])
  const crawl = await firecrawl.crawl(page('/other'), { limit: 1, scrapeOptions: { formats }, pollInterval: 1 })
  expect(crawl.data[0]!.changeTracking).toMatchObject({ changeStatus: 'same' })
  const since = await served.request('POST', '/v1/crawl', { url: page(), since: 'crl_01234567890123456789', formats })
  expect(since).toMatchObject({ code: 'crawl_not_found' })
})

test('works with the older SDK', async () => {
  const options = { formats: ['markdown', 'changeTracking'], changeTrackingOptions: { modes: ['git-diff'], tag: 'v1' } }
  expect(await old.scrapeUrl(page(), options)).toMatchObject({ changeTracking: { changeStatus: 'new' } })
  price = '12'
  const expected = {
    changeStatus: 'changed',
    diff: { text: expect.stringContaining('-Costs 9'), json: { files: [{}] } },
  }
  expect(await old.scrapeUrl(page(), options)).toMatchObject({ changeTracking: expected })
  const crawl = await old.crawlUrl(page(), { limit: 1, scrapeOptions: options }, 1)
  expect(crawl.data[0]).toMatchObject({ changeTracking: { changeStatus: 'same' } })
})
