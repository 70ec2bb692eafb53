import { describe, expect, test } from 'vitest'
import { PagePaths, withLocalLinks, withLocalAnchors } from '../../../../src/cli/crawl/mirror/local-links.ts'
import * as addressing from '../../../../src/engine/crawl/queue/url-identity.ts'

const places = new PagePaths(addressing)
for (const [address, path] of [
  ['https://x.test/', 'x.test/index'],
  ['https://x.test/guide/intro.html', 'x.test/guide/intro'],
  ['https://x.test/guide/', 'x.test/guide/index'],
  ['https://x.test/a%20(b)?c=1', 'x.test/a-(b)@c=1'],
  ['https://x.test/app#/users', 'x.test/app@users'],
] as const)
  places.add(address, path)

const intro = 'https://x.test/guide/intro.html'
const link = (address: string) => {
  const markdown = withLocalLinks(`[text](${address} "t")`, intro, 'x.test/guide/intro', places)
  return /\]\((.*) "t"\)$/.exec(markdown)?.[1]
}

describe('withLocalLinks', () => {
  test.each([
    ['https://x.test/', '../index.md'],
    ['https://x.test', '../index.md'],
    ['https://x.test/index.html', '../index.md'],
    ['https://x.test/guide', 'index.md'],
    ['https://x.test/guide/#top', 'index.md#top'],
    ['https://x.test/guide/intro.html#part-2', '#part-2'],
    ['https://x.test/guide/intro.html', 'intro.md'],
    ['http://www.x.test/guide/intro.html', 'intro.md'],
    ['https://x.test/a%20(b)?c=1', '../a-%28b%29%40c%3D1.md'],
    ['https://x.test/app#/users', '../app%40users.md'],
  ])('rewrites %s to the file', (address, local) => {
    expect(link(address)).toBe(local)
  })

  test.each([
    ['https://x.test/other', 'https://x.test/other'],
    ['https://y.test/', 'https://y.test/'],
    ['mailto:a@x.test', 'mailto:a@x.test'],
    ['../other#a(b)', 'https://x.test/other#a%28b%29'],
    ['picture.png', 'https://x.test/guide/picture.png'],
    ['http://[', 'http://['],
  ])('makes %s absolute, which was not crawled', (address, whole) => {
    expect(link(address)).toBe(whole)
  })

  test('changes nothing else', () => {
    const markdown =
      '# T\n\n`[a](https://x.test/)` [b](https://x.test/) \\[c](https://x.test/)\n\n```\n[d](https://x.test/)\n```\n'
    expect(withLocalLinks(markdown, intro, 'x.test/guide/intro', places)).toBe(
      markdown.replace('[b](https://x.test/)', '[b](../index.md)'),
    )
  })
})

test('withLocalAnchors rewrites links in HTML to HTML files', async () => {
  const html =
    '<a class="x" href="https://x.test/?a=1&amp;b=2">1</a><A HREF="https://x.test/guide/#t">2</A><link href="https://x.test/"><p>&lt;a href="https://x.test/"&gt;</p>'
  expect(await withLocalAnchors(html, intro, 'x.test/guide/intro', places)).toBe(
    html.replace('https://x.test/guide/#t', 'index.html#t'),
  )
})
