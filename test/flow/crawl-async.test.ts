import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Frame } from '../../src/core/operation/call.ts'
import { follow, openStream } from '../../src/client/client.ts'
import type { CrawlAccepted, CrawlState } from '../../src/core/shapes/crawl.ts'
import { crawl, linkPage, pathsOf } from '../support/crawl.ts'
import { type HomeName, homeNames, type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
/** Responses that wait until they are released. */
const held: (() => void)[] = []
let holding = false

beforeAll(async () => {
  homes = await openHomes()
  const pages = Array.from({ length: 30 }, (_, at) => `/page/${at}`)
  site = await serveSite({
    '/': linkPage('Home', [...pages, 'https://else.example/']),
    ...Object.fromEntries(pages.map((path) => [path, linkPage(path)])),
    '/held': linkPage('Held', ['/held/1', '/held/2', '/held/3']),
    ...Object.fromEntries(
      ['/held/1', '/held/2', '/held/3'].map((path) => [
        path,
        (_: unknown, response: import('node:http').ServerResponse) => {
          const answer = () => response.setHeader('content-type', 'text/html').end(linkPage(path))
          if (holding && path !== '/held/1') held.push(answer)
          else answer()
        },
      ]),
    ),
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

type Event = Frame & { readonly data: Record<string, unknown> }

const streamOf = 'GET /v1/crawl/{id}/stream'
const begin = async (input: Record<string, unknown> = {}, home: HomeName = 'http'): Promise<string> =>
  ((await homes.clients[home].crawl({ url: site.url, async: true, ...input } as never)) as CrawlAccepted).id

async function eventsOf(id: string, input: Record<string, unknown> = {}, home: HomeName = 'http'): Promise<Event[]> {
  const events: Event[] = []
  for await (const frame of follow(homes.transports[home], streamOf, { id, ...input })) events.push(frame as Event)
  return events
}

const withoutProgress = (events: readonly Event[]) => events.filter(({ type }) => type !== 'crawl.progress')
const ended = async (id: string) => void (await eventsOf(id, { types: 'crawl.finished' }))

describe.each(homeNames)('a background crawl through %s', (home: HomeName) => {
  test('returns 202 with its ID, and emits events in order', async () => {
    const id = await begin({ limit: 5 }, home)
    expect(id).toMatch(/^crl_/)
    const events = withoutProgress(await eventsOf(id, {}, home))
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
    expect(events[0]).toMatchObject({ type: 'crawl.started', data: { id, limit: 5 } })
    const pages = events.filter(({ type }) => type === 'crawl.page')
    expect(pages.map(({ data }) => data['index'])).toEqual([0, 1, 2, 3, 4])
    expect(pages[1]!.data).toMatchObject({
      depth: 1,
      url: `${site.url}/page/0`,
      page: { markdown: expect.any(String) },
    })
    expect(events.find(({ type }) => type === 'crawl.skipped')!.data).toEqual({
      skipped: [{ url: 'https://else.example/', reason: 'off_host' }],
    })
    expect(events.at(-1)).toMatchObject({
      type: 'crawl.finished',
      data: { status: 'completed', success: true, total: 5, completed: 5, discovered: 32, skipped: 27, errors: 0 },
    })
  })
})

test('Prefer: respond-async starts a background crawl', async () => {
  const response = await fetch(`${homes.baseUrl}/v1/crawl`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: 'respond-async' },
    body: JSON.stringify({ url: site.url, limit: 1 }),
  })
  expect(response.status).toBe(202)
  const body = (await response.json()) as CrawlAccepted
  expect(body).toEqual({ success: true, id: expect.any(String), url: `${homes.baseUrl}/v1/crawl/${body.id}` })
  await ended(body.id)
})

test('finished pages can be read at any time, in pages of results', async () => {
  const id = await begin({ limit: 12 })
  await ended(id)
  const whole = await homes.clients.http.getCrawl({ id })
  expect(whole).toMatchObject({ success: true, id, status: 'completed', total: 12, completed: 12 })
  expect(Date.parse(whole.expires_at) - Date.parse(whole.created_at)).toBeGreaterThanOrEqual(24 * 3_600_000)
  expect(whole.next).toBeUndefined()
  const first = await homes.clients.http.getCrawl({ id, limit: 5 })
  expect(first.next).toBe(`${homes.baseUrl}/v1/crawl/${id}?skip=5&limit=5`)
  const parts: CrawlState[] = [first]
  for (let { next } = first; next !== undefined; next = parts.at(-1)!.next)
    parts.push((await (await fetch(next)).json()) as CrawlState)
  expect(parts.flatMap(({ data }) => data)).toEqual(whole.data)
  const empty = await homes.clients.http.getCrawl({ id, limit: 0 })
  expect(empty).toMatchObject({ data: [], completed: 12, next: expect.stringMatching(/\?skip=0$/) })
})

test('a background crawl has the same result as a synchronous one', async () => {
  const id = await begin({ limit: 12 })
  await ended(id)
  const [state, accounts] = [await homes.clients.http.getCrawl({ id }), await homes.clients.http.getCrawlErrors({ id })]
  const answer = await crawl(homes.clients.http, site.url, { limit: 12 })
  expect(state.data).toEqual(answer.data)
  const { errors, skipped, skipped_total, robots_blocked } = answer
  expect(accounts).toEqual({ success: true, errors, skipped, skipped_total, robots_blocked })
})

test('crawls are listed, newest first', async () => {
  const first = await begin({ limit: 3 })
  await ended(first)
  const second = await begin({ limit: 1 })
  await ended(second)
  const { crawls, total } = await homes.clients.unix.listCrawls({})
  expect(crawls.slice(0, 2)).toMatchObject([
    { id: second, status: 'completed', completed: 1 },
    { id: first, status: 'completed', total: 3, completed: 3, errors: 0, start_url: site.url },
  ])
  expect(total).toBe(crawls.length)
  expect((await homes.clients.http.listCrawls({ limit: 1 })).crawls.map(({ id }) => id)).toEqual([second])
})

describe('while it runs', () => {
  const release = () => {
    holding = false
    for (const answer of held.splice(0)) answer()
  }
  beforeEach(() => void (holding = true))
  afterEach(release)
  /** Resolves once two pages are completed, and the responses of the other two are held back. */
  const twoHeld = async (id: string) => {
    await waitUntil(async () => held.length === 2 && (await homes.clients.http.getCrawl({ id })).completed === 2)
  }

  test('reports its progress and current URLs', async () => {
    const id = await begin({ url: `${site.url}/held` })
    const stream = (await openStream(homes.transports.http, streamOf, { id }))!
    const seen: Event[] = []
    for await (const frame of stream) {
      seen.push(frame as Event)
      const { data, type } = frame as Event
      // In a fleet, the current URLs are those of the last report of the coordinator, one second old at most.
      const current = data['current'] as string[] | undefined
      if (type !== 'crawl.progress' || data['completed'] !== 2 || current!.length > 2) continue
      expect(data).toMatchObject({ total: 4, queued: 2, errors: 0 })
      expect(current).toEqual([`${site.url}/held/2`, `${site.url}/held/3`])
      break
    }
    expect(await homes.clients.http.getCrawl({ id })).toMatchObject({ status: 'scraping', total: 4, completed: 2 })
    await expect(homes.clients.http.resumeCrawl({ id })).rejects.toMatchObject({ code: 'conflict' })
    release()
    const rest = withoutProgress(await eventsOf(id, { since: seen.at(-1)!.seq }))
    expect(rest[0]!.seq).toBe(seen.at(-1)!.seq + 1)
    expect(rest.at(-1)).toMatchObject({ type: 'crawl.finished', data: { completed: 4 } })
  })

  test('can be cancelled, keeps its pages, and can be resumed', async () => {
    const id = await begin({ url: `${site.url}/held` })
    await twoHeld(id)
    expect(await homes.clients.http.cancelCrawl({ id })).toEqual({ success: true, status: 'cancelled' })
    const state = await homes.clients.http.getCrawl({ id })
    expect(state).toMatchObject({ status: 'cancelled', success: true, total: 2, completed: 2, discovered: 4 })
    expect((await homes.clients.http.getCrawlErrors({ id })).skipped).toEqual([
      { url: `${site.url}/held/2`, reason: 'cancelled' },
      { url: `${site.url}/held/3`, reason: 'cancelled' },
    ])
    expect((await homes.engine.status()).crawls).toBe(0)
    expect(await homes.clients.http.cancelCrawl({ id })).toEqual({ success: true, status: 'cancelled' })
    expect(await homes.clients.http.resumeCrawl({ id })).toMatchObject({ id })
    expect(await homes.clients.http.getCrawl({ id })).toMatchObject({ status: 'scraping', completed: 2 })
    release()
    await ended(id)
    expect(pathsOf(await homes.clients.http.getCrawl({ id }))).toEqual(['/held', '/held/1', '/held/2', '/held/3'])
    expect((await homes.clients.http.getCrawlErrors({ id })).skipped).toEqual([])
  })

  test('is cancelled when a waiting caller disconnects', async () => {
    const leaving = new AbortController()
    const waiting = homes.clients.http.crawl({ url: `${site.url}/held` }, { signal: leaving.signal })
    await waitUntil(() => held.length === 2)
    leaving.abort()
    await expect(waiting).rejects.toThrow()
    await waitUntil(async () => (await homes.engine.status()).crawls === 0)
  })

  test('a timeout ends it with the pages so far', async () => {
    const answer = await crawl(homes.clients.http, `${site.url}/held`, { timeout_secs: 6 })
    expect(answer).toMatchObject({
      success: true,
      status: 'failed',
      code: 'timeout',
      error: 'the crawl took longer than 6 s',
    })
    expect(pathsOf(answer)).toEqual(['/held', '/held/1'])
    expect(answer.skipped.map(({ reason }) => reason)).toEqual(['out_of_time', 'out_of_time'])
  })
})

describe('a stream', () => {
  test('resumes after the last received event, and ends when there are no more', async () => {
    const id = await begin({ limit: 4 })
    const all = withoutProgress(await eventsOf(id))
    expect(withoutProgress(await eventsOf(id, { since: 3 }))).toEqual(all.slice(3))
    const response = await fetch(`${homes.baseUrl}/v1/crawl/${id}/stream`, {
      headers: { 'last-event-id': String(all.at(-2)!.seq) },
    })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(await response.text()).toContain(`id: ${all.at(-1)!.seq}\ndata: {"seq":${all.at(-1)!.seq},`)
    const over = await fetch(`${homes.baseUrl}/v1/crawl/${id}/stream?since=${all.at(-1)!.seq}`)
    expect(over.status).toBe(204)
  })

  test('can be limited to event types', async () => {
    const id = await begin({ limit: 3 })
    const events = await eventsOf(id, { types: 'crawl.page' })
    expect(events.map(({ type }) => type)).toEqual(['crawl.page', 'crawl.page', 'crawl.page', 'crawl.finished'])
    await expect(eventsOf(id, { types: 'crawl.pages' })).rejects.toMatchObject({ code: 'invalid_request' })
  })
})

describe('an unknown crawl', () => {
  test.each(['crl_AAAAAAAAAAAAAAAAAAAA', 'nothing', '../crawls', '%2e%2e'])('%s is not found', async (id) => {
    const notFound = { code: 'crawl_not_found', status: 404 }
    await expect(homes.clients.http.getCrawl({ id })).rejects.toMatchObject(notFound)
    await expect(homes.clients.http.getCrawlErrors({ id })).rejects.toMatchObject(notFound)
    await expect(homes.clients.http.cancelCrawl({ id })).rejects.toMatchObject(notFound)
    await expect(homes.clients.http.resumeCrawl({ id })).rejects.toMatchObject(notFound)
    await expect(eventsOf(id)).rejects.toMatchObject(notFound)
  })

  test('a completed crawl can be neither cancelled nor resumed', async () => {
    const id = await begin({ limit: 1 })
    await ended(id)
    await expect(homes.clients.http.cancelCrawl({ id })).rejects.toMatchObject({ code: 'conflict' })
    await expect(homes.clients.http.resumeCrawl({ id })).rejects.toMatchObject({ code: 'conflict' })
  })
})

test('a completed crawl cannot be cancelled while its last webhook is sent', async () => {
  let release = () => {}
  const receiver = await serveSite({ '/hook': (_, response) => void (release = () => response.end()) })
  const webhook = { url: `${receiver.url}/hook`, events: ['completed'] }
  const id = await begin({ limit: 1, webhook } as never)
  await waitUntil(() => receiver.requests.includes('/hook'))
  await expect(homes.clients.http.cancelCrawl({ id })).rejects.toMatchObject({ code: 'conflict' })
  release()
  await receiver.close()
})

describe('webhooks that fail after the last page', () => {
  const refuse = (_: unknown, response: import('node:http').ServerResponse) => response.writeHead(404).end()
  let receiver: Site
  beforeAll(async () => {
    receiver = await serveSite({ '/hook': refuse })
  })
  afterAll(() => receiver.close())

  test.each([['completed'], ['page']])('are a warning of the crawl (%s)', async (event) => {
    const webhook = { url: `${receiver.url}/hook`, events: [event] }
    const input = { url: site.url, limit: 1, webhook }
    const warning = 'webhook: the receiver responded with 404'
    expect(await homes.clients.http.crawl(input as never)).toMatchObject({ status: 'completed', warning })
    const id = await begin(input)
    await waitUntil(async () => (await homes.clients.http.getCrawl({ id })).warning === warning)
    expect(await homes.clients.http.getCrawl({ id })).toMatchObject({ status: 'completed', completed: 1, warning })
  })
})
