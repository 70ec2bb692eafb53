import { expect, test } from 'vitest'
import { elementsOf } from '../../../src/engine/extract/tree.ts'
import { metaRefresh } from '../../../src/engine/render/http/web-url.ts'
import { queryEncoderFor } from '../../../src/engine/render/http/query-encoder.ts'
import { ResponseHeaders } from '../../../src/engine/egress/response-headers.ts'
import { htmlDocument } from '../../../src/engine/scrape/documents/read.ts'
import { imagesOf } from '../../../src/engine/scrape/formats/links.ts'

const treeOf = async (text: string, charset = 'shift_jis') =>
  (await htmlDocument({ text, charset, url: 'http://a.test/b/' }, new ResponseHeaders([]))).tree

test.each(['utf-8', 'utf-16le', 'utf-16be', 'replacement'])('queries of %s are UTF-8', async (charset) => {
  expect(await queryEncoderFor(charset)).toBeUndefined()
})

// As in Chromium.
test.each([
  ['<a href="/日?q=日&x=1#日">', 'href', '/日?q=%93%FA&x=1#日'],
  ['<a href=" /s?a b=本\n日 ">', 'href', '/s?a%20b=%96{%93%FA'],
  ['<a href="HTTP://x/?é">', 'href', 'HTTP://x/?%26%23233%3B'],
  ['<a href="//x/?日">', 'href', '//x/?%93%FA'],
  ['<a href="mailto:a?subject=日">', 'href', 'mailto:a?subject=日'],
  ['<a href="javascript:f(?\'日\')">', 'href', "javascript:f(?'日')"],
  ['<a href="日#?日">', 'href', '日#?日'],
  ['<form action="?日">', 'action', '?%93%FA'],
  ['<link rel=canonical href="/?日">', 'href', '/?%93%FA'],
  ['<svg><a xlink:href="/?日"></a></svg>', 'xlink:href', '/?%93%FA'],
  ['<iframe src="/?日"></iframe>', 'src', '/?%93%FA'],
  ['<a title="本? 日">', 'title', '本? 日'],
])('encodes the query in %s', async (html, name, value) => {
  const { root } = await treeOf(html)
  expect(elementsOf(root).find(({ attributes }) => name in attributes)!.attributes[name]).toBe(value)
})

test('sources of images, redirects and the base of a page have its encoding', async () => {
  const images = await treeOf('<img src="/1?日" srcset="/2?本 2x, /3?日"><img data-src="/4?日">')
  expect(imagesOf(images).map(({ src }) => src)).toEqual(['http://a.test/2?%96{', 'http://a.test/4?%93%FA'])
  const refresh = await treeOf(`<meta http-equiv=refresh content="0; url='/n?q=日'"><base href="/c/?日">`)
  expect(metaRefresh(refresh, 'http://a.test/b/')).toBe('http://a.test/n?q=%93%FA')
  expect(refresh.baseUrl).toBe('http://a.test/c/?%93%FA')
})

test.each([
  ['windows-1252', 'é日€', '%E9%26%2326085%3B%80'],
  ['koi8-r', 'Привет', '%F0%D2%C9%D7%C5%D4'],
  ['gb18030', '😀', '%949%FC6'],
  ['gbk', '😀', '%26%23128512%3B'],
  ['euc-jp', '日😀本', '%C6%FC%26%23128512%3B%CB%DC'],
  ['iso-2022-jp', '日😀本', '%1B$BF|%1B(B%26%23128512%3B%1B$BK\\%1B(B'],
])('encodes a query in %s', async (charset, text, encoded) => {
  expect((await queryEncoderFor(charset))!(text)).toBe(encoded)
})
