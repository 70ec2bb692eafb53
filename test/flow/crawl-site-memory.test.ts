/** Parts that repeat on the pages of a site are removed, with the same result whatever the speed of the crawl. */
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { follow } from '../../src/client/client.ts'
import { idOf } from '../../src/operations/v2/crawl.ts'
import { crawl, pathOf } from '../support/crawl.ts'
import { comparable, openCrawlFleet } from '../support/crawl-fleet.ts'
import { type CrawlHost, makeCrawlHost } from '../support/crawl-host.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { titled } from '../support/needs.ts'
import { noRedis, startRedis } from '../support/redis.ts'
import { serveSite, type Site } from '../support/site.ts'
import { templateSites } from '../support/template-sites.ts'

const count = 60
/** The first page of the crawl that depends on others; the start page is the first of all. */
const firstInformed = 12
const [articles] = templateSites as [(typeof templateSites)[number]]
const frame = ['Maria Lindgren', 'We use cookies', 'Sign up to receive', 'Our new guide']

let host: CrawlHost
let homes: Homes
let site: Site
/** Number of the first linked page, and of responses after which the next one is held back. */
let first = 0
let hold = Infinity
let served = 0
const held: (() => void)[] = []

beforeAll(async () => {
  host = await makeCrawlHost()
  homes = await openHomes({ stateDir: host.stateDir, home: 'embedded' })
  const send = (html: () => string) => (_: unknown, response: ServerResponse) => {
    const answer = () => void response.setHeader('content-type', 'text/html').end(html())
    if (++served > hold) held.push(answer)
    else answer()
  }
  const paths = Array.from({ length: count }, (_, at) => `/p/${at}`)
  site = await serveSite({
    '/': send(
      () =>
        `<title>Stories</title><h1>Stories</h1><ul>${paths
          .slice(first)
          .map((path) => `<li><a href="${path}">Story ${path}</a></li>`)
          .join('')}</ul>`,
    ),
    ...Object.fromEntries(paths.map((path, at) => [path, send(() => articles.page(at))])),
  })
})
afterEach(() => {
  first = 0
  hold = Infinity
  held.splice(0)
})
afterAll(async () => {
  await homes.close()
  await host.close()
  await site.close()
})

const client = () => homes.clients.http
const input = (more: object = {}) => ({ url: site.url, limit: 100, include_paths: ['/', '/p/**'], ...more })
const crawlSite = (more: object = {}) => crawl(client(), site.url, input(more))
/** Returns the pages of a crawl when it has ended. */
const pagesOf = async (id: string) => {
  for await (const _ of follow(homes.transports.http, 'GET /v1/crawl/{id}/stream', { id, types: 'crawl.finished' }));
  return (await client().getCrawl({ id, limit: 1000 })).data
}
/** Crawls in a separate process that is killed while a response is held back. */
const killedAfter = async (responses: number) => {
  served = 0
  hold = responses
  const { id, process } = await host.start({ input: input({ concurrency: 4 }) as never })
  await expect.poll(() => held.length).toBeGreaterThan(0)
  process.kill('SIGKILL')
  await once(process, 'exit')
  hold = Infinity
  return id
}

test('pages are the same whatever the concurrency; the later ones lose what repeats, and nothing else', async () => {
  const [one, eight, off] = [
    await crawlSite({ concurrency: 1 }),
    await crawlSite({ concurrency: 8 }),
    await crawlSite({ site_memory: false }),
  ]
  expect(one.completed).toBe(count + 1)
  expect(JSON.stringify(eight.data)).toBe(JSON.stringify(one.data))
  expect(one.data.slice(0, firstInformed)).toEqual(off.data.slice(0, firstInformed))
  for (const [at, { markdown }] of one.data.entries()) {
    if (at < firstInformed) continue
    const left = new Set(markdown!.trim().split('\n\n'))
    const isLeft = (text: string) => left.has(text)
    expect(off.data[at]!.markdown!.trim().split('\n\n').filter(isLeft)).toEqual([...left])
    for (const text of frame) expect(markdown).not.toContain(text)
  }
  expect(off.data.some(({ markdown }) => frame.some((text) => markdown!.includes(text)))).toBe(true)
})

test('without the memory, pages are those of single scrapes', async () => {
  const { data } = await crawlSite({ site_memory: false, limit: 30 })
  for (const { markdown, metadata } of data.slice(-5)) {
    const alone = await client().scrape({ url: metadata.sourceURL, render: 'http' })
    expect(markdown).toBe(alone.data!.markdown)
  }
})

test.each([true, false])('crawls of /v2 accept siteMemory: %s', async (siteMemory) => {
  const response = await fetch(`${homes.baseUrl}/v2/crawl`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url: site.url, includePaths: ['^/$', '^/p/'], siteMemory }),
  })
  const started = (await response.json()) as { id: string }
  expect(started).not.toHaveProperty('warning')
  const { data } = await crawlSite({ site_memory: siteMemory })
  expect(JSON.stringify(await pagesOf(idOf(started.id)))).toBe(JSON.stringify(data))
})

test.each([5, 20, 40])('a crawl that was killed after %i responses has the same pages', async (responses) => {
  const whole = await crawlSite()
  expect(whole.data.at(-1)!.markdown).not.toContain(frame[0])
  const id = await killedAfter(responses)
  await client().resumeCrawl({ id })
  expect(JSON.stringify(await pagesOf(id))).toBe(JSON.stringify(whole.data))
})

test('damaged pages are restored as they were, also if they are damaged again', async () => {
  const whole = await crawlSite()
  const id = await killedAfter(50)
  const file = join(host.stateDir, 'crawls', id, 'pages.ndjson')
  // The first resumption is of a killed crawl, the second of a completed one.
  for (const _ of [1, 2]) {
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll('"sourceURL"', '"sourceurl"'))
    await client().resumeCrawl({ id })
    expect(JSON.stringify(await pagesOf(id))).toBe(JSON.stringify(whole.data))
  }
})

test('an unchanged page is reported as the same, also if more or fewer pages come before it', async () => {
  first = 8
  const { id } = await crawlSite()
  first = 0
  const later = await crawlSite({ since: id })
  const changed = later.data.filter(({ changeTracking }) => changeTracking?.changeStatus === 'changed')
  expect(changed.map(({ metadata }) => pathOf(metadata.sourceURL))).toEqual(['/'])
  expect(later.changes).toMatchObject({ unchanged: count - 8 })
})

describe.skipIf(noRedis)(titled('a fleet', noRedis), () => {
  test('gives the result of a single engine', async () => {
    const redis = await startRedis()
    const fleet = await openCrawlFleet(redis)
    try {
      const alone = await fleet.crawlAlone(input())
      await fleet.addWorkers(2)
      const together = await fleet.crawl(input())
      expect(JSON.stringify(comparable(together))).toBe(JSON.stringify(comparable(alone)))
      expect(together.data.at(-1)!.markdown).not.toContain(frame[0])
      await fleet.expectNothingLeft()
    } finally {
      await fleet.close()
      await redis.close()
    }
  })
})
