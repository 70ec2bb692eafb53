/** Small files that would take hours, or all memory, of who reads them carelessly: a hang is the failure. */
import { expect, test } from 'vitest'
import { linksOf } from '../../../src/engine/scrape/formats/links.ts'
import { csvDocument, jsonDocument } from '../../../src/engine/scrape/documents/text.ts'
import { xmlDocument } from '../../../src/engine/scrape/documents/xml.ts'

const of = (text: string) => ({ text, charset: 'utf-8', url: 'https://site.example/file' })

test('a CSV with one wide row and many short ones is no larger than its cells', async () => {
  const { markdown, tree } = await csvDocument(of(`${'a,'.repeat(50_000)}a\n${'1\n'.repeat(100_000)}`))
  expect(markdown!.length).toBeLessThan(2_000_000)
  expect(tree.root.children).toHaveLength(2)
})

test('the head of a table is as wide as its widest row', async () => {
  const { markdown } = await csvDocument(of('a,b\n1,2,3\n4\n'))
  expect(markdown).toBe('| a | b |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 4 |\n')
})

test.each([
  ['blank lines', '\n'.repeat(500_000)],
  ['blanks', ' '.repeat(500_000)],
  ['fences', '```\n'.repeat(200_000)],
])('a block of code of nothing but %s is fenced', (_, text) => {
  expect(jsonDocument(of(text)).markdown).toMatch(/^`{3,}json\n/)
  expect(xmlDocument(of(text)).markdown).toMatch(/^`{3,}xml\n/)
})

test('a feed that begins again and again is read', () => {
  const { tree } = xmlDocument(of(`<feed>${'<feed '.repeat(100_000)}`))
  expect(linksOf(tree)).toEqual([])
})

test('a feed of more items than a call has arguments is read to its end', () => {
  const items = Array.from({ length: 150_000 }, (_, at) => `<item><title>${at}</title></item>`).join('')
  const { tree } = xmlDocument(of(`<rss><channel><title>All</title>${items}</channel></rss>`))
  expect(JSON.stringify(tree.root.children.at(-1)).slice(-200)).toContain('149999')
})

test.each(['item', 'entry', 'media:content', 'a'])(
  'a feed of nothing but beginnings of %s is XML like any other',
  (tag) => {
    for (const start of ['<rss><channel>', '<feed>']) {
      const text = start + `<${tag}>`.repeat(50_000)
      expect(xmlDocument(of(text)).markdown).toBe(`\`\`\`xml\n${text}\n\`\`\`\n`)
    }
  },
)

test('a feed may hold a page, and end too early', () => {
  const page = `${'<div>'.repeat(30)}Words${'</div>'.repeat(30)}`
  const { tree, markdown } = xmlDocument(of(`<feed><entry><title>A</title><content>${page}</content></entry><entry><title>B`)) // prettier-ignore
  expect(markdown).toBeUndefined()
  expect(JSON.stringify(tree)).toMatch(/"A".*Words.*"B"/)
})
