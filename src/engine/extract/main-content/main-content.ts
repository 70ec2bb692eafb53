/** Finds the main content of a page of any kind: blocks of text judged one by one, then together. */
import type { ElementNode } from '../tree.ts'
import { blockFeatures, featuresOf, type Matrix, pageFeatures } from './features/features.ts'
import { chancesOf, type Model } from './model.ts'
import { prune } from './prune.ts'
import { secondFeatures, writeSecond } from './features/second-look.ts'
import { expectedBest, keptBlocks } from './selection.ts'
import { type StatedContent, statedContent } from './stated.ts'
import { type Survey, surveyPage } from './features/survey.ts'

/** Kinds of pages, as the model tells them apart. */
type PageType = 'article' | 'documentation' | 'service' | 'forum' | 'collection' | 'listing' | 'product'

export interface MainContentOptions {
  readonly model: Model
  /** The page's address: what it says of the kind of page is used. */
  readonly url?: string | undefined
}

export interface MainContent {
  /**
   * The page's tree without what is not content; what its structured data says where its HTML says next to nothing;
   * the whole page where nothing was found.
   */
  readonly root: ElementNode
  readonly type: PageType
  /** The share of the right words that is expected, from 0 to 1 (F1). */
  readonly confidence: number
  /** Nothing was found to be content: `root` is the whole page. */
  readonly fellBack: boolean
}

/** Columns behind the block features: the kinds of pages, then the second look. */
export const extraColumns = (types: number): number => types + secondFeatures.length

const least = 1e-6
/** Blocks of one page are misjudged together: taken for what they are, the chances promise more than they keep. */
const trust = 0.8

/** Chances by both looks: the mean of their log odds, and somewhat less sure. */
export const together = (first: Float32Array, second: Float32Array): Float32Array =>
  first.map((chance, index) => {
    const odds = (oddsOf(chance) * oddsOf(second[index]!)) ** (trust / 2)
    return odds / (1 + odds)
  })

const oddsOf = (chance: number): number => Math.max(chance, least) / Math.max(1 - chance, least)

/** The main content of the page that `root` (its html element) holds; the same input gives the same output. */
export function mainContent(root: ElementNode, { model, url }: MainContentOptions): MainContent {
  const survey = surveyPage(root, url, model.lexicon)
  const { blocks } = survey.segments
  if (blocks.length === 0) return withoutBlocks(root, 'article', statedBeside(survey, root))
  const { types } = model
  const matrix = featuresOf(survey, model.lexicon, extraColumns(types.length))
  const type = writeTypes(matrix, types)
  const first = chancesOf(model.first, matrix)
  writeSecond(matrix.values, matrix.width, survey, first)
  const judged = together(first, chancesOf(model.second, matrix))
  const { threshold, worth: confidence } = expectedBest(survey, judged)
  const kept = keptBlocks(survey, judged, threshold)
  const stated = statedBeside(survey, root)
  if (stated || kept.length === 0) return withoutBlocks(root, type, stated)
  return { root: prune(root, kept), type, confidence, fellBack: false }
}

/** Words of a page's text that are too few to be all of its content, and of structured data that are enough. */
const mostUnsaid = 50
const leastStated = 20

/** What the structured data says of a page whose HTML is the shell of a program. */
function statedBeside({ words }: Survey, root: ElementNode): StatedContent | undefined {
  if (words > mostUnsaid) return undefined
  const stated = statedContent(root)
  return stated && stated.words >= leastStated && stated.words >= 2 * words ? stated : undefined
}

const withoutBlocks = (root: ElementNode, type: PageType, stated: StatedContent | undefined): MainContent =>
  stated
    ? { root: stated.root, type, confidence: statedConfidence, fellBack: false }
    : { root, type, confidence: 0, fellBack: true }

/** Nothing was judged: neither this nor that. */
const statedConfidence = 0.5

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
