import { describe, expect, test } from 'vitest'
import { linksOf } from '../../../src/engine/scrape/formats/links.ts'
import { markdownDocument } from '../../../src/engine/scrape/documents/markdown-document.ts'

const read = (text: string) => markdownDocument({ text, charset: 'utf-8', url: 'https://site.example/docs/a.md' })

describe('Markdown', () => {
  test('is kept as it is, with absolute links', () => {
    const text =
      '# A\r\n\r\n[b](b.md "B")\t![p](/p (1).png)\n[c]: <../c?x=1&amp;y=2>\n\n[c] <https://else.example/> [top](#a) [mail](mailto:a@b.example)\n'
    const { markdown } = read(text.replace('/p (1).png', '</p (1).png>'))
    expect(markdown).toBe(
      '# A\r\n\r\n[b](https://site.example/docs/b.md "B")\t![p](<https://site.example/p%20%281%29.png>)\n[c]: <../c?x=1&amp;y=2>\n\n[c] <https://else.example/> [top](#a) [mail](mailto:a@b.example)\n',
    )
  })

  test('links in code stay', () => {
    const text = '`[a](b)`\n\n```\n[a](b)\n```\n\n    [a](b)\n'
    expect(read(text)).toMatchObject({ markdown: text, isPage: false, sourceFormat: 'markdown' })
  })

  test('links of Markdown and HTML in it are found', () => {
    const { tree } = read(
      '[one](one) [two][] <a href="/three">3</a>\n\n| a |\n|---|\n| [four](four) |\n\n[two]: ../two\n',
    )
    expect(linksOf(tree)).toEqual([
      { href: 'https://site.example/docs/one', text: 'one' },
      { href: 'https://site.example/two', text: 'two' },
      { href: 'https://site.example/three', text: '3' },
      { href: 'https://site.example/docs/four', text: 'four' },
    ])
  })
})

describe('hostile Markdown', () => {
  test.each([
    ['marks of emphasis', '*_', 'a paragraph has too many marks'],
    ['links that do not end', '[a](', 'a paragraph has too many marks'],
    ['brackets', '](\n', 'a paragraph has too many marks'],
    ['quotes', '> ', 'it has too many quotes and lists in each other'],
    ['lists', '1) - ', 'it has too many quotes and lists in each other'],
  ])('with many %s stays text', (_, part, reason) => {
    const text = part.repeat(50_000)
    const { markdown, warning } = read(text)
    expect({ isWhole: markdown === text, warning }).toEqual({
      isWhole: true,
      warning: `the links of the Markdown are missing: ${reason}`,
    })
  })

  test.each([
    ['links', '[a](b) *c* ~~d~~\n'],
    ['definitions', '[a]: b\n'],
    ['items', '- [a](b): *c*\n'],
    ['paragraphs', '[a](b) *c*\n\n'],
    ['cells', '| [a](b) |\n'],
  ])('is not what has a thousand %s', (_, part) => {
    const text = `| a |\n| - |\n`.repeat(part.startsWith('|') ? 1 : 0) + part.repeat(1000)
    expect(read(text).markdown).toContain('https://site.example/docs/b')
  })
})

describe('without inline images', () => {
  const data = 'data:image/png;base64,iVBORw0KGgo='

  test.each([
    [`![A](${data}) text`, ' text'],
    [`![A](<${data}> "Title"), ![B](b.png)`, ', ![B](https://site.example/docs/b.png)'],
    [`[![A](${data}) text](a)`, '[ text](https://site.example/docs/a)'],
    [
      `![A][one] ![One][] ![one] ![B][two]\n\n[one]: ${data}\n[two]: b.png`,
      '   ![B][two]\n\n\n[two]: https://site.example/docs/b.png',
    ],
    [`![A ![B](b.png)](${data}) text`, ' text'],
    [`\`![A](${data})\` [a](${data})`, `\`![A](${data})\` [a](${data})`],
  ])('%j is %j', (text, without) => {
    expect(read(text).withoutImages).toBe(without)
  })

  test('other Markdown is the same', () => {
    const { markdown, withoutImages } = read('[a](b) ![c](d.png)\n')
    expect(withoutImages).toBe(markdown)
  })
})

describe('front matter', () => {
  test('becomes metadata', () => {
    const matter = {
      title: 'The title',
      description: 'Of a page',
      authors: ['Ada', { name: 'Bo' }],
      date: '2026-03-01',
      lastmod: '2026-03-02',
      lang: 'en',
      tags: ['x'],
    }
    const yaml = Object.entries(matter)
      .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
      .join('\n')
    expect(read(`\uFEFF---\n${yaml}\n---\n\n# Heading\n`)).toMatchObject({
      markdown: '# Heading\n',
      title: 'The title',
      description: 'Of a page',
      author: 'Ada, Bo',
      published: '2026-03-01',
      modified: '2026-03-02',
      language: 'en',
      frontMatter: matter,
    })
  })

  test.each([
    ['a rule', '---\n\n# A\n\n---\n\ntext\n'],
    ['a list', '---\n- a\n- b\n---\n\ntext\n'],
    ['invalid YAML', '---\na: [\n---\n\ntext\n'],
    ['a block without an end', '---\na: 1\n\ntext\n'],
  ])('%s is none', (_, text) => {
    expect(read(text)).toMatchObject({ markdown: text })
    expect(read(text).frontMatter).toBeUndefined()
  })

  test('may have many keys, and one of them twice', () => {
    const keys = Array.from({ length: 5000 }, (_, at) => `k${at}: 1`).join('\n')
    expect(read(`---\ntitle: A\n${keys}\nk1: 2\n---\ntext\n`)).toMatchObject({
      title: 'A',
      frontMatter: { k1: 2, k4999: 1 },
      markdown: 'text\n',
    })
  })

  test('is none if its aliases repeat it many times', () => {
    const text = `---\na: &a [x, x]\n${[...'bcdefghij'].map((name, at) => `${name}: &${name} [*${'abcdefghi'[at]}, *${'abcdefghi'[at]}]`).join('\n')}\n---\n`
    expect(read(text)).toMatchObject({ markdown: text })
  })

  test('CRLF and dates without quotes are read', () => {
    const { markdown, title, published } = read('---\r\ntitle: A\r\ndate: 2026-03-01\r\n---\r\ntext\r\n')
    expect({ markdown, title, published }).toEqual({ markdown: 'text\r\n', title: 'A', published: '2026-03-01' })
  })
})

test.each([
  ['# First\n\n## Second\n', 'First'],
  ['## Second\n\nFirst\n=====\n', 'First'],
  ['### *Only* `one`\n', 'Only one'],
  ['text\n', 'a.md'],
])('the title of %j is %s', (text, title) => expect(read(text).title).toBe(title))
