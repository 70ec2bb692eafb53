/** Tables of which the model keeps most lines, and lists of definitions. */
import { expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { surveyPage } from '../../../src/engine/extract/main-content/features/survey.ts'
import { shippedModel } from '../../../src/engine/extract/main-content/model.ts'
import { prune } from '../../../src/engine/extract/main-content/prune.ts'
import { withWholeTables } from '../../../src/engine/extract/main-content/whole-tables.ts'
import { toMarkdown } from '../../../src/engine/extract/markdown.ts'

const { lexicon } = await shippedModel()

/** Returns the texts that are added when all blocks but those with the given texts are kept. */
function added(body: string, ...dropped: string[]): string[] {
  const survey = surveyPage(treeFromHtml(`<body>${body}</body>`, '').root, '', lexicon)
  const { blocks } = survey.segments
  expect(blocks.map(({ text }) => text)).toEqual(expect.arrayContaining(dropped))
  const kept = blocks.filter(({ text }) => !dropped.includes(text))
  const before = new Set(kept)
  return withWholeTables(survey, kept)
    .filter((block) => !before.has(block))
    .map(({ text }) => text)
}

const words = (count: number) => Array.from({ length: count }, (_, at) => `word${at}`).join(' ')

test('a table of data keeps its head and its short cells', () => {
  const table = `<table><thead><tr><th>Name</th><th>Optional</th></tr></thead>
    <tr><td>type of the event</td><td><p>No</p></td></tr><tr><td>name of the target</td><td><p>Yes</p></td></tr></table>`
  expect(added(table, 'Name Optional', 'No')).toEqual(['Name Optional', 'No'])
})

const grid = `<div role="table"><div role="row"><div role="columnheader">Name of it</div><div role="columnheader">Optional</div></div>
  <div role="row"><div role="cell">type of the event</div><div role="cell">No</div></div><div role="row"><div role="cell">name of the target</div><div role="cell">Yes</div></div></div>`

test('a table of elements with roles keeps its cells', () => {
  expect(added(grid, 'Optional', 'No')).toEqual(['Optional', 'No'])
})

test('rows of elements with roles keep the columns of cells that are dropped', () => {
  const { root } = treeFromHtml(`<body>${grid}</body>`, '')
  const { blocks } = surveyPage(root, '', lexicon).segments
  const kept = prune(
    root,
    blocks.filter(({ text }) => text !== 'type of the event'),
  )
  expect(toMarkdown({ root: kept, baseUrl: '' })).toContain('|  | No |')
})

test('a small table keeps the label of its signature', () => {
  const table = `<table><tr><td><blockquote><div><p>procedure</p></div><p>(path name of the file)</p></blockquote></td></tr>
    <tr><td><table><tr><td>name : string</td><td>of : any</td></tr></table></td></tr></table>`
  expect(added(table, 'procedure')).toEqual(['procedure'])
})

test('a list of definitions keeps its terms', () => {
  const list = `<dl><dt>size</dt><dd>${words(9)}</dd><dt>name</dt><dd>${words(8)}</dd></dl>`
  expect(added(list, 'size', 'name')).toEqual(['size', 'name'])
})

test('a layout, a table that is mostly dropped, links, and controls keep their decision', () => {
  const layout = `<table><tr><td><h2>Title</h2><p>${words(400)}</p></td><td><p>Sponsors</p></td></tr></table>`
  expect(added(layout, 'Sponsors')).toEqual([])
  const dropped = '<table><tr><td><p>one two</p></td><td><p>three</p></td></tr></table>'
  expect(added(dropped, 'one two')).toEqual([])
  const links = `<table><tr><td><p>${words(20)}</p></td><td><p><a href="/a">More</a></p></td><td><button>Copy</button></td></tr></table>`
  expect(added(links, 'More', 'Copy')).toEqual([])
})
