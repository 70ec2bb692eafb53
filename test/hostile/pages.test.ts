/** Pages of a few hundred kilobytes that would take minutes with superlinear algorithms; the tests fail by timeout. */
import { describe, expect, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { treeFromHtml } from '../../src/engine/extract/html-tree.ts'
import { structuredOf } from '../../src/engine/extract/structured.ts'
import { isElement } from '../../src/engine/extract/tree.ts'
import { markdownOf } from '../support/markdown.ts'

const size = 300_000
const many = (unit: string) => unit.repeat(Math.ceil(size / unit.length))
const structured = (html: string, schema: Record<string, unknown>) =>
  structuredOf(treeFromHtml(html, 'https://site.example/'), { query: 'x', schema })

describe('Markdown', () => {
  test.each([
    ['a button of blanks', `<p>a</p><button>${many(' ')}x</button>`, /^a\n\nx\n$/],
    ['a formula of dollar signs', `<p>a <script type="math/tex">x${many('$')}x</script></p>`, /^a \$x\$+x\$\n$/],
    ['a word of addresses', `<p>${many('www.')}é</p>`, /^www\\\.[^]*é\n$/],
    ['a word of whole addresses', `<p>${many('http://a.b/')}é</p>`, /^http\\:[^]*é\n$/],
    ['a bracket before code', `<p>[x${'<tt>y</tt> '.repeat(120_000)}</p>`, /^\[x`y` [^]*`\n$/],
    ['a formula of symbols', `<p>a <math><mi>${many('α')}</mi></math></p>`, /^a \$(?:\\alpha)+\$\n$/],
    ['lines of code', `<pre>${many('<div>x</div>')}</pre>`, /^```\n(?:x\n)+```\n$/],
  ])('converts %s in linear time', (_, html, expected) => {
    expect(markdownOf(html)).toMatch(expected)
  })

  const times = (text: string, count: number) => text.repeat(count)
  test.each([
    ['100 000 nested elements', times('<div>', 100_000)],
    ['100 000 nested quotes', times('<blockquote>a', 100_000)],
    ['100 000 nested lists', times('<ul><li>a', 100_000)],
    ['nested tables', times('<table><tr><td>a', 50_000)],
    ['nested links around blocks', times('<a href=x><div>a', 50_000)],
    ['spans of cells that multiply', `<table>${times(`<tr>${times('<td colspan=1000 rowspan=60000>a', 30)}`, 1000)}`],
    ['three million stars', `<p>${times('*', 3_000_000)}`],
    ['three million brackets', `<p>${times('[', 3_000_000)}`],
    ['a source set without end', `<img srcset="${times('a', 1_000_000)} b${times(', x 1x', 100_000)}">`],
    ['200 000 lines', `<p>${times('a<br>', 200_000)}`],
  ])('grows little from %s', (_, html) => {
    expect(markdownOf(html).length).toBeLessThan(html.length * 12 + 1000)
  })

  test('omits hard breaks only at the ends of a line', () => {
    const line = '<br>&nbsp;<code>\\</code><br>a<br>b<code>\\</code><br>&nbsp;'
    expect(markdownOf(`<p>${line}</p>`)).toBe('`\\`\\\na\\\nb`\\`\n')
  })

  test('writes code as text where it would make a line a definition', () => {
    expect(markdownOf('<p>[a<code>b</code>]: c</p>')).toBe('[ab]\\: c\n')
    expect(markdownOf('<p>[a\\<code>b</code>]: c</p>')).toMatch(/\\: c\n$/)
    expect(markdownOf('<p>[]: c</p>')).toBe('[]: c\n')
  })
})

describe('structured data', () => {
  test('trims labels before their colon', async () => {
    const html = `<head><meta property="size${many(' ')}b" content="4"><meta property="weight  :" content="5"></head>`
    expect((await structured(`${html}<p>x</p>`, { weight: 'number', size: 'number' })).value).toMatchObject({
      weight: 5,
    })
  })

  test('limits the search in nested cards', async () => {
    const card = {
      title: 'string',
      cards: [{ title: 'string', cards: [{ title: 'string', cards: [{ title: 'string' }] }] }],
    }
    const html = many('<div class=c><h2>t</h2><a href=x>y</a></div><div class=c>')
    expect((await structured(html, { cards: [card] })).value).toHaveProperty('cards')
  })

  test('fills a schema of maximum size from a page of labels', async () => {
    const words = 'amber birch cedar dune ember fjord grove heath islet jetty'.split(' ')
    const names = words.flatMap((a) => words.flatMap((b) => ['x', 'y'].map((c) => `${a}_${b}_${c}`)))
    const html = Array.from(
      { length: 5000 },
      (_, at) => `<p>${words[at % 10]} ${words[(at >> 3) % 10]} ${at}: ${at}</p>`,
    ).join('')
    const schema = Object.fromEntries(names.map((name) => [name, ['string']]))
    expect(Object.keys((await structured(html, schema)).value as object)).toHaveLength(names.length)
  })
})

test.each(['', '<!---->', '</i>'])('reads a page of entities and %j as one text', (between) => {
  const most = limits.scrape.elements
  const { root } = treeFromHtml(`&lt;x${between}`.repeat(most), 'https://site.example/')
  const [, body] = root.children.filter(isElement)
  expect(body!.children).toEqual([{ text: '<x'.repeat(most) }])
})
