import { expect, test } from 'vitest'
import type { LoadedPage } from '../../../src/engine/scrape/loaded-page.ts'
import { loadMarkdownFirst } from '../../../src/engine/scrape/markdown/markdown-first.ts'

test.each([
  ['links', 'a]('],
  ['links with parentheses', 'a](('],
  ['URLs', '<http:'],
])('Markdown with many %s that do not end is used', async (_, part) => {
  const markdown = part.repeat(1_000_000)
  const page = { status: 200, document: { markdown } } as LoadedPage
  const fetched = { page, kind: 'markdown', isHtml: false } as const
  const loaded = await loadMarkdownFirst('https://a.example/', {
    fetch: async (_url, accept) => {
      expect(accept).toBe('markdown')
      return fetched
    },
    complete: async () => page,
    signal: new AbortController().signal,
    refusing: new Set<string>(),
  })
  expect(loaded).toBe(fetched)
})
