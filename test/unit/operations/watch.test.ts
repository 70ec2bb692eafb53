/** The order of messages to the watchers of a crawl, whatever the crawl does meanwhile. */
import { expect, test } from 'vitest'
import type { Engine } from '../../../src/core/engine.ts'
import type { Frame, SocketCall } from '../../../src/core/operation/call.ts'
import { watchCrawlV2 } from '../../../src/operations/v2/watch.ts'
import { memoryLink } from '../../support/memory-link.ts'

interface Message {
  readonly type: string
  readonly data: {
    readonly status?: string
    readonly completed?: number
    readonly data?: { markdown: string }[]
    readonly markdown?: string
  }
}

const page = (markdown: string, index: number) => ({
  type: 'crawl.page',
  data: { index, page: { markdown, metadata: { status_code: 200 } } },
})
const progress = { type: 'crawl.progress', data: {} }
const finished = { type: 'crawl.finished', data: { status: 'completed', total: 2, completed: 2 } }

async function* replay(frames: object[]) {
  yield* frames as Frame[]
}

/** Returns the messages about a crawl that has finished before its first frame is read. */
async function watched(...frames: object[]): Promise<Message[]> {
  const engine = {
    crawls: {
      get: async () => ({ status: 'completed', total: 2, completed: 2, expires_at: '2026-11-23T00:00:00.000Z' }),
      follow: async () => replay(frames),
    },
  }
  const [near, far] = memoryLink()
  const messages: Message[] = []
  const closed = new Promise<void>((onClose) =>
    far.handle({ onText: (text) => messages.push(JSON.parse(text)), onBytes: () => {}, onClose: () => onClose() }),
  )
  const call = { signal: new AbortController().signal } as SocketCall
  const connect = await watchCrawlV2.open(engine as unknown as Engine, { id: 'crl_1' }, call)
  connect(near)
  await closed
  return messages
}

const textsOf = ({ data }: Message) => (data.data ?? [data]).map(({ markdown }) => markdown)

test('a crawl that ends while its first pages are sent is finished only after the last page', async () => {
  const messages = await watched(page('one', 0), progress, page('two', 1), finished)
  expect(messages.map(({ type, data }) => [type, data.status, data.completed])).toEqual([
    ['catchup', 'scraping', 1],
    ['document', undefined, undefined],
    ['done', 'completed', 2],
  ])
  expect(messages.slice(0, 2).map(textsOf)).toEqual([['one'], ['two']])
})

test('a finished crawl is sent as a whole, with its state', async () => {
  const messages = await watched(page('one', 0), page('two', 1), finished)
  expect(messages.map(({ type, data }) => [type, data.status])).toEqual([
    ['catchup', 'completed'],
    ['done', 'completed'],
  ])
  expect(textsOf(messages[0]!)).toEqual(['one', 'two'])
})

test('a page that is rendered later replaces the fetched one', async () => {
  const messages = await watched(page('fetched', 0), page('two', 1), page('rendered', 0), finished)
  expect(messages[0]!.data.completed).toBe(2)
  expect(textsOf(messages[0]!)).toEqual(['rendered', 'two'])
})
