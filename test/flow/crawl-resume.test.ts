import { once } from 'node:events'
import { appendFile, readdir, readFile, truncate, utimes } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { follow } from '../../src/client/client.ts'
import type { CrawlAccounts, CrawlState } from '../../src/core/shapes/crawl.ts'
import { type CrawlHost, makeCrawlHost } from '../support/crawl-host.ts'
import { crawl, linkPage, pathsOf } from '../support/crawl.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'
import { receiveWebhooks } from '../support/webhooks.ts'

const pages = 60
let host: CrawlHost
let homes: Homes
let site: Site
/** Number of requests after which a response is held back. */
let hold = Infinity
let served = 0
/** Requests that got a response, including robots.txt. */
const answered: string[] = []
const held: (() => void)[] = []
/** The page whose response is held back. */
let slow: string | undefined

beforeAll(async () => {
  host = await makeCrawlHost()
  homes = await openHomes({ stateDir: host.stateDir, home: 'embedded' })
  const countedPage = (path: string, links: string[]) => (_: unknown, response: import('node:http').ServerResponse) => {
    const answer = () => {
      answered.push(path)
      response.setHeader('content-type', 'text/html').end(linkPage(path, links))
    }
    if (++served > hold || path === slow) held.push(answer)
    else answer()
  }
  // A tree: each page links to two further ones, and back to the first.
  const paths = Array.from({ length: pages }, (_, at) => `/p/${at}`)
  site = await serveSite({
    '/robots.txt': (_, response) => {
      answered.push('/robots.txt')
      response.end('User-agent: *\nAllow: /\n')
    },
    ...Object.fromEntries(
      paths.map((path, at) => [
        path,
        countedPage(path, ['/p/0', ...paths.slice(2 * at + 1, 2 * at + 3), `/deep/${at}?x`]),
      ]),
    ),
  })
})
afterAll(async () => {
  await homes.close()
  await host.close()
  await site.close()
})

const input = () => ({ url: `${site.url}/p/0`, limit: 1000, max_depth: 20, exclude_paths: ['/deep/**'] })
const client = () => homes.clients.http
const atEnd = async (id: string): Promise<{ state: CrawlState; accounts: CrawlAccounts }> => {
  for await (const _ of follow(homes.transports.http, 'GET /v1/crawl/{id}/stream', { id, types: 'crawl.finished' }));
  return { state: await client().getCrawl({ id, limit: 1000 }), accounts: await client().getCrawlErrors({ id }) }
}

/** Crawls in a separate process that is killed while a response is held back, and this many pages are stored. */
async function killedAfter(
  requests: number,
  task: Parameters<CrawlHost['start']>[0],
  { completed = 0 } = {},
): Promise<string> {
  served = 0
  hold = requests
  const { id, process } = await host.start(task)
  await expect.poll(() => held.length).toBeGreaterThan(0)
  await waitUntil(async () => (await client().getCrawl({ id })).completed >= completed)
  process.kill('SIGKILL')
  await once(process, 'exit')
  hold = Infinity
  held.splice(0)
  return id
}

describe('a crawl whose engine was killed', () => {
  test('is reported as interrupted, and resumes without losing or repeating a page', async () => {
    const whole = await crawl(client(), input().url, input())
    // Pages that were answered last may not be stored yet.
    const id = await killedAfter(20, { input: { ...input(), concurrency: 4 } }, { completed: 11 })
    const before = await client().getCrawl({ id, limit: 1000 })
    expect(before).toMatchObject({ status: 'failed', success: true, code: 'worker_lost' })
    expect(before.completed).toBeGreaterThan(10)
    expect(before.completed).toBeLessThan(30)
    await client().resumeCrawl({ id })
    const { state, accounts } = await atEnd(id)
    expect(state).toMatchObject({ status: 'completed', total: pages, completed: pages })
    expect(state.data).toEqual(whole.data)
    expect(accounts.skipped).toEqual(whole.skipped)
  })

  test('repeats no request, including robots.txt and pages loaded ahead', async () => {
    answered.length = 0
    // Pages 16 to 30 are loaded and wait for page 15, which is held back.
    slow = '/p/15'
    const prefetched = Array.from({ length: 15 }, (_, at) => `"GET ${site.url}/p/${at + 16}"`)
    const { id, process } = await host.start({ input: { ...input(), concurrency: 8 } })
    const folder = join(host.stateDir, 'crawls', id)
    const kept = async () => {
      const names = (await readdir(folder)).filter((name) => /^ahead-.*\.kept$/.test(name))
      return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('')
    }
    await waitUntil(async () => {
      const text = await kept()
      return prefetched.every((path) => text.includes(path)) && (await client().getCrawl({ id })).completed === 15
    })
    process.kill('SIGKILL')
    await once(process, 'exit')
    slow = undefined
    held.splice(0)
    expect((await client().getCrawl({ id })).completed).toBe(15)
    await client().resumeCrawl({ id })
    const { state } = await atEnd(id)
    expect(state.data).toEqual((await crawl(client(), input().url, input())).data)
    // The second half is the reference crawl, which requests each page again.
    expect(answered.slice(0, pages + 1).toSorted()).toEqual([...new Set(answered)].toSorted())
    expect(await readdir(folder)).not.toContainEqual(expect.stringMatching(/\.kept$/))
  })

  test('has the same result after being killed repeatedly', async () => {
    let id = await killedAfter(7, { input: { ...input(), concurrency: 3 } })
    for (const requests of [5, 9]) id = await killedAfter(requests, { resume: id })
    await client().resumeCrawl({ id })
    const { state } = await atEnd(id)
    expect(state.data).toEqual((await crawl(client(), input().url, input())).data)
    const events = (await readFile(join(host.stateDir, 'crawls', id, 'journal.ndjson'), 'utf8')).trim().split('\n')
    const lines = events.map((line) => JSON.parse(line) as { seq: number; type: string })
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, at) => at + 1))
    expect(lines.filter(({ type }) => type === 'crawl.resumed')).toHaveLength(3)
  })

  test('resumes from the last complete commit, wherever the journal is cut', async () => {
    const id = await killedAfter(15, { input: { ...input(), concurrency: 4 } })
    const journal = join(host.stateDir, 'crawls', id, 'journal.ndjson')
    const text = await readFile(journal, 'utf8')
    // The line of the last page is complete, the one with its links is cut.
    const last = text.trimEnd().lastIndexOf('\n')
    await truncate(journal, Buffer.byteLength(text.slice(0, last)) + 20)
    await appendFile(join(host.stateDir, 'crawls', id, 'pages.ndjson'), '{"url":"torn')
    await client().resumeCrawl({ id })
    expect((await atEnd(id)).state.data).toEqual((await crawl(client(), input().url, input())).data)
  })

  test('cannot be resumed while another process runs it', async () => {
    served = 0
    hold = 10
    const { id, process } = await host.start({ input: input() })
    await expect.poll(() => held.length).toBeGreaterThan(0)
    expect(await client().getCrawl({ id })).toMatchObject({ status: 'scraping' })
    await expect(client().resumeCrawl({ id })).rejects.toMatchObject({ code: 'conflict' })
    await expect(client().cancelCrawl({ id })).rejects.toMatchObject({ code: 'conflict' })
    process.kill('SIGKILL')
    await once(process, 'exit')
    hold = Infinity
    held.splice(0)
    await client().resumeCrawl({ id })
    expect((await atEnd(id)).state.completed).toBe(pages)
  })
})

test('crawls of a closed engine can be resumed, without sending their webhooks again', async () => {
  served = 0
  hold = 10
  const receiver = await receiveWebhooks()
  const { webhook, received } = receiver
  const first = await openHomes({ stateDir: host.stateDir, home: 'embedded' })
  const { id } = (await first.clients.http.crawl({ ...input(), webhook, async: true })) as { id: string }
  await expect.poll(() => held.length).toBeGreaterThan(0)
  await expect.poll(() => received.length).toBeGreaterThan(2)
  await first.engine.close()
  const before = received.map(({ event }) => event)
  hold = Infinity
  held.splice(0)
  expect(await client().getCrawl({ id })).toMatchObject({ status: 'failed', code: 'worker_lost' })
  await client().resumeCrawl({ id })
  expect((await atEnd(id)).state.completed).toBe(pages)
  // The start, every page and the end.
  await expect.poll(() => new Set(received.map(({ event }) => event)).size).toBe(pages + 2)
  // The engine may have been closed before the response to the last one arrived.
  const after = received.slice(before.length).map(({ event }) => event)
  expect(after.filter((event) => before.slice(0, -1).includes(event))).toEqual([])
  await first.close().catch(() => {})
  await receiver.close()
})

test('crawls are removed after a day', async () => {
  const [old, young] = [
    await crawl(client(), input().url, { limit: 1 }),
    await crawl(client(), input().url, { limit: 1 }),
  ]
  const folder = (id: string) => join(host.stateDir, 'crawls', id)
  const yesterday = new Date(Date.now() - 25 * 3_600_000)
  await utimes(join(folder(old.id), 'journal.ndjson'), yesterday, yesterday)
  // A new engine removes expired crawls at its first crawl.
  const next = await openHomes({ stateDir: host.stateDir, home: 'embedded' })
  await crawl(next.clients.http, input().url, { limit: 1 })
  await expect.poll(() => existsSync(folder(old.id))).toBe(false)
  expect(existsSync(folder(young.id))).toBe(true)
  await next.engine.close()
})

test('pages come in the same order whatever the concurrency', async () => {
  const runs = await Promise.all(
    [1, 4, 16, undefined].map((concurrency) =>
      crawl(client(), input().url, { ...input(), limit: 40, ...(concurrency && { concurrency }) }),
    ),
  )
  for (const { data, errors, skipped } of runs)
    expect({ data, errors, skipped }).toEqual({ data: runs[0]!.data, errors: [], skipped: runs[0]!.skipped })
  expect(pathsOf(runs[0]!)).toHaveLength(40)
})
