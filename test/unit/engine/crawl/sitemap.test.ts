import { describe, expect, test } from 'vitest'
import { SitemapReader, type SitemapEntry } from '../../../../src/engine/crawl/queue/sitemap-file.ts'

/** Parses a text in pieces of the given size. */
function read(text: string, size = text.length): SitemapEntry[] {
  const entries: SitemapEntry[] = []
  const reader = new SitemapReader('https://x.test/map.xml', (entry) => entries.push(entry))
  for (let at = 0; at < text.length; at += size) reader.write(text.slice(at, at + size))
  reader.end()
  return entries
}

const page = (url: string) => ({ url, isSitemap: false })
const map = (url: string) => ({ url, isSitemap: true })

describe('a sitemap', () => {
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!-- made by hand --><sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9">
<sm:url><sm:loc>https://x.test/a?b=1&amp;c=2</sm:loc><sm:lastmod>2026-01-01</sm:lastmod></sm:url>
<sm:url><sm:loc><![CDATA[https://x.test/b]]></sm:loc><image:image><image:loc>https://x.test/p.png</image:loc></image:image></sm:url>
<sm:url><xhtml:link rel="alternate" href="https://x.test/de"/><sm:loc>
  /relative </sm:loc></sm:url><sm:url><sm:loc></sm:loc></sm:url><sm:url><sm:loc>http://</sm:loc></sm:url></sm:urlset>`
  const expected = [page('https://x.test/a?b=1&c=2'), page('https://x.test/b'), page('https://x.test/relative')]

  test('lists pages but not images', () => expect(read(text)).toEqual(expected))

  test.each([1, 7, 64])('is the same in pieces of %i characters', (size) => expect(read(text, size)).toEqual(expected))
})

test('an index lists sitemaps', () => {
  const text =
    '<sitemapindex><sitemap><loc>https://x.test/1.xml</loc></sitemap><sitemap><loc>/2.xml.gz</loc></sitemap></sitemapindex>'
  expect(read(text)).toEqual([map('https://x.test/1.xml'), map('https://x.test/2.xml.gz')])
})

test.each([3, 1000])('plain text has an address a line (pieces of %i)', (size) => {
  expect(read('https://x.test/a\r\nhttps://x.test/b\n\n  https://x.test/c', size)).toEqual([
    page('https://x.test/a'),
    page('https://x.test/b'),
    page('https://x.test/c'),
  ])
})

test('a URL beyond the maximum length is ignored', () => {
  expect(read(`<urlset><url><loc>https://x.test/${'x'.repeat(100_000)}</loc></url></urlset>`, 1000)).toEqual([])
  expect(read(`https://x.test/${'x'.repeat(100_000)}`, 1000)).toEqual([])
})
