import { describe, expect, test } from 'vitest'
import { outlineText, sectionsNamed, sectionsOf, textOfSections } from '../../../src/core/text/markdown-sections.ts'

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
