import { expect, test } from 'vitest'
import { Discovery } from '../../../../src/engine/crawl/queue/discovery.ts'
import { pathRules, Scope } from '../../../../src/engine/crawl/queue/scope.ts'
import { templateOf } from '../../../../src/engine/render/decide/template.ts'
import { treeFromHtml } from '../../../../src/engine/extract/html-tree.ts'

const wishes = {
  include_paths: [],
  exclude_paths: ['/private/**'],
  allow_subdomains: false,
  allow_external_links: false,
}
const start = new URL('https://x.test/')

const discovery = (maxDepth = 2) => new Discovery(new Scope(wishes, pathRules(wishes), start, start), maxDepth)

test('new URLs are queued in order; those outside the scope are skipped with a reason', () => {
  const known = discovery()
  known.markKnown(start)
  const links = [
    'https://x.test/b',
    'https://x.test/a#part',
    'https://x.test/',
    'https://x.test/b/',
    'https://y.test/',
    'https://x.test/private/x',
    'mailto:a@x.test',
    `https://x.test/${'x'.repeat(3000)}`,
  ]
  const lines = known.take(links, 1)
  expect(lines).toMatchObject([
    { type: 'crawl.found', data: { urls: ['https://x.test/b', 'https://x.test/a'], depth: 1 } },
    {
      type: 'crawl.skipped',
      data: {
        skipped: [
          { url: 'https://y.test/', reason: 'off_host' },
          { url: 'https://x.test/private/x', reason: 'excluded' },
          { reason: 'too_long' },
        ],
      },
    },
  ])
  expect(known.take(links, 1)).toEqual([])
})

test('URLs beyond the maximum depth are skipped', () => {
  expect(discovery().take(['https://x.test/a'], 3)).toEqual([
    { type: 'crawl.skipped', data: { skipped: [{ url: 'https://x.test/a', reason: 'max_depth' }] } },
  ])
})

test('many URLs are split into several lines', () => {
  const links = Array.from({ length: 1200 }, (_, at) => `https://x.test/${at}`)
  const lines = discovery().take(links, 1)
  expect(lines.map(({ data }) => (data as { urls: string[] }).urls.length)).toEqual([500, 500, 200])
})

const template = (html: string) => templateOf(treeFromHtml(html, start.href).root)

test('pages with the same scripts and layout share a template, whatever their text', () => {
  const page = (text: string, scripts = '<script src="/a.js?v=1"></script><script>go()</script>') =>
    template(`<html><head>${scripts}</head><body><header></header><main>${text}</main></body></html>`)
  expect(page('one')).toBeDefined()
  expect(page('<p>two</p><p>three</p>')).toBe(page('one'))
  expect(page('one', '<script>other()</script><script src="/a.js?v=2"></script>')).toBe(page('one'))
  expect(page('one', '<script src="/b.js"></script>')).not.toBe(page('one'))
})

test('a page without scripts has no template', () => {
  expect(template('<body><p>x</p></body>')).toBeUndefined()
  expect(template('<body><script type="application/ld+json">{}</script><p>x</p></body>')).toBeUndefined()
})
