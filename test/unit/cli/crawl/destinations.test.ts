import { describe, expect, test } from 'vitest'
import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import type { Nodes } from 'mdast'
import { gfm } from 'micromark-extension-gfm'
import { destinationsIn } from '../../../../src/cli/crawl/destinations.ts'
import { extractMarkdown } from '../../../../src/engine/scrape/extract-file.ts'
import { titled } from '../../../support/needs.ts'

const found = (markdown: string) => [...destinationsIn(markdown)].map(({ url: address }) => address)

/** Returns the destinations that a full parser finds. */
function parsed(markdown: string): string[] {
  const links: string[] = []
  const visit = (node: Nodes) => {
    if ((node.type === 'link' && markdown[node.position!.start.offset!] === '[') || node.type === 'image')
      links.push(node.url)
    if (node.type === 'definition') links.push(node.url)
    if ('children' in node) for (const child of node.children) visit(child)
  }
  visit(fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }))
  return links.toSorted()
}

describe('destinationsIn', () => {
  test.each([
    ['a link', 'See [it](https://x.test/a).', ['https://x.test/a']],
    ['a title', '[it](https://x.test/a "A title")', ['https://x.test/a']],
    ['parentheses', '[it](https://x.test/a_(b)) and more)', ['https://x.test/a_(b)']],
    ['angle brackets', '[it](<https://x.test/a b>)', ['https://x.test/a b']],
    ['a picture in a link', '[![p](i.png)](page)', ['i.png', 'page']],
    ['escapes and entities', '[it](https://x.test/a\\)?b=1&amp;copy=2)', ['https://x.test/a)?b=1&copy=2']],
    ['a definition', 'See [it].\n\n[it]: https://x.test/a "t"\n', ['https://x.test/a']],
    ['a footnote is none', 'See[^1].\n\n[^1]: https is a word\n', []],
    ['brackets that are escaped', 'a \\[b\\](c) [d\\](e)\n\n\\[f](g)', []],
    ['brackets in brackets', '[a [b] c](d) e](f)\n\n[g\n\nh](i)', ['d']],
    ['code in a line', 'a `[b](c)` and ``[d](`e)`` [f](g)', ['g']],
    ['a backtick alone', 'a ` [b](c)\n\nand ` [d](e)', ['c', 'e']],
    ['a fence', '```md\n[b](c)\n```\n[d](e)\n', ['e']],
    ['a longer fence', '````\n```\n[b](c)\n```\n````\n[d](e)', ['e']],
    ['a fence in a list', '- ```\n  [b](c)\n  ```\n- [d](e)', ['e']],
    ['a fence in a quote', '> ~~~\n> [b](c)\n> ~~~\n> [d](e)', ['e']],
    ['a fence without an end', '```\n[b](c)\n', []],
    ['a table', '| a | b |\n| --- | --- |\n| [b](c) | `[d](e)` |', ['c']],
  ])('%s', (_, markdown, expected) => {
    expect(found(markdown)).toEqual(expected)
    expect(parsed(markdown)).toEqual(expected.toSorted())
  })

  test('returns exact positions', () => {
    const markdown = 'a [b](<c d>) [e](f "g")'
    expect([...destinationsIn(markdown)].map(({ start, end }) => markdown.slice(start, end))).toEqual(['<c d>', 'f'])
  })

  test('agrees with a full parser on Markdown from bax', async () => {
    const inline = fc.oneof(
      fc.constantFrom('word', '`', '``', '[', ']', '](x)', '*', '\\', '<b>', '|', '~~~', '```', '(', '!', '- '),
      fc.string({ maxLength: 6 }),
    )
    const piece = fc.oneof(
      inline.map((text) => `<p>${escape(text)} and <a href="/p?${encodeURIComponent(text)}">${escape(text)}</a></p>`),
      inline.map(
        (text) => `<ul><li>${escape(text)} <a href="p(1)">link</a><pre>${escape(text)} [a](b)</pre></li></ul>`,
      ),
      inline.map((text) => `<pre><code>${escape(text)}\n\n[a](b)\n</code></pre>`),
      inline.map((text) => `<p>It is <code>${escape(text)}[c](d)</code> here <a href="/e#f">g</a>.</p>`),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
        const options = { url: 'https://x.test/', onlyMain: false, headline: false }
        const { markdown } = await extractMarkdown(Buffer.from(`<meta charset=utf-8>${pieces.join('')}`), options)
        expect(found(markdown).toSorted()).toEqual(parsed(markdown))
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['runs of backticks', Array.from({ length: 1500 }, (_, length) => '`'.repeat(length + 1)).join(' x ')],
    ['fences', '``` \n'.repeat(200_001)],
    ['lists', '- '.repeat(300_000)],
    ['brackets', '['.repeat(500_000)],
    ['links without an end', '[a](<b '.repeat(100_000)],
  ])('takes linear time: %s', (_, text) => {
    expect(found(`${text}\n\n[last](one)`)).toEqual(text.startsWith('```') ? [] : ['one'])
  })

  const manual = '/usr/share/doc/python3-doc/html/library/queue.html'
  const reason = existsSync(manual) ? null : 'python3-doc is not installed'
  test.skipIf(reason)(titled('agrees with a full parser on a page of a manual', reason), async () => {
    const options = { url: 'https://x.test/', onlyMain: true, headline: true }
    const { markdown } = await extractMarkdown(readFileSync(manual), options)
    expect(found(markdown).length).toBeGreaterThan(30)
    expect(found(markdown).toSorted()).toEqual(parsed(markdown))
  })
})

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
