/** Fencing tokens of crawls: only the latest coordinator of a run may write to it, and end it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { crawlInput } from '../../../src/core/shapes/crawl.ts'
import { CrawlRecord } from '../../../src/engine/crawl/store/record.ts'
import { crawlsQueue, lockKey } from '../../../src/fleet/crawl/keys.ts'
import { WritingLogs } from '../../../src/fleet/crawl/store/redis-logs.ts'
import { crawlJobId, FleetCrawlStore, type PlacedRun } from '../../../src/fleet/crawl/store/store.ts'
import { titled } from '../../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'

const build = 'source'
const unlimited = { key: 0, all: 0 }
const input = crawlInput.parse({ url: 'https://site.example/' })
const createdAt = '2026-01-01T00:00:00.000Z'

describe.skipIf(noRedis)(titled('the run of a crawl', noRedis), () => {
  let redis: TestRedis
  let store: FleetCrawlStore
  beforeAll(async () => {
    redis = await startRedis()
    store = new FleetCrawlStore(redis.client, build)
  })
  afterAll(() => redis?.close())

  const added = async (id: string): Promise<PlacedRun> => ({
    ...(await store.add(id, { input, created_at: createdAt }, unlimited)),
    build,
  })
  const journalOf = ({ id }: PlacedRun, fence: number) =>
    new WritingLogs({
      redis: redis.client,
      id,
      fence,
      log: () => {},
      signal: new AbortController().signal,
    }).journal.create()
  const isRunning = async ({ id }: PlacedRun) => (await store.running()).some((run) => run.id === id)

  test('is written and ended by its latest coordinator only', async () => {
    const run = await added('crl_fenced')
    const [first, second] = [(await store.begin(run))!, (await store.begin(run))!]
    const [late, current] = [await journalOf(run, first), await journalOf(run, second)]
    await current.append(Buffer.from('kept\n'), 0)
    await expect(async () => late.append(Buffer.from('late\n'), 5)).rejects.toMatchObject({ reason: 'fenced' })
    expect(String(await current.read(0, 100))).toBe('kept\n')
    // A coordinator that has missed commits of its own must not write either.
    await expect(async () => current.append(Buffer.from('more\n'), 10)).rejects.toMatchObject({ reason: 'behind' })
    const record = new CrawlRecord({ id: run.id, input, owner: null }, createdAt)
    await store.end(record, first)
    expect(await isRunning(run)).toBe(true)
    await store.end(record, second)
    expect(await isRunning(run)).toBe(false)
  })

  test('is begun only by the worker that has its job', async () => {
    const run = await added('crl_locked')
    await redis.client.set(lockKey(crawlsQueue(build), crawlJobId(run)), 'worker 2')
    expect(await store.begin(run, 'worker 1')).toBeUndefined()
    expect(await store.begin(run)).toBeUndefined()
    expect(await store.begin({ ...run, build: 'other' }, 'worker 2')).toBeUndefined()
    expect(await store.begin({ ...run, run: 2 }, 'worker 2')).toBeUndefined()
    expect(await store.begin(run, 'worker 2')).toBe(1)
  })
})
