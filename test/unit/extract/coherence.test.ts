/** Decisions about blocks that depend on those about others. */
import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { withCoherentParts } from '../../../src/engine/extract/main-content/coherence.ts'
import { surveyPage } from '../../../src/engine/extract/main-content/features/survey.ts'
import { shippedModel } from '../../../src/engine/extract/main-content/model.ts'
import { keptBlocks } from '../../../src/engine/extract/main-content/selection.ts'

const { lexicon } = await shippedModel()
const threshold = 0.5

/** Returns the kept texts of a page; the probabilities of its blocks are given in document order. */
function kept(body: string, ...chances: number[]): string[] {
  return keptOf(false, body, chances)
}

function keptOf(isForum: boolean, body: string, chances: readonly number[]): string[] {
  const survey = surveyPage(treeFromHtml(`<body>${body}</body>`, '').root, '', lexicon)
  expect(survey.segments.blocks).toHaveLength(chances.length)
  const all = Float32Array.from(chances)
  return withCoherentParts(survey, all, keptBlocks(survey, all, threshold), isForum).map(({ text }) => text)
}

const times = (count: number, create: (number: number) => string) =>
  Array.from({ length: count }, (_, at) => create(at + 1)).join('')
const words = (count: number, name: string) => Array.from({ length: count }, (_, at) => `${name}${at + 1}`).join(' ')

describe('items of one list, table or grid', () => {
  const comments = `<div>${times(6, (number) => `<div class="comment"><p>Reply ${number}</p></div>`)}</div>`

  test('are all kept when most are', () => {
    expect(kept(comments, 0.9, 0.9, 0.9, 0.2, 0.9, 0.9)).toHaveLength(6)
  })

  test('are all dropped when few are kept', () => {
    expect(kept(comments, 0.1, 0.1, 0.1, 0.6, 0.1, 0.1)).toEqual([])
  })

  test('keep their own decisions when they disagree', () => {
    expect(kept(comments, 0.9, 0.9, 0.9, 0.2, 0.2, 0.2)).toHaveLength(3)
  })

  test('are all kept in forums when half are', () => {
    expect(keptOf(true, comments, [0.9, 0.9, 0.9, 0.2, 0.2, 0.2])).toHaveLength(6)
  })

  test('are kept in forums whatever their probability when nearly all others are', () => {
    expect(keptOf(true, comments, [0.9, 0.9, 0.9, 0.05, 0.9, 0.9])).toHaveLength(6)
    expect(keptOf(true, comments, [0.9, 0.9, 0.9, 0.05, 0.05, 0.9])).toHaveLength(4)
  })

  test('are not kept when they are almost certainly not content, or links', () => {
    expect(kept(comments, 0.9, 0.9, 0.9, 0.05, 0.9, 0.9)).not.toContain('Reply 4')
    const linked = comments.replace('Reply 4', '<a href="/4">Reply 4</a>')
    expect(kept(linked, 0.9, 0.9, 0.9, 0.2, 0.9, 0.9)).not.toContain('Reply 4')
  })
})

describe('paragraphs', () => {
  const article = `<p>${words(20, 'first')}</p><p>A short one.</p><p>${words(20, 'last')}</p><p>Follow us.</p>`

  test('between kept ones are kept, and those after them keep their decision', () => {
    expect(kept(article, 0.9, 0.2, 0.9, 0.2)).toEqual([words(20, 'first'), 'A short one.', words(20, 'last')])
  })

  test('keep their decision when much of the text is dropped', () => {
    expect(kept(`${article}<p>${words(20, 'more')}</p>`, 0.9, 0.2, 0.9, 0.2, 0.2)).not.toContain('A short one.')
  })
})

describe('headings', () => {
  const section = `<p>${words(9, 'text')}</p><h2>Times</h2><p>${words(9, 'time')}</p><h2>Prices</h2><p>${words(9, 'price')}</p>`

  test('of kept sections are kept', () => {
    expect(kept(section, 0.9, 0.05, 0.9, 0.05, 0.1)).toEqual([words(9, 'text'), 'Times', words(9, 'time')])
  })

  test('in an element of their own are kept', () => {
    const wrapped = section.replace('<h2>Times</h2>', '<header><div><h2>Times</h2></div></header>')
    expect(kept(wrapped, 0.9, 0.05, 0.9, 0.05, 0.1)).toContain('Times')
  })

  test('with an element for their text, or a link to themselves, are kept', () => {
    for (const heading of ['<h2><div>Times</div></h2>', '<h2 id="times"><a href="#times">Times</a></h2>'])
      expect(kept(section.replace('<h2>Times</h2>', heading), 0.9, 0.05, 0.9, 0.05, 0.1)).toContain('Times')
    const linked = section.replace('<h2>Times</h2>', '<h2><a href="/times">Times</a></h2>')
    expect(kept(linked, 0.9, 0.05, 0.9, 0.05, 0.1)).not.toContain('Times')
  })

  test('before all content keep their decision', () => {
    expect(kept(section, 0.1, 0.05, 0.9, 0.9, 0.9)).not.toContain('Times')
  })

  test('of related links are dropped with the links', () => {
    const links = '<ul><li><a href="/a">Ten gardens</a></li><li><a href="/b">Tools for small plots</a></li></ul>'
    const article = (heading: string) => `<p>${words(9, 'text')}</p><h2>${heading}</h2>${links}`
    expect(kept(article('Related articles'), 0.9, 0.9, 0.1, 0.1)).toEqual([words(9, 'text')])
    expect(kept(article('Gardens'), 0.9, 0.9, 0.1, 0.1)).toEqual([words(9, 'text'), 'Gardens'])
  })

  test('of other sections keep their decision', () => {
    const nested = `<p>${words(9, 'text')}</p><section><h2>Share</h2><p>On Mastodon</p></section><p>${words(9, 'more')}</p>`
    expect(kept(nested, 0.9, 0.05, 0.1, 0.9)).not.toContain('Share')
  })
})

describe('texts that repeat on a page', () => {
  const note = 'Bug fixes and other improvements'

  test('are kept in each item of a list, and in each cell of a table', () => {
    const releases = times(3, (number) => `<section class="release"><h2>${number}</h2><p>${note}</p></section>`)
    expect(kept(releases, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9).filter((text) => text === note)).toHaveLength(3)
    const cell = `<td><p>${note}</p></td>`
    const rows = `<table><tr class="odd">${cell}</tr><tr class="even"><td><p>Other</p></td>${cell}</tr></table>`
    expect(kept(rows, 0.9, 0.9, 0.9).filter((text) => text === note)).toHaveLength(2)
  })

  test('are kept once when the page shows them in a second layout', () => {
    const layouts = `<div class="wide"><h1>1</h1><p>${note}</p></div><div class="narrow"><b>1</b><p>${note}</p></div>`
    expect(kept(layouts, 0.9, 0.9, 0.9, 0.9).filter((text) => text === note)).toHaveLength(1)
  })
})
