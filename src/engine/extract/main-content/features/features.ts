/** Computes the features of blocks, one row each. */
import { tagFeatures, textFeatures, topicFeatures, writeTags, writeText, writeTopics } from './block-features.ts'
import type { Lexicon } from './lexicon.ts'
import { pageFeatures, writePage } from './page-features.ts'
import {
  levelFeatures,
  neighbourFeatures,
  valuesForNeighbours,
  writeLevels,
  writeNeighbours,
} from './position-features.ts'
import type { Survey } from './survey.ts'

/** Names of the columns of a row: features of the page, of the block itself, and of its position. */
export const blockFeatures: readonly string[] = [
  ...pageFeatures,
  ...textFeatures,
  ...tagFeatures,
  ...levelFeatures,
  ...neighbourFeatures,
  ...topicFeatures,
]

/** Rows of equal width, one after another. */
export interface Matrix {
  readonly width: number
  readonly values: Float32Array
}

/** Computes the features of every block; `extra` columns at the end of each row stay 0. */
export function featuresOf(survey: Survey, lexicon: Lexicon, extra = 0): Matrix {
  const { blocks } = survey.segments
  const width = blockFeatures.length + extra
  const values = new Float32Array(width * blocks.length)
  if (blocks.length === 0) return { width, values }
  const page = new Float32Array(pageFeatures.length)
  writePage(page, 0, survey)
  const neighbours = valuesForNeighbours(survey)
  for (const [index, block] of blocks.entries()) {
    let at = index * width
    values.set(page, at)
    at = writeText(values, at + page.length, survey, index)
    at = writeTags(values, at, block, lexicon)
    at = writeLevels(values, at, survey, index)
    at = writeNeighbours(values, at, survey, index, neighbours)
    writeTopics(values, at, survey, index)
  }
  return { width, values }
}
