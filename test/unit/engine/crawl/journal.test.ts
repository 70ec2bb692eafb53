import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { limits } from '../../../../src/core/limits/limits.ts'
import { Frontier } from '../../../../src/engine/crawl/queue/frontier.ts'
import { fileLog } from '../../../../src/engine/crawl/store/file-log.ts'
import { Journal, type JournalEntry, readJournal } from '../../../../src/engine/crawl/store/journal.ts'
import { PageFile } from '../../../../src/engine/crawl/store/page-file.ts'
import { CrawlRecord } from '../../../../src/engine/crawl/store/record.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-journal-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const path = () => join(folder, 'journal.ndjson')
const found = (...urls: string[]): JournalEntry => ({ type: 'crawl.found', data: { urls, depth: 1 } })
const warning = (message: string): JournalEntry => ({ type: 'crawl.warning', data: { message } })

async function linesOf(from?: number) {
  const lines = []
  for await (const placed of readJournal(fileLog(path()), from)) lines.push(placed)
  return lines
}

test('lines are numbered, and the last of a group is marked', async () => {
  const journal = await Journal.create(fileLog(path()))
  const first = await journal.commit([found('a'), warning('ü')])
  await journal.commit([warning('b')])
  await journal.close()
  const lines = await linesOf()
  expect(lines.map(({ line }) => [line.seq, line.end])).toEqual([
    [1, undefined],
    [2, true],
    [3, true],
  ])
  expect(lines.slice(0, 2)).toEqual(first)
  expect(await linesOf(first[1]!.to)).toEqual(lines.slice(2))
})

test('concurrent commits are written one after the other', async () => {
  const journal = await Journal.create(fileLog(path()))
  await Promise.all(Array.from({ length: 50 }, (_, at) => journal.commit([warning(`${at}`), found(`${at}`)])))
  await journal.close()
  const lines = await linesOf()
  expect(lines.map(({ line }) => line.seq)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1))
  for (let at = 0; at < 100; at += 2)
    expect(lines[at]!.line.data).toEqual({ message: (lines[at + 1]!.line.data as { urls: string[] }).urls[0] })
})

test('incomplete lines after a crash are not read, and are truncated on resume', async () => {
  const journal = await Journal.create(fileLog(path()))
  await journal.commit([warning('whole')])
  const { bytes, seq } = journal
  await journal.close()
  await appendFile(path(), '{"seq":2,"type":"crawl.wa')
  expect(await linesOf()).toHaveLength(1)
  const again = await Journal.reopen(fileLog(path()), bytes, seq)
  await again.commit([warning('next')])
  await again.close()
  expect((await readFile(path(), 'utf8')).trim().split('\n')).toHaveLength(2)
  expect((await linesOf()).map(({ line }) => line.seq)).toEqual([1, 2])
})

test('listeners are called after every commit', async () => {
  const journal = await Journal.create(fileLog(path()))
  const received: number[] = []
  const stop = journal.listen(() => received.push(journal.seq))
  await journal.commit([warning('a'), warning('b')])
  stop()
  await journal.commit([warning('c')])
  await journal.close()
  expect(received).toEqual([2])
})

test('pages are read back from their positions', async () => {
  const pages = await PageFile.create(fileLog(join(folder, 'pages')))
  const page = (name: string) => ({
    url: name,
    depth: 0,
    page: { markdown: `# ${name} ü 漢`, metadata: { sourceURL: name } },
  })
  const places = [pages.append(page('a')), pages.append(page('b'))]
  expect(await pages.read(places[1]!)).toEqual(page('b'))
  expect(await pages.read(places[0]!)).toEqual(page('a'))
  await pages.close()
})

test('queued URLs keep their order, however many there are', async () => {
  const journal = await Journal.create(fileLog(path()))
  const frontier = new Frontier(journal.log)
  const count = limits.crawl.waiting * 3
  const taken: string[] = []
  const take = async (most: number) => {
    for (let at = 0; at < most; at++) taken.push((await frontier.next())?.url ?? 'none')
  }
  for (let at = 0; at < count; at += 100) {
    const urls = Array.from({ length: 100 }, (_, more) => `u${at + more}`)
    for (const placed of await journal.commit([found(...urls), warning('between')])) frontier.push(placed)
    if (at % 500 === 0) await take(37)
  }
  await take(count - taken.length)
  expect(taken).toEqual(Array.from({ length: count }, (_, at) => `u${at}`))
  expect(await frontier.next()).toBeUndefined()
  for (const placed of await journal.commit([found('late')])) frontier.push(placed)
  expect((await frontier.next())?.url).toBe('late')
  await journal.close()
})

test('the page file of a resumed crawl keeps the earlier versions of pages that could not be read', async () => {
  const pages = await PageFile.create(fileLog(join(folder, 'pages.ndjson')))
  const stored = { url: 'https://x.test/a', depth: 1, page: { metadata: { sourceURL: 'https://x.test/a' } }, links: [] }
  const place = pages.append(stored)
  const journal = await Journal.create(fileLog(path()))
  const record = new CrawlRecord({ id: 'crl_1', input: {} as never, owner: null }, new Date().toISOString())
  const earlier = { url: stored.url, ts: '2026-03-01T08:00:00.000Z', final: stored.url, ...place }
  const data = { url: stored.url, error: 'it responded with 503', code: 'server_error', depth: 1 }
  for (const placed of await journal.commit([{ type: 'crawl.error', data, own: { taken: 1, earlier } }]))
    record.apply(placed)
  await Promise.all([journal.close(), pages.close()])
  const resumed = await PageFile.reopen(fileLog(join(folder, 'pages.ndjson')), record.pageBytes)
  expect(await resumed.read(place)).toEqual(stored)
  await resumed.close()
})
