/** Crawls that are polled while they run and end: every response shows one moment. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { uuidOf } from '../../src/core/ids.ts'
import type { CrawlAccounts } from '../../src/core/shapes/crawl.ts'
import { linkPage } from '../support/crawl.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'
import { respondWith } from '../support/web.ts'

/** The fields that responses about crawls and batches share in all formats. */
interface State {
  readonly status: string
  readonly total: number
  readonly completed: number
  readonly next?: string | undefined
  readonly data: readonly unknown[]
}

const paths = Array.from({ length: 24 }, (_, at) => `/page/${at}`)
/** Pages per response, so that they are read in several parts. */
const limit = 10

let homes: Homes
let site: Site

beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite({
    '/robots.txt': respondWith('text/plain', 'User-agent: *\nDisallow: /private/'),
    '/': linkPage('Home', [...paths, '/away', 'https://else.example/', '/private/x']),
    '/away': (_, response) =>
      void response.writeHead(302, { location: site.url.replace('127.0.0.1', 'localhost') }).end(),
    ...Object.fromEntries(paths.map((path) => [path, linkPage(path)])),
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

/** Reads all pages of a job, and checks that each response has those that it counts. */
async function readWhole(read: (range: { skip: number; limit: number }) => Promise<State>): Promise<string> {
  for (let skip = 0; ;) {
    const { status, total, completed, next, data } = await read({ skip, limit })
    skip += data.length
    expect(completed).toBeLessThanOrEqual(total)
    if (next === undefined) expect(completed).toBe(skip)
    else
      expect({ next, completed }).toEqual({
        next: expect.stringContaining(`?skip=${skip}&limit=${limit}`),
        completed: expect.toSatisfy((count) => count > skip),
      })
    if (next === undefined || status === 'scraping') return status
  }
}

/** Calls `check` until it returns the state of a job that has ended; returns the state. */
async function untilEnded(check: () => Promise<string>): Promise<string> {
  let status = 'scraping'
  while (status === 'scraping') status = await check()
  return status
}

const expectCounted = ({ skipped, skipped_total }: CrawlAccounts) => expect(skipped).toHaveLength(skipped_total)

test('a crawl has the pages that it counts, and once it is completed all errors and blocked URLs', async () => {
  const { http } = homes.clients
  const { id } = (await http.crawl({ url: site.url, limit: 100, async: true })) as { id: string }
  const uuid = uuidOf(id)
  const status = await untilEnded(async () => {
    const [found] = await Promise.all([
      readWhole((range) => http.getCrawl({ id, ...range })),
      readWhole((range) => http.getCrawlV2({ id: uuid, ...range })),
      http.getCrawlErrors({ id }).then(expectCounted),
    ])
    if (found === 'scraping') return found
    const blocked = [`${site.url}/private/x`]
    const failed = [expect.objectContaining({ url: `${site.url}/away`, code: 'off_host_redirect' })]
    expect(await http.getCrawlErrors({ id })).toMatchObject({
      errors: failed,
      skipped_total: 1,
      robots_blocked: blocked,
    })
    expect(await http.getCrawlErrorsV2({ id: uuid })).toMatchObject({ errors: failed, robotsBlocked: blocked })
    expect((await http.listCrawls({})).crawls.find((listed) => listed.id === id)).toMatchObject({
      status: 'completed',
      completed: 25,
      errors: 1,
    })
    return found
  })
  expect(status).toBe('completed')
})

test('a batch has the pages that it counts', async () => {
  const { http } = homes.clients
  const { id } = await http.batchScrape({ urls: paths.map((path) => site.url + path) })
  const uuid = uuidOf(id)
  const status = await untilEnded(async () => {
    const [found] = await Promise.all([
      readWhole((range) => http.getBatch({ id, ...range })),
      readWhole((range) => http.getBatchV2({ id: uuid, ...range })),
      http.getBatchErrors({ id }).then(expectCounted),
    ])
    return found
  })
  expect(status).toBe('completed')
  expect(await http.getBatch({ id, limit: 0 })).toMatchObject({ completed: 24, total: 24 })
})
