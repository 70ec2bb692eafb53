/**
 * Keeps the ingredients and steps of recipes. They are short lines below long stories, and the model, which classifies
 * every line alone, drops some of them, or whole recipe cards.
 */
import type { Block, Box } from './blocks.ts'
import { copiedFrom } from './copies.ts'
import { bit } from './features/context.ts'
import { isHeading } from './features/levels.ts'
import type { Survey } from './features/survey.ts'
import { namesOf } from './features/text-measure.ts'

const ingredientNames = /(?<!by-?)ingr[eé]d[ií]?[eë]n|zutaten/i
const stepNames =
  /(?:recipe|recept|rezept|recette|ricetta|receta)\S*(?:instruction|direction|step|method|procedure)|procedimento|bereiding|zubereitung/i
const ingredientHeading =
  /^(?:the )?(?:ingredients?|zutaten|ingrédients|ingredienti|ingredientes|ingrediënten|składniki|hozzávalók|ingredienser)\b/i
const stepHeading =
  /^(?:the )?(?:instructions?|directions?|method|steps|preparation|zubereitung|préparation|étapes|preparazione|procedimento|modo de preparo|preparación|elaboración|bereiding(?:swijze)?|przygotowanie|elkészítés)\b/i

const outside = bit('nav') | bit('footer') | bit('dialog') | bit('button') | bit('noscript')
const listed = bit('list')
/** Minimum number of ingredients. */
const minIngredients = 3
/** Maximum words of an ingredient and of all: more is a page about ingredients. */
const maxIngredientWords = 40
const maxWords = 800

/** Returns `kept` with the ingredients of recipes and the steps below them, in document order. */
export function withRecipes(survey: Survey, kept: readonly Block[]): readonly Block[] {
  const { blocks } = survey.segments
  const ingredients = linesOf(survey, ingredientNames, ingredientHeading).filter(
    ({ measure }) => measure.words <= maxIngredientWords,
  )
  if (ingredients.length < minIngredients) return kept
  const chosen = new Set(kept)
  for (const block of [...ingredients, ...linesOf(survey, stepNames, stepHeading)])
    if (copiedFrom(survey, block.index) < 0) chosen.add(block)
  return chosen.size === kept.length ? kept : blocks.filter((block) => chosen.has(block))
}

/** Returns the items of lists in boxes with such a name, or below such a heading. */
function linesOf(survey: Survey, names: RegExp, heading: RegExp): Block[] {
  const { blocks, boxes } = survey.segments
  const found = new Set<Block>()
  for (const box of boxes)
    if (names.test(namesOf(box.element)) && isPart(survey, box))
      for (const block of blocks.slice(box.first, box.end)) if (isItem(block)) found.add(block)
  for (const block of blocks) {
    const above = blocks[survey.headings[block.index]!]
    if (above && isItem(block) && heading.test(above.text)) found.add(block)
  }
  return [...found]
}

const isPart = ({ sums }: Survey, { element, first, end }: Box): boolean =>
  element.tag !== 'body' && element.tag !== 'main' && sums.words[end]! - sums.words[first]! <= maxWords

const isItem = (block: Block): boolean =>
  (block.box.context & outside) === 0 && (block.box.context & listed) !== 0 && !isHeading(block)
