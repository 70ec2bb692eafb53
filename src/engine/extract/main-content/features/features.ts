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

/** Creates an array of zeros. */
type Allocate = (length: number) => Float32Array

const allocateNew: Allocate = (length) => new Float32Array(length)

/** Computes the features of every block; `extra` columns at the end of each row stay 0. */
export function featuresOf(survey: Survey, lexicon: Lexicon, extra = 0, allocate = allocateNew): Matrix {
  const { blocks } = survey.segments
  const width = blockFeatures.length + extra
  const values = allocate(width * blocks.length)
  if (blocks.length === 0) return { width, values }
  const page = new Float32Array(pageFeatures.length)
  writePage(page, 0, survey)
  const neighbours = valuesForNeighbours(survey)
  for (let index = 0; index < blocks.length; index++) {
    let at = index * width
    values.set(page, at)
    at = writeText(values, at + page.length, survey, index)
    at = writeTags(values, at, blocks[index]!, lexicon)
    at = writeLevels(values, at, survey, index)
    at = writeNeighbours(values, at, survey, index, neighbours)
    writeTopics(values, at, survey, index)
  }
  return { width, values }
}
