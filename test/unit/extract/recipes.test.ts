/** Ingredients and steps of recipes. */
import { expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { surveyPage } from '../../../src/engine/extract/main-content/features/survey.ts'
import { shippedModel } from '../../../src/engine/extract/main-content/model.ts'
import { withRecipes } from '../../../src/engine/extract/main-content/recipes.ts'

const { lexicon } = await shippedModel()

/** Returns the lines that are kept of a page of which the model keeps nothing. */
function kept(body: string): string[] {
  const survey = surveyPage(treeFromHtml(`<body>${body}</body>`, '').root, '', lexicon)
  return withRecipes(survey, []).map(({ text }) => text)
}

const list = (...items: string[]) => `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`
const ingredients = ['1 kg plums', '250 g sugar', 'juice of a lemon']
const steps = ['Halve the plums.', 'Boil them with sugar and juice.']

test.each([
  ['Ingredients', 'Directions'],
  ['Zutaten für 4 Personen', 'Zubereitung'],
  ['Ingrédients', 'Préparation'],
  ['Ingrediënten', 'Bereidingswijze'],
])('lists below the headings %s and %s are kept', (first, second) => {
  const page = `<p>A long story.</p><h3>${first}</h3>${list(...ingredients)}<h3>${second}</h3>${list(...steps)}<h3>More</h3>${list('Plum cake')}`
  expect(kept(page)).toEqual([...ingredients, ...steps])
})

test('lists in parts with such names are kept, with the names of their sections left to the model', () => {
  const page = `<div class="card-ingredients"><h4>Jam</h4>${list(...ingredients)}</div><div class="card-instructions">${list(...steps)}</div>`
  expect(kept(page)).toEqual([...ingredients, ...steps])
})

test('the names of groups between lists are kept', () => {
  const group = (name: string, items: string[]) => `<div><div>${name}</div>${list(...items)}</div>`
  const more = ['Sieve them.', 'Fill the glasses.']
  const page = `<div class="card-ingredients">${list(...ingredients)}</div><div class="card-instructions">${group('Jam', steps)}${group('Jelly', more)}</div>`
  expect(kept(page)).toEqual([...ingredients, ...steps, 'Jelly', ...more])
  const long = page.replace('Jelly', 'A line of more than eight words is no name of a group')
  expect(kept(long)).toEqual([...ingredients, ...steps, ...more])
})

test('steps without ingredients are not those of a recipe', () => {
  expect(kept(`<h3>Directions</h3>${list(...steps)}`)).toEqual([])
  expect(kept(`<h3>Ingredients</h3>${list('1 kg plums')}<h3>Directions</h3>${list(...steps)}`)).toEqual([])
})

test('menus are not ingredients, nor steps', () => {
  const menu = list('<a href="/jam">All jams</a>', '<a href="/plums">All about plums</a>')
  expect(kept(`<h3>Ingredients</h3>${list(...ingredients)}<h3>Directions</h3>${list(...steps)}${menu}`)).toEqual([
    ...ingredients,
    ...steps,
  ])
  expect(kept(`<nav class="ingredients"><h3>Ingredients</h3>${list(...ingredients)}</nav>`)).toEqual([])
})

test('the name of a recipe is kept when it differs from the title of the page', () => {
  const card = (name: string) =>
    `<h1>Plum Jam with Lemon</h1><p>A story.</p><h2>${name}</h2><p>10 minutes</p><h3>Ingredients</h3>${list(...ingredients)}`
  expect(kept(card('Easy Plum Jam'))).toEqual(['Easy Plum Jam', ...ingredients])
  expect(kept(card('What You Need'))).toEqual(ingredients)
  expect(kept(card('Jam'))).toEqual(ingredients)
})
