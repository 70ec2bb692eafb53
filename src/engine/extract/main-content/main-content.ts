/** Finds the main content of pages of any kind with a learnt model that classifies blocks of text in two passes. */
import { attribute, type ElementNode } from '../tree.ts'
import { withAttachedParts } from './attached-parts.ts'
import { withCoherentParts } from './coherence.ts'
import type { Box } from './blocks.ts'
import { bit } from './features/context.ts'
import { blockFeatures, featuresOf, type Matrix } from './features/features.ts'
import { alignItems } from './item-groups.ts'
import { pageFeatures } from './features/page-features.ts'
import { chancesOf, type Model } from './model.ts'
import { withOffers } from './offers.ts'
import { withWholePosts } from './posts.ts'
import { prune } from './prune.ts'
import { withQuotes } from './quotes.ts'
import { withRecipes } from './recipes.ts'
import { withoutRequests } from './requests.ts'
import { secondPassFeatures, writeSecond } from './features/second-pass.ts'
import { expectedBest, keptBlocks } from './selection.ts'
import { selectWithin } from './site/site-page.ts'
import type { SiteSummary } from './site/site-memory.ts'
import { structuredDataContent } from './structured-data-content.ts'
import { type Survey, surveyPage } from './features/survey.ts'
import { withWholeTables } from './whole-tables.ts'

/** Kinds of pages that the model distinguishes. */
type PageType = 'article' | 'documentation' | 'service' | 'forum' | 'collection' | 'listing' | 'product'

export interface MainContentOptions {
  readonly model: Model
  /** URL of the page; it indicates the kind of page. */
  readonly url?: string | undefined
  /** Summary of other pages of the site; the result then has an outline of the page. */
  readonly site?: SiteSummary | undefined
}

export interface MainContent {
  /**
   * The page's tree reduced to its content; the content of its structured data when the HTML has almost no text; the
   * whole page when no content was found.
   */
  readonly root: ElementNode
  readonly type: PageType
  /** Expected F1 over words, from 0 to 1. */
  readonly confidence: number
  /** Whether no content was found and `root` is the whole page. */
  readonly fellBack: boolean
  /** Outline of the page, if something may be known about other pages. */
  readonly outline?: string
  /** The content as selected without knowledge about other pages, if it differs. */
  readonly unaided?: ElementNode
  /** Whether a heading of the page that is not in `root` directly precedes the content, or is likely to be content. */
  introduces(heading: ElementNode): boolean
}

/** Returns the number of columns after the block features: the kinds of pages, then the second pass. */
export const extraColumns = (types: number): number => types + secondPassFeatures.length

/** Returns the names of all columns, given the kinds of pages. */
export const columnsOf = (types: readonly string[]): string[] => [
  ...blockFeatures,
  ...types.map((type) => `chance of ${type}`),
  ...secondPassFeatures,
]

const minChance = 1e-6
/** Exponent that lowers overconfident probabilities: errors within one page are correlated. */
const trust = 0.8

/** Combines the probabilities of both passes: the mean of their log odds, scaled by `trust`. */
export const together = (first: Float32Array, second: Float32Array): Float32Array =>
  first.map((chance, index) => {
    const odds = (oddsOf(chance) * oddsOf(second[index]!)) ** (trust / 2)
    return odds / (1 + odds)
  })

const oddsOf = (chance: number): number => Math.max(chance, minChance) / Math.max(1 - chance, minChance)

/** Memory for the features of one page after the other, enough for most. */
let memory = new Float32Array(0)
const maxMemory = 2 ** 20

/** Returns an array of zeros, which is valid until the next call. */
function zeros(length: number): Float32Array {
  if (length > maxMemory) return new Float32Array(length)
  if (length <= memory.length) return memory.subarray(0, length).fill(0)
  memory = new Float32Array(Math.min(maxMemory, 2 * length))
  return memory.subarray(0, length)
}

/** Returns the main content of a page, given its html element; the result is deterministic. */
export function mainContent(root: ElementNode, { model, url, site }: MainContentOptions): MainContent {
  const survey = surveyPage(root, url, model.lexicon)
  const { blocks } = survey.segments
  if (blocks.length === 0) return withoutBlocks(root, 'article', substituteFor(survey, root))
  const { types } = model
  const matrix = featuresOf(survey, model.lexicon, extraColumns(types.length), zeros)
  const type = writeTypes(matrix, types)
  const first = chancesOf(model.first, matrix)
  writeSecond(matrix.values, matrix.width, survey, first)
  const combined = alignItems(survey, together(first, chancesOf(model.second, matrix)))
  dropHidden(survey, combined)
  const { threshold, worth: confidence } = expectedBest(survey, combined)
  const attached = withAttachedParts(survey, combined, keptBlocks(survey, combined, threshold))
  const text = withWholeTables(survey, withCoherentParts(survey, combined, attached, type === 'forum'))
  const whole = withRecipes(survey, type === 'forum' ? withQuotes(survey, withWholePosts(survey, text)) : text)
  const selected = withOffers(survey, type, type === 'article' ? withoutRequests(whole) : whole)
  const selection = { kept: selected, chances: combined, threshold }
  const { kept, outline } = site === undefined ? { kept: selected } : selectWithin(site, survey, selection, url)
  const stated = substituteFor(survey, root)
  if (stated || kept.length === 0) return withoutBlocks(root, type, stated)
  const introduces = (heading: ElementNode) => {
    const box = survey.segments.boxes.find(({ element }) => element === heading)
    if (!box) return false
    const between = survey.sums.words[kept[0]!.index]! - survey.sums.words[box.end]!
    const isNear = box.end <= kept[0]!.index && between <= maxWordsBelow
    return isNear || combined.subarray(box.first, box.end).some((chance) => chance >= minHeadingChance)
  }
  return {
    root: prune(root, kept),
    type,
    confidence,
    fellBack: false,
    introduces,
    ...(outline !== undefined && { outline }),
    ...(kept !== selected && { unaided: prune(root, selected) }),
  }
}

/** Excludes the help of the search and similar notices that scripts show above the headline on demand. */
function dropHidden({ segments: { blocks } }: Survey, chances: Float32Array): void {
  const headline = blocks.findIndex(({ box }) => box.element.tag === 'h1' && !isHidden(box))
  for (let at = 0; at < headline; at++) if (isOnDemand(blocks[at]!.box)) chances[at] = 0
}

const hidden = bit('hidden')
const isHidden = ({ context }: Box): boolean => (context & hidden) !== 0

const onDemand = /search|cookie|consent/i

/** Whether a box is in a hidden element with such a name. */
const isOnDemand = (box: Box): boolean =>
  isHidden(box) && (onDemand.test(nameOf(box.element)) || (box.parent !== undefined && isOnDemand(box.parent)))

const nameOf = (element: ElementNode): string => `${attribute(element, 'id')} ${attribute(element, 'class')}`

/**
 * Minimum probability of a heading that does not directly precede the content. It is low, because many true texts of the
 * training pages omit headlines that readers expect.
 */
const minHeadingChance = 0.1
/** Maximum words between a headline and the content that it directly precedes, such as a date or a place. */
const maxWordsBelow = 12

/** Maximum words of HTML text for using structured data instead, and the minimum words of the structured data. */
const maxHtmlWords = 50
const minStatedWords = 20

/** Returns the content of the structured data for a page whose HTML is only the shell of an application. */
function substituteFor({ words }: Survey, root: ElementNode): ElementNode | undefined {
  if (words > maxHtmlWords) return undefined
  const stated = structuredDataContent(root)
  return stated && stated.words >= minStatedWords && stated.words >= 2 * words ? stated.root : undefined
}

const withoutBlocks = (root: ElementNode, type: PageType, stated: ElementNode | undefined): MainContent =>
  stated
    ? { root: stated, type, confidence: statedConfidence, fellBack: false, introduces: () => true }
    : { root, type, confidence: 0, fellBack: true, introduces: () => true }

/** Confidence of content from structured data, which the model did not classify. */
const statedConfidence = 0.5

/** Writes the probability of every kind of page into each row; returns the most likely kind. */
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
