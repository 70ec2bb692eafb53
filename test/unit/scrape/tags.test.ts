import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { toMarkdown } from '../../../src/engine/extract/markdown.ts'
import { limitToTags } from '../../../src/engine/scrape/content/tags.ts'
import { scrapeInput } from '../../../src/core/shapes/scrape.ts'
import { checkOptionsOf, planScrape } from '../../../src/engine/scrape/plan.ts'
import { parseText } from '../../../src/core/operation/params.ts'

const queries = (selectors: readonly string[]) => selectors.map((selector) => ({ selector, field: 'selector' }))

/** Limits a page to elements; returns its Markdown and the warning. */
function limited(html: string, include: readonly string[], exclude: readonly string[] = [], isPage = true) {
  const page = { tree: treeFromHtml(html, 'https://x.test/'), isPage }
  const { document, warning } = limitToTags(page, { include: queries(include), exclude: queries(exclude) })
  return [toMarkdown(document.tree).trim(), warning]
}

const prices =
  '<table><thead><tr><th>Item<th>Price</thead><tr class=x><td>Tea<td>3<tr><td>Milk<td>2<tr class=x><td>Oil<td>9</table>'

describe('a page limited to elements', () => {
  test.each<[html: string, include: string[], exclude: string[], expected: string, what: string]>([
    ['<p>a</p><div>b<p>c</p></div>', ['p', 'div'], [], 'a\n\nb\n\nc', 'each element once, also within another one'],
    ['<p>a <b>b</b> and <b>c</b></p>', ['b'], [], 'b\n\nc', 'inline elements apart'],
    ['<ul><li>a<li>b</ul>', ['li'], [], '- a\n- b', 'items of a list'],
    [prices, ['tr.x'], [], '|  |  |\n| --- | --- |\n| Tea | 3 |\n| Oil | 9 |', 'rows in their table'],
    [
      prices,
      ['thead', '.x td:last-child'],
      [],
      '| Item | Price |\n| --- | --- |\n| 3 |  |\n| 9 |  |',
      'cells in their rows',
    ],
    [prices + prices, ['th:first-child'], [], '|  |\n| --- |\n| Item |\n\n|  |\n| --- |\n| Item |', 'tables apart'],
    [
      `<table><tr><td>a<td>${prices}</table>`,
      ['.x'],
      ['td:last-child > b'],
      '|  |  |\n| --- | --- |\n| Tea | 3 |\n| Oil | 9 |',
      'inner tables',
    ],
    [
      '<table><tr><td>Menu<td class=main><h1>a</h1><p>b</p></table>',
      ['.main'],
      [],
      '# a\n\nb',
      'the content of a layout table',
    ],
    ['<p>a</p><p>b</p>', ['body'], [], 'a\n\nb', 'the body'],
    ['<p>a</p><p>b</p>', ['html', 'p'], ['p:last-child'], 'a', 'the whole page'],
    ['<p>a</p><div><p>b</p></div>', ['p'], ['div'], 'a', 'no element within a removed one'],
    ['<p>a</p>', [], ['html'], '', 'nothing without the root'],
    ['<p>a</p><p id=Cookie-bar>b</p>', [], ['*cookie*'], 'a', 'no element with a pattern in an attribute'],
    ['<p>a</p><my-banner>b</my-banner>', [], ['*banner*'], 'a', 'no element with a pattern in its tag'],
    ['<p class="x ad-2">a</p><p class=adult>b</p>', [], ['*\\bad-\\d*'], 'b', 'a regular expression'],
    ['<p data-a=1>a</p><p data-b=1>b</p>', ['*data-b="1"*'], [], 'b', 'a pattern of name and value'],
    ['<p class=a.b>a</p><p class=axb>b</p>', [], ['*a\\.b*', 'h1'], 'b', 'patterns beside selectors'],
    ['<html class=dark><body class=dark><p>a</p><p class=dark>b</p>', [], ['*dark*'], 'a', 'the page itself'],
    ['<div><p>a<b>c</b></p></div>', ['* > p'], ['* > p > *'], 'a', 'selectors with asterisks'],
    ['<p>a</p>', [], ['*'], '', 'nothing of a universal selector'],
    ['<p class=ab>a</p><p class=c>b</p>', [], ['*a|b*', '*^class="c*'], '', 'the alternatives of each pattern'],
  ])('%s: %j without %j keeps %j, %s', (html, include, exclude, expected) => {
    expect(limited(html, include, exclude)).toEqual([expected, undefined])
  })

  test('has a warning if no element matches, or if it is not HTML', () => {
    expect(limited('<p>a</p>', ['h1'])).toEqual(['', 'no element matches include_tags'])
    expect(limited('<p>a</p>', ['h1'], [], false)).toEqual(['a', expect.stringContaining('the content is not HTML')])
  })
})

test.each([
  ['*(*', 'exclude_tags[1]'],
  ['*(?=a)*', 'exclude_tags[1]'],
  ['*a:hover', 'exclude_tags[1]'],
])('%s is reported as %s', async (tag, name) => {
  const { input } = planScrape(scrapeInput.parse({ url: 'https://x.test/', exclude_tags: ['h1', tag] }))
  await expect(checkOptionsOf(planScrape(input))).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining(name) as string,
  })
})

test.each([
  ['h1,.price', ['h1', '.price']],
  [':is(h1, h2),p', [':is(h1, h2)', 'p']],
  ['[title="a,b"],:not(:is(a,b),c)', ['[title="a,b"]', ':not(:is(a,b),c)']],
  ['a),b', ['a)', 'b']],
  ['a(b,c', ['a(b', 'c']],
])('the list %s has the items %j', (text, items) => {
  expect(parseText({ name: 'tags', type: 'string[]', required: false }, text)).toEqual(items)
})
