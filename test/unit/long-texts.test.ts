/** Texts of millions of characters, with V8 as it is on a server that has run for a while: see src/core/text/pieces.ts. */
import { setFlagsFromString } from 'node:v8'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browserErrorOf } from '../../src/core/errors/browser-errors.ts'
import { environment } from '../../src/core/shapes/shell/session.ts'
import { printable } from '../../src/core/shapes/fields.ts'
import { withoutHeading } from '../../src/core/text/markdown/markdown-headings.ts'
import { plain } from '../../src/core/text/plain.ts'
import { doctypeIn } from '../../src/engine/extract/html/raw-markup.ts'
import { treeFromHtml } from '../../src/engine/extract/html-tree.ts'
import { toMarkdown } from '../../src/engine/extract/markdown.ts'
import { codeSpan } from '../../src/engine/extract/markdown/escape.ts'
import { encodeQueries } from '../../src/engine/extract/url-queries.ts'
import { rtfContent } from '../../src/engine/scrape/documents/office/rtf.ts'
import { bytesOf } from '../../src/engine/shell/exec/characters.ts'

beforeAll(() => setFlagsFromString('--no-regexp-optimization'))
afterAll(() => setFlagsFromString('--regexp-optimization'))

const length = 6_000_000
const long = (char: string) => char.repeat(length)
const markdownOf = (html: string) => toMarkdown(treeFromHtml(html, 'https://a.test/'))

test.each(['x', ' ', '=', '*', '_', '~', '#', '-', '`', '\u00a0'])('a paragraph of %j is written', (char) => {
  expect(markdownOf(`<p>${long(char)}<p>end`)).toMatch(/end\n?$/)
})

test.each([
  ['code with line breaks', `<pre>${long('\n')}a</pre>`, '```\na\n```\n'],
  ['code of backticks', `<pre>${long('`')}</pre>`, `${long('`')}\`\n${long('`')}\n${long('`')}\`\n`],
  ['a heading of number signs', `<h1>${long('#')}</h1>`, `# \\${long('#')}\n`],
  ['a formula', `<math><mi>${long('x')}</mi></math>`, `$\\mathrm{${long('x')}}$\n`],
  ['a class', `<p class="${long('x')}">a</p>`, 'a\n'],
  ['a list of Word', `<p class="MsoListParagraph">${long('i')}. a</p>`, `${long('i')}. a\n`],
])('%s of millions of characters is written', (_name, html, markdown) => {
  expect(markdownOf(html) === markdown).toBe(true)
})

test('a document type of millions of characters is parsed', () => {
  const source = `<!doctype html public "${long('x')}" '${long('y')}'>`
  const { token, end } = doctypeIn(source, '<!doctype'.length)
  expect([token.name, token.publicId?.length, token.systemId?.length]).toEqual(['html', length, length])
  expect(end).toBe(source.length)
  expect(doctypeIn(`${long(' ')}${long('A')}`, 0).token.name).toHaveLength(length)
})

test('a list of URLs may have millions of characters of white space', () => {
  const attributes = { srcset: `/a?é${long(' ')}2x` }
  encodeQueries('img', attributes, () => '%E9')
  expect(attributes.srcset === `/a?%E9${long(' ')}2x`).toBe(true)
})

test('a code span starts with as few backticks as possible', () => {
  expect(codeSpan(`a${long('`')}`)).toHaveLength(length + 5)
})

test('a section of millions of characters loses its heading', () => {
  expect(withoutHeading(`# ${long('x')}\ntext`)).toBe('\ntext')
  expect(withoutHeading(`${long('x')}\n---\ntext`)).toBe('\ntext')
})

test('an RTF document with a line of millions of characters is read', async () => {
  expect(JSON.stringify(await rtfContent(Buffer.from(`{\\rtf1 ${long('x')}}`))).includes(long('x'))).toBe(true)
})

test('the input of a command may have millions of characters', () => {
  expect(bytesOf(`${long('A')}AA==`, 'base64', 'stdin')).toHaveLength((length * 3) / 4 + 1)
  expect(() => bytesOf(`${long('A')}A-==`, 'base64', 'stdin')).toThrow('is not base64')
})

test('texts of millions of characters do not reach the patterns of shapes', () => {
  expect(printable(100).safeParse(long('x')).success).toBe(false)
  expect(environment.safeParse({ A: long('x') }).success).toBe(false)
})

test('messages of browsers and terminal sequences may have millions of characters', () => {
  expect(browserErrorOf(`Protocol error (Page.navigate): ${long('x')}`)).toBeDefined()
  expect(plain(`\u001B]0;${long('x')}`)).not.toContain('\u001B')
})
