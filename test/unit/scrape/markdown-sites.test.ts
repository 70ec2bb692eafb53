import { expect, test } from 'vitest'
import { MarkdownSites } from '../../../src/engine/scrape/markdown/markdown-sites.ts'

test('of hosts that refuse Markdown, the oldest are forgotten', () => {
  const { refusing } = new MarkdownSites()
  for (let at = 0; at < 2000; at += 1) refusing.add(`${at}.example`)
  expect([refusing.has('0.example'), refusing.has('1999.example')]).toEqual([false, true])
})
