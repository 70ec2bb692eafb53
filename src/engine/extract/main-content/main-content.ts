/** Finds the main content of a page of any kind: blocks of text judged one by one, then together. */
import type { ElementNode } from '../tree.ts'
import { blockFeatures, featuresOf, type Matrix, pageFeatures } from './features.ts'
import { chancesOf, type Model } from './model.ts'
import { prune } from './prune.ts'
import { secondFeatures, writeSecond } from './second-look.ts'
import { keptBlocks, optionsOf } from './selection.ts'
import { type Survey, surveyPage } from './survey.ts'

/** Kinds of pages, as the model tells them apart. */
type PageType = 'article' | 'documentation' | 'service' | 'forum' | 'collection' | 'listing' | 'product'

export interface MainContentOptions {
  readonly model: Model
  /** The page's address: what it says of the kind of page is used. */
  readonly url?: string | undefined
}

export interface MainContent {
  /** The page's tree without what is not content; the whole page where nothing was found. */
  readonly root: ElementNode
  readonly type: PageType
  /** The share of the right words that is expected, from 0 to 1 (F1). */
  readonly confidence: number
  /** Nothing was found to be content: `root` is the whole page. */
  readonly fellBack: boolean
}

/** Columns behind the block features: the kinds of pages, then the second look. */
export const extraColumns = (types: number): number => types + secondFeatures.length

/** What the choice of a threshold sees of the page: its mass and parts, and the kinds of pages. */
export function pageRow(values: Float32Array, types: number): Float32Array {
  const row = new Float32Array(pageShape + types)
  row.set(values.subarray(0, pageShape))
  row.set(values.subarray(blockFeatures.length, blockFeatures.length + types), pageShape)
  return row
}

/** The features of a page's shape stand first; what follows would only be learnt by heart. */
const pageShape = 20

/** The main content of the page that `root` (its html element) holds; the same input gives the same output. */
export function mainContent(root: ElementNode, { model, url }: MainContentOptions): MainContent {
  const survey = surveyPage(root, url, model.lexicon)
  const { blocks } = survey.segments
  if (blocks.length === 0) return { root, type: 'article', confidence: 0, fellBack: true }
  const { types } = model
  const matrix = featuresOf(survey, model.lexicon, extraColumns(types.length))
  const type = writeTypes(matrix, types)
  const first = chancesOf(model.first, matrix)
  writeSecond(matrix.values, matrix.width, survey, first)
  const second = chancesOf(model.second, matrix)
  const { threshold, confidence } = choose(survey, first, second, pageRow(matrix.values, types.length), model)
  const kept = keptBlocks(survey, second, threshold)
  if (kept.length === 0) return { root, type, confidence: 0, fellBack: true }
  return { root: prune(root, kept), type, confidence, fellBack: false }
}

/** Writes the chance of every kind of page into each row; gives the likeliest. */
function writeTypes({ width, values }: Matrix, types: Model['types']): PageType {
  const page: Matrix = { width: pageFeatures.length, values: values.subarray(0, pageFeatures.length) }
  let likeliest: PageType = 'article'
  let most = 0
  for (const [index, [type, trees]] of types.entries()) {
    const chance = chancesOf(trees, page)[0]!
    for (let at = blockFeatures.length + index; at < values.length; at += width) values[at] = chance
    if (chance <= most) continue
    most = chance
    likeliest = type as PageType
  }
  return likeliest
}

/** The threshold that is learnt to give the best F1, and that F1. */
function choose(
  survey: Survey,
  first: Float32Array,
  second: Float32Array,
  page: Float32Array,
  { choice }: Model,
): { threshold: number; confidence: number } {
  const { thresholds, matrix } = optionsOf(survey, first, second, page)
  const worths = chancesOf(choice, matrix)
  let best = 0
  for (let index = 1; index < worths.length; index++) if (worths[index]! > worths[best]!) best = index
  return { threshold: thresholds[best]!, confidence: worths[best]! }
}
