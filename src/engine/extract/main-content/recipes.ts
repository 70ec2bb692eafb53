/**
 * Keeps the ingredients and steps of recipes. They are short lines below long stories, and the model, which classifies
 * every line alone, drops some of them, or whole recipe cards.
 */
import { type ElementNode, wordSet } from '../tree.ts'
import type { Block, Box } from './blocks.ts'
import { copiedFrom } from './copies.ts'
import { bit } from './features/context.ts'
import { headings, isHeading } from './features/levels.ts'
import type { Survey } from './features/survey.ts'

const ingredientNames = wordSet('ingredient ingredients ingredienti ingrediente ingredientes ingredienten zutaten')
const stepNames = wordSet(
  'instruction instructions direction directions steps method procedimento preparation preparazione preparo zubereitung bereiding',
)
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
    ({ measure, box }) => measure.words <= maxIngredientWords && !headings.has(box.element.tag),
  )
  if (ingredients.length < minIngredients) return kept
  const chosen = new Set(kept)
  for (const block of namesAbove(survey, ingredients[0]!)) if (!isStated(block, chosen)) chosen.add(block)
  for (const block of [...ingredients, ...linesOf(survey, stepNames, stepHeading)])
    if (copiedFrom(survey, block.index) < 0) chosen.add(block)
  return chosen.size === kept.length ? kept : blocks.filter((block) => chosen.has(block))
}

/** Maximum number of blocks from the name of a recipe to its ingredients, such as times, servings and a description. */
const maxBlocksToName = 30
/** Minimum share of the words of a name that are in the title of the page. */
const minSharedWords = 0.5

/** Returns the name of the recipe above its ingredients, which may differ from the title of the page: the last heading. */
function namesAbove({ title, segments: { blocks } }: Survey, { index }: Block): Block[] {
  const known = new Set(wordsIn(blocks[title]?.text ?? ''))
  const isName = (block: Block) => {
    const words = wordsIn(block.text)
    return (
      isHeading(block) &&
      (block.box.context & outside) === 0 &&
      words.length > 1 &&
      words.filter((word) => known.has(word)).length > minSharedWords * words.length
    )
  }
  return blocks
    .slice(Math.max(title + 1, index - maxBlocksToName), index)
    .filter(isName)
    .slice(-1)
}

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** Whether the same line is among those that are kept. */
const isStated = (block: Block, chosen: ReadonlySet<Block>): boolean =>
  [...chosen].some(({ text }) => wordsIn(text).join(' ') === wordsIn(block.text).join(' '))

/** Returns the items of lists in boxes with such a name, and those below such a heading that are no links, as in menus. */
function linesOf(survey: Survey, names: ReadonlySet<string>, heading: RegExp): Block[] {
  const { blocks, boxes } = survey.segments
  const found = new Set<Block>()
  for (const box of boxes)
    if (box.names.words.some((name) => names.has(name)) && isPart(survey, box)) {
      const lines = blocks.slice(box.first, box.end)
      for (const [at, line] of lines.entries())
        if (isItem(line) || isGroupName(line, lines[at - 1], lines[at + 1])) found.add(line)
    }
  let isBelow = false
  for (const block of blocks)
    if (isHeading(block)) isBelow = heading.test(block.text)
    else if (isBelow && isItem(block) && 2 * block.linkWords <= block.measure.words) found.add(block)
  return [...found]
}

/** Maximum words of the name of a group of ingredients or steps. */
const maxNameWords = 8

/** Whether a line between the last item of a list and the first one of the next is the name of that list. */
function isGroupName({ measure, box }: Block, above: Block | undefined, below: Block | undefined): boolean {
  if (!above || !below || !isItem(above) || !isItem(below) || listOf(above.box) === listOf(below.box)) return false
  return measure.words <= maxNameWords && (box.context & outside) === 0
}

const listOf = ({ element, parent }: Box): ElementNode =>
  element.tag === 'ol' || element.tag === 'ul' || !parent ? element : listOf(parent)

const isPart = ({ sums }: Survey, { element, first, end }: Box): boolean =>
  element.tag !== 'body' && element.tag !== 'main' && sums.words[end]! - sums.words[first]! <= maxWords

const isItem = ({ box }: Block): boolean => (box.context & outside) === 0 && (box.context & listed) !== 0
