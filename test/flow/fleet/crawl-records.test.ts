/** The records of crawls that a gateway keeps in memory, when Redis has lost its last writes in a crash. */
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { crawlInput } from '../../../src/core/shapes/crawl.ts'
import { finishLine, startLines } from '../../../src/engine/crawl/lines.ts'
import { planCrawl } from '../../../src/engine/crawl/plan.ts'
import { Journal, type JournalEntry } from '../../../src/engine/crawl/store/journal.ts'
import { PageFile } from '../../../src/engine/crawl/store/page-file.ts'
import { stateAnswer } from '../../../src/engine/crawl/views.ts'
import { RemoteCrawl } from '../../../src/fleet/crawl/followed.ts'
import { metaKey, progressKey } from '../../../src/fleet/crawl/keys.ts'
import { WritingLogs } from '../../../src/fleet/crawl/store/redis-logs.ts'
import { type CrawlRunId, FleetCrawlStore } from '../../../src/fleet/crawl/store/store.ts'
import { Subscriptions } from '../../../src/fleet/redis/subscriptions.ts'
import { callOf } from '../../support/call.ts'
import { titled } from '../../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'

const build = 'source'
const urlOf = (name: number | string) => `https://x.test/${name}`

/** Begins to coordinate a run from what Redis has. */
async function coordinate(redis: Redis, run: CrawlRunId) {
  const store = new FleetCrawlStore(redis, build)
  const fence = (await store.begin({ ...run, build }))!
  const { record } = await store.readFresh(run.id)
  const logs = new WritingLogs({ redis, id: run.id, fence, log: () => {}, signal: new AbortController().signal })
  const journal = await Journal.reopen(logs.journal, record.bytes, record.seq)
  const pages = await PageFile.reopen(logs.pages, record.pageBytes)
  const write = async (...entries: JournalEntry[]) => {
    for (const placed of await journal.commit(entries)) record.apply(placed)
  }
  const page = (name: string): JournalEntry => {
    const index = record.completed
    const place = pages.append({
      url: urlOf(index),
      depth: 1,
      page: { markdown: name, metadata: { sourceURL: urlOf(index) } },
    })
    return {
      type: 'crawl.page',
      data: { index, depth: 1, url: urlOf(index) },
      own: { taken: 1, ...place, final: urlOf(index) },
    }
  }
  return { record, write, page }
}

describe.skipIf(noRedis)(titled('a crawl whose last commits Redis has lost', noRedis), () => {
  let redis: TestRedis
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.close())

  test.each([true, false])('is read again by a gateway that knew them (read in between: %s)', async (between) => {
    const { client } = redis
    const input = crawlInput.parse({ url: urlOf(0), limit: 10 })
    const gateway = new FleetCrawlStore(client, build)
    const id = between ? 'crl_AAAAAAAAAAAAAAAAAAAA' : 'crl_BBBBBBBBBBBBBBBBBBBB'
    const run = await gateway.add(id, { input, created_at: new Date().toISOString() }, { key: 0, all: 0 })
    const read = async () => stateAnswer(await gateway.read(id), { skip: 0, limit: 10 }, callOf())
    const first = await coordinate(client, run)
    await first.write(...startLines(first.record, planCrawl(input)), {
      type: 'crawl.found',
      data: { urls: [1, 2, 3].map(urlOf), depth: 1 },
    })
    await first.write(first.page('zero'))
    const { bytes } = first.record
    await first.write(first.page('one'))
    await first.write(first.page('two'))
    expect((await read()).data.map(({ markdown }) => markdown)).toEqual(['zero', 'one', 'two'])
    // What a restart does without the last commits.
    await client.hset(metaKey(id), 'journal', bytes)
    if (between) expect((await read()).data.map(({ markdown }) => markdown)).toEqual(['zero'])
    const second = await coordinate(client, run)
    await second.write({ type: 'crawl.resumed', data: { completed: 1 } })
    for (const name of ['one again', 'two again', 'three']) await second.write(second.page(name))
    await second.write(finishLine(second.record, 'completed'))
    const state = await read()
    expect(state).toMatchObject({ status: 'completed', completed: 4, total: 4 })
    expect(state.data.map(({ markdown }) => markdown)).toEqual(['zero', 'one again', 'two again', 'three'])
  })

  test('progress never shows a page as being visited that is counted as completed', async () => {
    const { client } = redis
    const input = crawlInput.parse({ url: urlOf(0), limit: 10 })
    const store = new FleetCrawlStore(client, build)
    const id = 'crl_CCCCCCCCCCCCCCCCCCCC'
    const run = await store.add(id, { input, created_at: new Date().toISOString() }, { key: 0, all: 0 })
    const { record, write, page } = await coordinate(client, run)
    await write(...startLines(record, planCrawl(input)), {
      type: 'crawl.found',
      data: { urls: [1, 2, 3, 4].map(urlOf), depth: 1 },
    })
    await write(page('zero'))
    // Reported before the next pages were finished.
    await client.set(
      progressKey(id),
      JSON.stringify({ current: [1, 2, 3, 4].map(urlOf), concurrency: 4, seq: record.seq }),
    )
    await write(page('one'))
    const error = { url: urlOf(2), error: 'it is gone', code: 'connection_failed' as const, depth: 1 }
    await write({ type: 'crawl.error', data: error, own: { taken: 1 } } as JournalEntry)
    const subscriptions = new Subscriptions(client)
    const remote = await RemoteCrawl.open({ redis: client, store, subscriptions }, id)
    expect(remote.progress()).toMatchObject({
      completed: 2,
      errors: 1,
      queued: 2,
      current: [3, 4].map(urlOf),
      concurrency: 4,
    })
    expect(remote.progress()).not.toHaveProperty('seq')
    remote.close()
    subscriptions.close()
  })
})
