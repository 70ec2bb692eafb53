/** Responses about crawls that go on while their logs are read. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keylessCaller } from '../../../../src/core/access/caller.ts'
import { crawlInput } from '../../../../src/core/shapes/crawl.ts'
import type { LiveCrawl } from '../../../../src/engine/crawl/local/live.ts'
import { finishLine } from '../../../../src/engine/crawl/lines.ts'
import { CrawlStore } from '../../../../src/engine/crawl/store/crawl-store.ts'
import { Journal, type JournalEntry } from '../../../../src/engine/crawl/store/journal.ts'
import { CrawlList } from '../../../../src/engine/crawl/store/list.ts'
import type { CrawlLog } from '../../../../src/engine/crawl/store/log.ts'
import { PageFile } from '../../../../src/engine/crawl/store/page-file.ts'
import type { CrawlRecord } from '../../../../src/engine/crawl/store/record.ts'
import { accountsAnswer, stateAnswer, wholeAnswer } from '../../../../src/engine/crawl/views.ts'
import { callOf } from '../../../support/call.ts'

const id = 'crl_AAAAAAAAAAAAAAAAAAAA'
const urlOf = (name: string) => `https://x.test/${name}`

let folder: string
let store: CrawlStore
let record: CrawlRecord
let journal: Journal
let pages: PageFile

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-views-'))
  store = new CrawlStore(folder)
  record = await store.add(id, crawlInput.parse({ url: urlOf('0') }), null)
  const logs = store.logs(id)
  ;[journal, pages] = await Promise.all([Journal.create(logs.journal), PageFile.create(logs.pages)])
  const urls = ['0', '1', '2', 'broken', 'private', 'left'].map(urlOf)
  await write(
    { type: 'crawl.started', data: { id, url: urls[0]!, limit: 10, max_depth: 2 } },
    { type: 'crawl.found', data: { urls, depth: 1 } },
  )
  await write(page(0))
  await write(page(1))
})
afterEach(async () => {
  await Promise.all([journal.close(), pages.close()])
  await rm(folder, { recursive: true, force: true })
})

async function write(...entries: JournalEntry[]): Promise<void> {
  for (const placed of await journal.commit(entries)) record.apply(placed)
}

function page(index: number): JournalEntry {
  const url = urlOf(String(index))
  const place = pages.append({ url, depth: 1, page: { metadata: { sourceURL: url } } })
  return { type: 'crawl.page', data: { index, depth: 1, url }, own: { taken: 1, ...place, final: url } }
}

/** Finishes the crawl: another page, a failure and a URL that robots.txt forbids; the last one is not visited. */
async function finish(): Promise<void> {
  if (record.finished) await write({ type: 'crawl.resumed', data: { completed: record.completed } })
  await write(page(2))
  await write({
    type: 'crawl.error',
    data: { url: urlOf('broken'), error: 'it is broken', code: 'server_error', depth: 1 },
    own: { taken: 1 },
  })
  await write({ type: 'crawl.robots_blocked', data: { urls: [urlOf('private')] }, own: { taken: 1 } })
  await write(finishLine(record, 'completed'))
}

/** Returns the running crawl, which is finished as soon as one of its logs is opened for reading. */
function finishedMeanwhile() {
  let finishing: Promise<void> | undefined
  const logs = store.logs(id)
  const delayed = (log: CrawlLog): CrawlLog => ({
    ...log,
    open: async () => log.open().finally(() => (finishing ??= finish())),
  })
  return { record, isRunning: true, logs: { journal: delayed(logs.journal), pages: delayed(logs.pages) } }
}

const sources = ({ data }: { data: readonly { metadata: { sourceURL: string } }[] }) =>
  data.map(({ metadata }) => metadata.sourceURL)

test('the state has as many pages as it counts', async () => {
  const state = await stateAnswer(finishedMeanwhile(), { skip: 0, limit: 100 }, callOf())
  expect(state).toMatchObject({ status: 'scraping', completed: 2, total: 6 })
  expect(state).not.toHaveProperty('next')
  expect(sources(state)).toEqual([urlOf('0'), urlOf('1')])
  const ended = await stateAnswer({ record, isRunning: false, logs: store.logs(id) }, { skip: 0, limit: 100 }, callOf())
  expect(ended).toMatchObject({ status: 'completed', completed: 3, total: 4 })
  expect(sources(ended)).toEqual([urlOf('0'), urlOf('1'), urlOf('2')])
})

test('a part of the pages leads to the next one only if the state counts it', async () => {
  const state = await stateAnswer(finishedMeanwhile(), { skip: 1, limit: 1 }, callOf())
  expect(state.completed).toBe(2)
  expect(state).not.toHaveProperty('next')
  expect(sources(state)).toEqual([urlOf('1')])
})

test('errors, skipped and blocked URLs are those of one moment', async () => {
  const before = { success: true, errors: [], skipped: [], skipped_total: 0, robots_blocked: [] }
  expect(await accountsAnswer(finishedMeanwhile())).toEqual(before)
  expect(await accountsAnswer({ record, isRunning: false, logs: store.logs(id) })).toEqual({
    success: true,
    errors: [expect.objectContaining({ url: urlOf('broken') })],
    skipped: [{ url: urlOf('left'), reason: 'limit' }],
    skipped_total: 1,
    robots_blocked: [urlOf('private')],
  })
})

test('a whole answer has pages and errors of one moment, also if the crawl is resumed meanwhile', async () => {
  await write(finishLine(record, 'cancelled'))
  const answer = await wholeAnswer(finishedMeanwhile(), callOf())
  expect(answer).toMatchObject({ status: 'cancelled', completed: 2, errors: [], robots_blocked: [], skipped_total: 4 })
  expect(sources(answer)).toEqual([urlOf('0'), urlOf('1')])
  expect(answer.skipped.map(({ url }) => url)).toEqual(['2', 'broken', 'private', 'left'].map(urlOf))
})

test('a crawl that its process finishes while it is read has not failed', async () => {
  let reads = 0
  const read = async () => {
    const found = await store.read(id)
    if (reads++ === 0) await finish()
    return found
  }
  expect(await store.stateOf(id, read)).toMatchObject({
    isRunning: false,
    record: { finished: { status: 'completed' } },
  })
})

test.each(['ids', 'stampOf'] as const)(
  'a crawl that ends or starts while others are read is listed once (%s)',
  async (step) => {
    // One that has not started, and is not listed.
    await store.add('crl_BBBBBBBBBBBBBBBBBBBB', record.input, null)
    const running = { id, record, isWaiting: () => false } as LiveCrawl
    const live = new Map([[id, running]])
    const list = new CrawlList(store, live)
    const read = store[step].bind(store) as (id: string) => Promise<never>
    const listed = async (change: () => void) => {
      vi.spyOn(store, step).mockImplementation((of) => read(of as string).finally(change))
      return (await list.all(keylessCaller, new Set())).crawls.map(({ record: { id: of } }) => of)
    }
    expect(await listed(() => live.delete(id))).toEqual([id])
    expect(await listed(() => live.set(id, running))).toEqual([id])
  },
)
