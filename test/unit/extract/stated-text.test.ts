/** Text that the structured data of a page states. */
import { expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { surveyPage } from '../../../src/engine/extract/main-content/features/survey.ts'
import { shippedModel } from '../../../src/engine/extract/main-content/model.ts'
import { withStatedText } from '../../../src/engine/extract/main-content/stated-text.ts'

const { lexicon } = await shippedModel()

/** Returns the lines that are kept of a page of which the model keeps nothing. */
function kept(type: string, data: unknown, ...lines: string[]): string[] {
  const script = `<script type="application/ld+json">${JSON.stringify(data)}</script>`
  const body = lines.map((line) => `<div>${line}</div>`).join('')
  const survey = surveyPage(treeFromHtml(`<head>${script}</head><body>${body}</body>`, '').root, '', lexicon)
  return withStatedText(survey, type, []).map(({ text }) => text)
}

const step = 'Boil the plums with the sugar until they are as soft as butter.'
const other = 'Nine of ten readers of these pages also like our calendar with pictures.'

test('the steps of a recipe are kept', () => {
  const recipe = { '@type': 'Recipe', recipeInstructions: step }
  expect(kept('article', recipe, step, other)).toEqual([step])
})

test('answers are kept in forums, and comments on articles are left to the model', () => {
  const data = (type: string, answer: object) => ({ '@type': type, ...answer, headline: 'Plums' })
  const answer = { '@type': 'Answer', text: step }
  expect(kept('forum', data('QAPage', { suggestedAnswer: [answer] }), other, step)).toEqual([step])
  expect(kept('article', data('Article', { comment: [{ '@type': 'Comment', text: step }] }), other, step)).toEqual([])
})

test('short lines and links are left to the model', () => {
  const recipe = { '@type': 'Recipe', recipeInstructions: `${step} Serve with warm cake.` }
  expect(kept('article', recipe, 'Serve with warm cake.', `<a href="/">${step}</a>`)).toEqual([])
})

test('without structured data nothing is added', () => {
  expect(kept('article', {}, step)).toEqual([])
})
