import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { surveyPage } from '../../../src/engine/extract/main-content/features/survey.ts'
import { alignItems } from '../../../src/engine/extract/main-content/item-groups.ts'
import { shippedModel } from '../../../src/engine/extract/main-content/model.ts'

const { lexicon } = await shippedModel()

/** Aligns the blocks of a page, whose probabilities are given in document order. */
function align(body: string, ...chances: number[]): number[] {
  const survey = surveyPage(treeFromHtml(`<body>${body}</body>`, '').root, '', lexicon)
  expect(survey.segments.blocks).toHaveLength(chances.length)
  return [...alignItems(survey, Float32Array.from(chances))].map((chance) => Math.round(chance * 1000) / 1000)
}

const item = (tag: string, name = '') => `<${tag} class="${name}"><h3>Name</h3><p>Text</p></${tag}>`

describe('probabilities of items', () => {
  test.each([
    ['a list', `<ul>${item('li').repeat(3)}</ul>`],
    ['a grid', item('div', 'card').repeat(3)],
    ['a grid with numbered classes', item('div', 'card c1') + item('div', 'card c2') + item('div', 'card c3')],
  ])('move halfway to the mean of their role in %s', (_, html) => {
    expect(align(html, 0.9, 0.6, 0.9, 0.3, 0.3, 0)).toEqual([0.8, 0.45, 0.8, 0.3, 0.5, 0.15])
  })

  test('move halfway to the mean of the rows of a table, weighted by words', () => {
    const row = (text: string) => `<tr><td>${text}</td><td>1</td></tr>`
    expect(align(`<table>${row('one')}${row('two')}${row('and three four')}</table>`, 1, 1, 0)).toEqual([
      0.773, 0.773, 0.273,
    ])
  })

  test.each([
    ['two items', item('div', 'card').repeat(2), [0.9, 0.6, 0.3, 0]],
    ['elements without a class', item('div').repeat(3), [0.9, 0.6, 0.3, 0, 0.3, 0]],
    [
      'elements of different classes',
      item('div', 'a') + item('div', 'b') + item('div', 'c'),
      [0.9, 0.6, 0.3, 0, 0.3, 0],
    ],
    ['paragraphs', '<p>One</p><p>Two</p><p>Three</p>', [0.9, 0.6, 0.3]],
  ])('are unchanged for %s', (_, html, chances) => {
    expect(align(html, ...chances)).toEqual(chances)
  })

  test('agree across inner lists, because the outermost items form the group', () => {
    const card = '<li class="card"><ul><li>A</li><li>B</li></ul></li>'
    expect(align(`<ul>${card.repeat(3)}</ul>`, 1, 1, 1, 1, 0.4, 0.4)).toEqual([0.9, 0.9, 0.9, 0.9, 0.6, 0.6])
  })
})
