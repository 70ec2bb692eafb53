import { describe, expect, test } from 'vitest'
import { type CrawlCalls, followCrawl, printAnswer } from '../../../../src/cli/crawl/crawl-calls.ts'
import { callsOf } from '../../../../src/client/calls.ts'
import type { Transport } from '../../../../src/client/transport.ts'
import type { Reader } from '../../../../src/cli/output/reader.ts'

const operations = [{ name: 'crawlEvents', http: 'GET /v1/crawl/{id}/stream' }]
const frame = (seq: number, type: string) => ({ seq, ts: '2026-01-01T00:00:00.000Z', type, data: {} })
const page = (seq: number) => frame(seq, 'crawl.page')
const finished = (seq: number) => frame(seq, 'crawl.finished')

/** Returns a transport with consecutive streams; an error at the end of one breaks the connection. */
function streams(...parts: (ReturnType<typeof frame> | Error)[][]): { transport: Transport; asked: string[] } {
  const asked: string[] = []
  const transport: Transport = {
    async send({ path }) {
      const part = parts[asked.push(path) - 1] ?? []
      return {
        status: 200,
        headers: {},
        text: async () => '',
        async *stream() {
          for (const item of part) {
            if (item instanceof Error) throw item
            yield Buffer.from(`${JSON.stringify(item)}\n`)
          }
        },
      }
    },
    close: async () => {},
  }
  return { transport, asked }
}

async function heard(transport: Transport, retryMs: number): Promise<number[]> {
  const seen: number[] = []
  const events = followCrawl(
    { engine: callsOf(transport, operations), id: 'crl_1', types: ['crawl.page'], retryMs },
    0,
    new AbortController().signal,
  )
  for await (const { seq, type } of events) if (type !== 'crawl.progress') seen.push(seq)
  return seen
}

describe('followCrawl', () => {
  test('ends after the last event, even if progress follows it', async () => {
    const { transport } = streams([page(1), finished(2), frame(2, 'crawl.progress')])
    expect(await heard(transport, 0)).toEqual([1, 2])
  })

  test('continues after the end of the first part of a resumed crawl', async () => {
    const { transport } = streams([page(1), finished(2), frame(3, 'crawl.resumed'), page(4), finished(5)])
    expect(await heard(transport, 0)).toEqual([1, 2, 3, 4, 5])
  })

  test('reconnects to a server after the last received event', async () => {
    const { transport, asked } = streams([page(1), page(2), new Error('reset')], [page(3)], [page(4), finished(5)])
    expect(await heard(transport, 60_000)).toEqual([1, 2, 3, 4, 5])
    expect(asked).toEqual(['0', '2', '3'].map((since) => `/v1/crawl/crl_1/stream?since=${since}&types=crawl.page`))
  })

  test('fails immediately if the engine no longer runs the crawl', async () => {
    await expect(heard(streams([page(1)]).transport, 0)).rejects.toMatchObject({ code: 'engine_unreachable' })
    await expect(heard(streams([page(1), new Error('reset')]).transport, 0)).rejects.toMatchObject({
      code: 'engine_unreachable',
    })
  })
})

test('printAnswer prints the pages that the answer counts, also if the crawl goes on', async () => {
  const pages = ['one', 'two']
  const state = async (skip: number, limit: number) => {
    const answer = { completed: pages.length, data: pages.slice(skip, skip + limit) }
    if (pages.length < 4) pages.push('later')
    return answer
  }
  let printed = ''
  const reader = { print: async (text: string) => void (printed += text) }
  const accounts = async () => ({ success: true, errors: [] })
  await printAnswer(reader as unknown as Reader, { state, accounts } as unknown as CrawlCalls)
  expect(JSON.parse(printed)).toEqual({ completed: 2, data: ['one', 'two'], errors: [] })
})
