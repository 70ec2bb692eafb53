import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { crawlFrames, type FollowedCrawl } from '../../../../src/engine/crawl/feed.ts'
import { fileLog } from '../../../../src/engine/crawl/store/file-log.ts'
import { Journal, warning } from '../../../../src/engine/crawl/store/journal.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-feed-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('a stream ends when other lines are in the place of those that it has read', async () => {
  const path = join(folder, 'journal.ndjson')
  const logs = { journal: fileLog(path), pages: fileLog(join(folder, 'pages.ndjson')) }
  const journal = await Journal.create(logs.journal)
  await journal.commit([warning('one')])
  const live: FollowedCrawl = {
    isRunning: () => true,
    bytes: () => journal.bytes,
    progress: () => ({}) as ReturnType<FollowedCrawl['progress']>,
    listen: () => () => {},
  }
  const types: string[] = []
  for await (const { type } of crawlFrames(logs, live, { since: 0, bytes: 0, signal: new AbortController().signal })) {
    types.push(type)
    if (type !== 'crawl.progress') continue
    // A stream that goes on repeats its progress.
    if (types.length > 3) break
    await journal.commit([warning('two')])
    await writeFile(path, (await readFile(path, 'utf8')).slice(7))
  }
  await journal.close()
  expect(types).toEqual(['crawl.warning', 'crawl.progress'])
})
