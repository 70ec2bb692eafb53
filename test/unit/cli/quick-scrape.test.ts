import { expect, test } from 'vitest'
import { quickWords } from '../../../src/cli/parse/quick-scrape.ts'
import { scrapeFields } from '../../../src/cli/scrape/scrape-pages.ts'
import { scrapeInput } from '../../../src/core/shapes/scrape.ts'
import { makeManifest } from '../../../src/operations/manifest.ts'

const manifest = makeManifest()
const words = (...argv: string[]) => quickWords(argv, manifest)

test('parses words and flags whose values need no validation', () => {
  expect(words('a.test', 'b.test')).toEqual({ words: [['a.test', 'b.test']], flags: {} })
  expect(words('a.test', '--formats', 'markdown,links', '--render', 'http', '-o', 'x.md', '--json')).toEqual({
    words: [['a.test']],
    flags: { formats: ['markdown,links'], render: 'http', output: 'x.md', json: true },
  })
  expect(words('--no-only-main-content', '--file', 'pages.txt')).toEqual({
    words: [[]],
    flags: { onlyMainContent: false, file: 'pages.txt' },
  })
})

test.each([
  [[]],
  [['--help']],
  [['a.test', '-']],
  [['a.test', '--formats']],
  [['a.test', '--formats', 'pdf']],
  [['a.test', '--formats', 'markdown,']],
  [['a.test', '--format', 'html']],
  [['a.test', '--formats=html']],
  [['a.test', '--render', 'fast']],
  [['a.test', '--timeout', '0.5']],
  [['a.test', '--actions', '[]']],
  [['a.test', '--schema', '{}']],
  [['a.test', '--', '--json']],
])('leaves %j to the full program', (argv) => {
  expect(words(...argv)).toBeUndefined()
})

test('fills missing fields with the defaults of the schema', () => {
  const fields = scrapeFields(manifest).filter(({ default: value }) => value !== undefined)
  const defaults = Object.fromEntries(fields.map((field) => [field.name, field.default]))
  expect({ url: 'a.test', ...defaults }).toEqual(scrapeInput.parse({ url: 'a.test' }))
})
