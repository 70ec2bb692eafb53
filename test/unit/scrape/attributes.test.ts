import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { attributesOf } from '../../../src/engine/scrape/formats/attributes/attributes.ts'
import { compileSelectors } from '../../../src/engine/scrape/formats/attributes/selectors.ts'

const read = (html: string, selector: string, attribute = 'id') =>
  attributesOf(treeFromHtml(html, 'https://x.test/').root, [{ selector, attribute, field: 'selector' }])
const check = (selector: string) => () => compileSelectors([{ selector, field: 'formats[0].selector' }])

describe('the format attributes', () => {
  test('returns values as written, without elements that lack the attribute', () => {
    const html = '<a href="/b?x=1&amp;y">1</a><a>2</a><a HREF=" c ">3</a><a href="">4</a>'
    expect(read(html, 'a', 'Href').values).toEqual([
      { selector: 'a', attribute: 'Href', values: ['/b?x=1&y', ' c ', ''] },
    ])
  })
  test('reads attributes of SVG, whose names have capital letters', () => {
    expect(read('<svg viewBox="0 0 9 9"></svg>', 'svg', 'viewBox').values[0]!.values).toEqual(['0 0 9 9'])
  })
  test.each([
    ['a >', 'an element is missing beside a combinator'],
    ['> a', 'an element is missing beside a combinator'],
    ['a[', 'Expected name, found the end'],
    [' ', 'it is empty'],
    ['p:hover', ':hover is not supported'],
    ['p::before', '::before is not supported'],
    ['p:nth-child(x)', ':nth-child(x) is not supported'],
    [':has(a b)', ':has() with several elements is not supported'],
    ['a || b', 'the combinator column-combinator is not supported'],
    [Array.from({ length: 300 }, (_, at) => `.c${at}`).join(), 'there are more than 200 parts'],
    [':not('.repeat(1500) + 'a' + ')'.repeat(1500), 'not valid'],
  ])('rejects the selector %s', (selector, why) => {
    expect(check(selector)).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining(why) }),
    )
  })
  test('omits values beyond the limit of a response, with a warning', () => {
    const html = `<p class="${'x'.repeat(1_500_000)}">`.repeat(10)
    const { values, warnings } = read(html, 'p', 'class')
    expect(values[0]!.values).toHaveLength(6)
    expect(warnings).toEqual(['attributes is incomplete: 4 values are omitted, because all are too long'])
  })
  test('visits each element once, however deep or wide the page and however many combinators the selector has', () => {
    const wide = '<i></i>'.repeat(100_000)
    const deep = '<div>'.repeat(200)
    const selector = `${'div '.repeat(20)}i:nth-last-child(2n) ~ i:not(:has(~ i)):nth-child(n+3)`
    expect(read(`${deep}${wide}<i id=last>`, selector).values[0]!.values).toEqual(['last'])
  })
})
