import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { scoresOfWords } from '../../../src/engine/extract/main-content/features/lexicon.ts'
import { surveyPage } from '../../../src/engine/extract/main-content/features/survey.ts'
import { kinds, topics, topicsOf } from '../../../src/engine/extract/main-content/features/topics.ts'

const nothing = { names: scoresOfWords(new Map()), texts: scoresOfWords(new Map()) }
const survey = (body: string, head = '') =>
  surveyPage(
    treeFromHtml(`<head>${head}</head><body class="single-product">${body}</body>`, 'https://site.example/').root,
    undefined,
    nothing,
  )
const named = (bits: number) => topics.filter((_, index) => (bits >> index) & 1)

/** Returns the kinds of the sections around each block, nearest first. */
const kindsOf = (body: string) =>
  survey(body).segments.blocks.map(({ box }) =>
    kinds
      .filter((_, index) => box.kinds[index]! > 0)
      .toSorted((a, b) => box.kinds[kinds.indexOf(b)]! - box.kinds[kinds.indexOf(a)]!),
  )

describe('sections of a page', () => {
  test('are detected by the names around a block, nearest first', () => {
    const [review, price] = kindsOf(
      '<div class="faq-list"><section id="customer-reviews"><p>Good</p></section></div><product-price><p>$3</p></product-price>',
    )
    expect(review).toEqual(['reviews', 'questions'])
    expect(price).toContain('buying')
  })

  test('are detected by their labels, not by the name of the whole document', () => {
    expect(kindsOf('<div aria-label="Customer reviews"><p>Good</p></div><p>Plain</p>')).toEqual([['reviews'], []])
  })

  test('are announced by headings, up to the next one of the same rank', () => {
    const { near, far } = survey('<h2>Customer reviews</h2><h3>Anna</h3><p>Good</p><h2>Description</h2><p>Of ash</p>')
    expect([...near].map(named)).toEqual([['reviews'], [], [], ['details'], ['details']])
    expect([...far].map(named)).toEqual([['reviews'], ['reviews'], ['reviews'], ['details'], ['details']])
  })

  test.each([
    ['You may also like', ['related']],
    ['Frequently asked', ['questions']],
    ['12 comments', ['comments']],
    ['Subscribe to our newsletter', ['promotion']],
    ['Bridge closed', []],
    [`Reviews ${'of everything '.repeat(9)}`, []],
  ])('"%s" announces %j', (text, expected) => expect(named(topicsOf(text))).toEqual(expected))
})

describe('structured data', () => {
  const data = (value: unknown) => `<script type="application/ld+json">${JSON.stringify(value)}</script>`

  test('separates the subject of the page from reviews and comments', () => {
    const { facts, subjectShares: stated } = survey(
      '<p>A spade of ash for heavy clay</p><p>It broke on the second day</p>',
      data({
        '@type': 'Product',
        description: 'A spade of ash for heavy clay',
        review: [{ '@type': 'Review', reviewBody: 'It broke on the second day' }],
        isRelatedTo: { '@type': 'Product', description: 'A fork of steel with four tines' },
      }),
    )
    expect([...stated]).toEqual([1, 0])
    expect(facts.subjectWords).toBe(7)
    expect(facts.voiceRuns).toContain('it broke on')
    expect(facts.subjectRuns).not.toContain('fork of steel')
  })
})
