import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../src/engine/extract/html-tree.ts'
import { visibleText } from '../../src/engine/extract/tree.ts'
import { markdownOf, nodesOf, parseMarkdown, textOf } from '../support/markdown.ts'

/** Characters with a meaning in Markdown, letters, white space and wide characters. */
const text = fc
  .array(
    fc.constantFrom(
      ...'ab1 \n*_`~[]()<>#+-.!|\\&:=$"“”é中😀'.split(/(?:)/u),
      '&amp;',
      '&copy;',
      '1.',
      '- ',
      '# ',
      '> ',
      '---',
      '===',
      '```',
      '~~~',
      '**',
      '__',
      '](',
      '[^1]',
      'https://a.example/x_y_',
      'www.a.example',
      'a_b_c',
      '&nbsp;',
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join('').replaceAll('<', '&lt;').replaceAll('>', '&gt;'))

const inlineTags = ['b', 'i', 'del', 'span', 'em', 'strong']
const blockTags = ['p', 'div', 'blockquote', 'h2', 'ul', 'ol', 'section']
const { page } = fc.letrec<{ page: string; block: string; inline: string }>((tie) => ({
  page: fc.array(tie('block'), { maxLength: 4 }).map((parts) => parts.join('')),
  block: fc.oneof(
    { maxDepth: 4 },
    fc.array(tie('inline'), { maxLength: 4 }).map((parts) => `<p>${parts.join('')}</p>`),
    fc
      .tuple(fc.constantFrom(...blockTags), fc.array(fc.oneof(tie('block'), tie('inline')), { maxLength: 3 }))
      .map(([tag, parts]) => {
        const inside = tag === 'ul' || tag === 'ol' ? parts.map((part) => `<li>${part}</li>`) : parts
        return `<${tag}>${inside.join('')}</${tag}>`
      }),
    fc
      .array(fc.array(tie('inline'), { minLength: 2, maxLength: 2 }), { minLength: 2, maxLength: 3 })
      .map(
        (rows) =>
          `<table>${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</table>`,
      ),
    tie('inline'),
  ),
  inline: fc.oneof(
    { maxDepth: 4 },
    text,
    fc
      .tuple(fc.constantFrom(...inlineTags), fc.array(tie('inline'), { maxLength: 3 }))
      .map(([tag, parts]) => `<${tag}>${parts.join('')}</${tag}>`),
    fc
      .array(tie('inline'), { maxLength: 2 })
      .map((parts) => `<a href="https://a.example/(x)?q=*_">${parts.join('')}</a>`),
    text.map((inside) => `<code>${inside}</code>`),
    fc.constant('<br>'),
  ),
}))

/** The same pages in every run; `FUZZ=20000` tries as many new ones. */
const more = Number(process.env['FUZZ'])
const runs = (few: number) => (more > 0 ? { numRuns: more } : { numRuns: few, seed: 20_261_121 })

/** White space, backslashes and marks without meaning do not count. */
const bare = (words: string) => words.replaceAll(/\s|\u00a0/g, '')

describe('any page', () => {
  test('has exactly its words in the Markdown', () => {
    fc.assert(
      fc.property(page, (html) => {
        const markdown = markdownOf(html)
        const said = bare(visibleText(treeFromHtml(html, 'https://a.example/').root))
        expect(bare(textOf(parseMarkdown(markdown))), markdown).toBe(said)
        expect(nodesOf(parseMarkdown(markdown), 'html').filter(({ value }) => value !== '<br>')).toEqual([])
      }),
      runs(1500),
    )
  })

  test('always gives the same Markdown', () => {
    fc.assert(
      fc.property(page, (html) => markdownOf(html) === markdownOf(html)),
      runs(200),
    )
  })

  test('is converted without errors for any bytes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.array(
          fc.constantFrom(
            '<',
            '>',
            '</',
            '"',
            "'",
            '=',
            '&#',
            ';',
            '<table>',
            '<td colspan=9999>',
            '<td rowspan=99999>',
            '<li>',
            '<ol start=99999999999>',
            '<math>',
            '<mfrac>',
            '<script type=math/tex>',
            '<dl><dd>',
            '<img srcset=", ,a 2x,,">',
            '<base href="http://[">',
            '<pre>',
            '<svg>',
            '<!--',
            '<a href="http://%">x</a>',
            '<sup><a href=#n>1</a></sup><ol class=footnotes><li id=n>',
          ),
          { maxLength: 30 },
        ),
        (noise, parts) => {
          expect(() => parseMarkdown(markdownOf(parts.join(noise)))).not.toThrow()
        },
      ),
      runs(500),
    )
  })
})
