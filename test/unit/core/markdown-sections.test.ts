import { describe, expect, test } from 'vitest'
import {
  outlineText,
  sectionsNamed,
  sectionsOf,
  textOfSections,
} from '../../../src/core/text/markdown/markdown-sections.ts'

const page = `Intro

# Guide

Text

## Install #

\`\`\`sh
# not a heading
\`\`\`

### On [Linux](l.md) \`arm\`

Text

Use
---

- item
---

~~~
Title
===
~~~

# *API* \\#1
`

describe('the outline', () => {
  test('has headings of both kinds, and none of code', () => {
    expect(sectionsOf(page).map(({ level, title }) => [level, title])).toEqual([
      [1, 'Guide'],
      [2, 'Install'],
      [3, 'On Linux arm'],
      [2, 'Use'],
      [1, 'API #1'],
    ])
  })

  test('sizes include subsections', () => {
    const sections = sectionsOf(page)
    for (const { offset, length } of sections) expect(offset + length).toBeLessThanOrEqual(page.length)
    expect(page.slice(sections[1]!.offset, sections[1]!.offset + sections[1]!.length)).toMatch(
      /^## Install[^]*Text\n\n$/,
    )
    expect(outlineText(sectionsOf('# A\r\n\r\nb\r\n'))).toBe('# A (10)')
  })

  test('of text without headings is empty', () => {
    expect(sectionsOf('text\n\n---\n\n#hashtag\n')).toEqual([])
  })

  test.each([
    ['code in list items', '- ```sh\n  # no\n  ```\n\n# Yes\n'],
    ['code that ends with its list item', '- ```\n  # no\n\n# Yes\n'],
    ['code in quotes', '> ```\n> # no\n> ```\n\n# Yes\n'],
    ['code in numbered items', '1) - ~~~\n     # no\n     ~~~\n\n# Yes\n'],
    ['front matter', '---\ntitle: X\n# no\ntags:\n  - a\n---\n# Yes\n'],
    ['comments', '<!--\n# no\n\n# no\n-->\n# Yes\n'],
    ['HTML whose text is not Markdown', '<pre>\n\n# no\n</pre>\n<style>\n# no\n</style>\n# Yes\n'],
    ['items above a rule', '- item\n  text\n---\n# Yes\n'],
    ['lines that go on after items', '- item\ntext\n===\n# Yes\n'],
  ])('has no headings of %s', (_, text) => {
    expect(sectionsOf(text).map(({ title }) => title)).toEqual(['Yes'])
  })

  test.each([
    ['lines that only carriage returns end', '# A\rtext\r## B\r', ['A', 'B']],
    ['line separators in headings', '# A\u2028B\n', ['A B']],
    ['rules at the beginning', '---\n\n# A\n\n---\n\n# B\n', ['A', 'B']],
    ['a comment on one line', '<!-- x -->\n# A\n', ['A']],
    ['headings without text', '#\n\n## #\n', ['', '']],
    ['links with parentheses', '# [A](b(c)) and ![d][e]\n', ['A and d']],
  ])('has headings next to %s', (_, text, titles) => {
    expect(sectionsOf(text).map(({ title }) => title)).toEqual(titles)
  })

  test('has the first line of an underlined heading of several lines as its start', () => {
    expect(sectionsOf('text\n\nA heading\nof two lines\n===\n')).toEqual([
      { level: 1, title: 'A heading of two lines', offset: 6, length: 27 },
    ])
  })
})

describe('hostile text takes time in proportion to its length', () => {
  const long = 1_000_000

  test.each([
    ['spaces in a heading', `# a${' '.repeat(long)}b\n`, 1],
    ['spaces before a line separator', `#${' '.repeat(long)}\u2028\n`, 1],
    ['brackets in a heading', `# ${'['.repeat(long)}\n`, 1],
    ['links that do not end', `# ${'[a]('.repeat(long)}\n`, 1],
    ['signs in a heading', `# ${'# '.repeat(long)}x\n`, 1],
    ['dashes of no rule', `${'- '.repeat(long)}x\n# A\n`, 1],
    ['headings', '# a\n## b\n'.repeat(long / 4), long / 2],
  ])('with many %s', (_, text, count) => {
    const sections = sectionsOf(text)
    expect(sections).toHaveLength(count)
    expect(sectionsNamed(sections, sections[0]!.title)[0]).toBe(sections[0])
  })
})

test.each([
  ['install', '## Install'],
  ['## Use', 'Use\n---'],
  ['linux', '### On [Linux]'],
  ['api #1', '# *API*'],
])('%j is a section', (name, start) => {
  expect(textOfSections(page, sectionsNamed(sectionsOf(page), name))).toMatch(start)
})

test('all sections with a name are returned, each once', () => {
  const text = '# A\n\n## Notes\n\none\n\n### Notes\n\ntwo\n\n# B\n\n## Notes\n\nthree\n'
  expect(textOfSections(text, sectionsNamed(sectionsOf(text), 'Notes'))).toBe(
    '## Notes\n\none\n\n### Notes\n\ntwo\n\n## Notes\n\nthree\n',
  )
})
