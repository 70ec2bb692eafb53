/** Ordinary files of LibreOffice, python-docx, openpyxl and in the markup of Google Docs. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { markdownOf, readDocument } from '../../support/office-markdown.ts'
import { rtf } from '../../support/office-files.ts'

const folder = join(import.meta.dirname, '../../fixtures/office')

test.each(readdirSync(join(folder, 'files')))('%s has the right Markdown', async (file) => {
  const right = readFileSync(join(folder, 'answers', file.replace(/\.\w+$/, '.md')), 'utf8')
  const { markdown, warning } = await readDocument(readFileSync(join(folder, 'files', file)))
  expect(markdown).toBe(right.trim())
  expect(warning).toBeUndefined()
})

test.each([
  [
    'letters and Roman numerals',
    String.raw`{\listtext a)\tab}\ls1\ilvl0 x\par\pard{\listtext iv.\tab}\ls1\ilvl0 y\par`,
    '- a) x\n- iv. y',
  ],
  [
    'lists as Word writes them',
    String.raw`{\listtext\pard\plain 1.\tab}\pard\ls1 x\par{\listtext\pard\plain a.\tab}\pard\ilvl1\ls1 y\par\pard\plain z\par`,
    '1. x\n   - a. y\n\nz',
  ],
  [
    'old lists and later numbers',
    String.raw`\pard{\pntext\f0 3.\tab}x\par{\pntext 4.\tab}y\par\pard z\par`,
    '3. x\n4. y\n\nz',
  ],
  ['numbers of headings', String.raw`\pard{\listtext 2.1\tab}\ls1\outlinelevel0 Tides\par`, '# 2.1 Tides'],
  [
    'lists before and in a table',
    String.raw`\pard{\listtext 1.\tab}\ls1 x\par\trowd\cellx9\cellx99\pard\intbl A\cell B\cell\row\pard\intbl c\par\pard\intbl{\listtext\pard\u8226\'95\tab}\ls1 d\cell e\cell\row\pard f\par`,
    '1. x\n\n| A | B |\n| --- | --- |\n| c<br>- d | e |\n\nf',
  ],
  [
    'wide cells',
    String.raw`\trowd\cellx100\cellx200\cellx300\pard\intbl A\cell B\cell C\cell\row\trowd\cellx100\cellx305\pard\intbl d\cell wide\cell\row\pard`,
    '| A | B | C |\n| --- | --- | --- |\n| d | wide |  |',
  ],
])('RTF has %s', async (_, body, right) => {
  expect(await markdownOf(rtf(body))).toBe(right)
})
