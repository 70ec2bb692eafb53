/** Crawls of several keys on one worker: one that takes all it can get does not keep the others from their pages. */
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Caller } from '../../src/core/access/caller.ts'
import type { KeyRing } from '../../src/core/access/keys.ts'
import { type CrawlAnswer, crawlInput } from '../../src/core/shapes/crawl.ts'
import { callOf } from '../support/call.ts'
import { linkPage } from '../support/crawl.ts'
import { type CrawlFleet, openCrawlFleet } from '../support/crawl-fleet.ts'
import { noRedis, startRedis, type TestRedis } from '../support/redis.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

const paths = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${at}`)

describe.skipIf(noRedis)(`crawls of several keys in a fleet${noRedis ? ` (${noRedis})` : ''}`, () => {
  let redis: TestRedis
  let fleet: CrawlFleet
  let site: Site
  const held = new Set<ServerResponse>()
  const hold = (_: unknown, response: ServerResponse) => void held.add(response)
  beforeAll(async () => {
    redis = await startRedis()
    site = await serveSite({
      '/held': linkPage('Held', paths('/held/', 30)),
      ...Object.fromEntries(paths('/held/', 30).map((path) => [path, hold])),
      '/quick': linkPage('Quick', paths('/quick/', 8)),
      ...Object.fromEntries(paths('/quick/', 8).map((path) => [path, linkPage(path)])),
    })
    const keys: Partial<KeyRing> = { whenLost: () => {} }
    fleet = await openCrawlFleet(redis, { keys: keys as KeyRing })
    await fleet.addWorkers(1)
  })
  afterAll(async () => {
    for (const response of held) response.destroy()
    await fleet.close()
    await Promise.all([redis.close(), site.close()])
  })

  const crawl = (key: string, path: string, more: object = {}) => {
    const caller: Caller = { keyId: key, name: key, scopes: ['scrape'], admin: false }
    const input = crawlInput.parse({ url: `${site.url}${path}`, render: 'http', limit: 31, ...more })
    return fleet.crawls.crawl(input, callOf(caller))
  }

  test('one whose pages never answer leaves slots to the others', async () => {
    const { id } = (await crawl('a', '/held', { async: true })) as { id: string }
    await waitUntil(() => held.size >= 4)
    const others = (await Promise.all([crawl('b', '/quick'), crawl('c', '/quick')])) as CrawlAnswer[]
    for (const other of others) expect(other).toMatchObject({ status: 'completed', completed: 9, errors: [] })
    // It had all other slots meanwhile, and no more.
    expect(held.size).toBe(4)
    await fleet.crawls.cancel(id, callOf())
  })
})
