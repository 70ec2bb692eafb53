import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
import { AllowedHosts } from '../../../src/engine/egress/allowed-hosts.ts'
import type { RequestRules } from '../../../src/engine/egress/egress.ts'
import { MarkdownSites } from '../../../src/engine/scrape/markdown/markdown-sites.ts'
import { markdownUrls, pagesOfMarkdown } from '../../../src/engine/scrape/markdown/markdown-urls.ts'

describe('hosts that refuse Markdown', () => {
  const rules = {} as RequestRules

  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  test('are forgotten after some time, and the oldest if there are many', () => {
    const refusing = new MarkdownSites().refusing(rules)
    for (let at = 0; at < 2000; at += 1) refusing.add(`${at}.example`)
    expect([refusing.has('0.example'), refusing.has('1999.example')]).toEqual([false, true])
    vi.advanceTimersByTime(limits.scrape.llmsKeptMs + 1)
    expect(refusing.has('1999.example')).toBe(false)
  })

  test('are remembered for each key and its allowed domains', () => {
    const sites = new MarkdownSites()
    sites.refusing({ ...rules, from: 'a' }).add('one.example')
    const others = [rules, { from: 'b' }, { from: 'a', allowed: new AllowedHosts(['one.example']) }]
    expect(sites.refusing({ ...rules, from: 'a' }).has('one.example')).toBe(true)
    for (const other of others) expect(sites.refusing({ ...rules, ...other }).has('one.example')).toBe(false)
  })
})

test('the URLs of Markdown and of its pages are on the same host', () => {
  const urls = [
    ...markdownUrls('https://a.example//other.example/x?y#z'),
    ...pagesOfMarkdown('https://a.example//other.example/x.md'),
  ]
  expect(urls).toContain('https://a.example//other.example/x.md?y')
  expect(urls).toContain('https://a.example//other.example/x')
  for (const url of urls) expect(new URL(url).host).toBe('a.example')
})
