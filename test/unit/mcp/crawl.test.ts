import { expect, test } from 'vitest'
import { webCrawl } from '../../../src/mcp/tools/crawl.ts'
import type { ToolCall } from '../../../src/mcp/tool.ts'

test('a crawl that goes on while its pages are searched is answered with the pages that it had', async () => {
  const pages = ['one', 'two']
  const connection = {
    cleaningUp: (work: Promise<string>) => work,
    calls: { async *follow() {} },
    ask: async (_: unknown, { skip = 0, limit }: { skip?: number; limit: number }) => {
      const data = pages
        .slice(skip, skip + limit)
        .map((name) => ({ markdown: `The delta of ${name}.`, metadata: { sourceURL: `https://x.test/${name}` } }))
      const state = { status: 'scraping', completed: pages.length, total: 9, data }
      pages.push(`later-${pages.length}`)
      return state
    },
  }
  const call = { connection, signal: new AbortController().signal } as unknown as ToolCall
  const { data } = await webCrawl.run(call, webCrawl.input.parse({ id: 'crl_1', find: 'delta' }) as never)
  expect(data).toMatchObject({ completed: 2, pages: [{ page: 1 }, { page: 2 }] })
  expect(data!['pages']).toHaveLength(2)
})
