/** Small files that could take hours or all memory to read; these tests fail by timeout. */
import { expect, test } from 'vitest'
import { linksOf } from '../../src/engine/scrape/formats/links.ts'
import { csvDocument, jsonDocument } from '../../src/engine/scrape/documents/text.ts'
import { xmlDocument } from '../../src/engine/scrape/documents/xml.ts'

const of = (text: string) => ({ text, charset: 'utf-8', url: 'https://site.example/file' })

test('does not pad the short rows of a CSV with one wide row', async () => {
  const { markdown, tree } = await csvDocument(of(`${'a,'.repeat(50_000)}a\n${'1\n'.repeat(100_000)}`))
  expect(markdown!.length).toBeLessThan(2_000_000)
  expect(tree.root.children).toHaveLength(2)
})

test('makes the head of a table as wide as its widest row', async () => {
  const { markdown } = await csvDocument(of('a,b\n1,2,3\n4\n'))
  expect(markdown).toBe('| a | b |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 4 |\n')
})

test.each([
  ['blank lines', '\n'.repeat(500_000)],
  ['blanks', ' '.repeat(500_000)],
  ['fences', '```\n'.repeat(200_000)],
])('fences a code block of nothing but %s', (_, text) => {
  expect(jsonDocument(of(text)).markdown).toMatch(/^`{3,}json\n/)
  expect(xmlDocument(of(text)).markdown).toMatch(/^`{3,}xml\n/)
})

test('reads a feed that starts repeatedly', () => {
  const { tree } = xmlDocument(of(`<feed>${'<feed '.repeat(100_000)}`))
  expect(linksOf(tree)).toEqual([])
})

test('reads a feed with more items than a call can have arguments', () => {
  const items = Array.from({ length: 150_000 }, (_, at) => `<item><title>${at}</title></item>`).join('')
  const { tree } = xmlDocument(of(`<rss><channel><title>All</title>${items}</channel></rss>`))
  expect(JSON.stringify(tree.root.children.at(-1)).slice(-200)).toContain('149999')
})

test.each(['item', 'entry', 'media:content', 'a'])('shows a feed of only %s start tags as XML', (tag) => {
  for (const start of ['<rss><channel>', '<feed>']) {
    const text = start + `<${tag}>`.repeat(50_000)
    expect(xmlDocument(of(text)).markdown).toBe(`\`\`\`xml\n${text}\n\`\`\`\n`)
  }
})

test('reads a feed that contains a page, and a truncated one', () => {
  const page = `${'<div>'.repeat(30)}Words${'</div>'.repeat(30)}`
  const { tree, markdown } = xmlDocument(
    of(`<feed><entry><title>A</title><content>${page}</content></entry><entry><title>B`),
  )
  expect(markdown).toBeUndefined()
  expect(JSON.stringify(tree)).toMatch(/"A".*Words.*"B"/)
})
