/** Which blocks to keep, given how likely each is content: a threshold per page. */
import type { Block } from './blocks.ts'
import { log, shareOf } from './block-features.ts'
import type { Matrix } from './features.ts'
import type { Survey } from './survey.ts'

export interface Choice {
  /** Blocks at least as likely as this are kept. */
  readonly threshold: number
  /** The F1 expected of that choice, if every chance were true. */
  readonly worth: number
}

/** The threshold with the greatest expected F1 over words. */
export function expectedBest(survey: Survey, chances: Float32Array): Choice {
  const { blocks } = survey.segments
  const order = Array.from(blocks.keys()).sort((a, b) => chances[b]! - chances[a]!)
  let total = 0
  for (const index of order) total += chances[index]! * blocks[index]!.measure.words
  let kept = 0
  let right = 0
  let worth = 0
  let threshold = 1
  for (const index of order) {
    const { words } = blocks[index]!.measure
    kept += words
    right += chances[index]! * words
    const expected = (2 * right) / (kept + total || 1)
    if (expected <= worth) continue
    worth = expected
    threshold = chances[index]!
  }
  return { threshold, worth }
}

/** The blocks at least as likely as `threshold`, without copies of what is kept already. */
export function keptBlocks(survey: Survey, chances: Float32Array, threshold: number): Block[] {
  return survey.segments.blocks.filter(({ index }) => {
    const original = survey.originals[index]!
    return chances[index]! >= threshold && (original < 0 || chances[original]! < threshold)
  })
}

/** Thresholds to choose from, beside the one expected to be best. */
const cuts = [0.06, 0.1, 0.15, 0.2, 0.27, 0.34, 0.42, 0.5, 0.58, 0.66, 0.74, 0.82, 0.9]

const choiceFeatures = [
  'threshold',
  'over best threshold',
  'worth',
  'best worth',
  'lost worth',
  'share kept',
  'words kept',
  'blocks kept',
  'share of blocks kept',
  'mean chance kept',
  'content kept',
  'content share',
  'best threshold',
  'first look kept',
  'first worth',
  'first threshold',
  'doubtful share',
  'sure share',
  'is best',
]

/** What is chosen from: the thresholds, and a row of features for each; the page's own features stand at a row's end. */
export interface Options {
  readonly thresholds: readonly number[]
  readonly matrix: Matrix
}

/** The options of a page, judged twice. */
export function optionsOf(survey: Survey, first: Float32Array, second: Float32Array, page: Float32Array): Options {
  const best = expectedBest(survey, second)
  const firstBest = expectedBest(survey, first)
  const thresholds = [best.threshold, ...cuts]
  const width = choiceFeatures.length + page.length
  const values = new Float32Array(width * thresholds.length)
  const whole = massOf(survey, first, second, 0)
  const doubtful = massOf(survey, first, second, 0.3).words - massOf(survey, first, second, 0.7).words
  const sure = massOf(survey, first, second, 0.7).words
  for (const [index, threshold] of thresholds.entries()) {
    const kept = massOf(survey, first, second, threshold)
    const worth = shareOf(2 * kept.content, kept.words + whole.content)
    const row = [
      threshold,
      threshold - best.threshold,
      worth,
      best.worth,
      best.worth - worth,
      shareOf(kept.words, whole.words),
      log(kept.words),
      kept.blocks,
      shareOf(kept.blocks, whole.blocks),
      shareOf(kept.content, kept.words),
      shareOf(kept.content, whole.content),
      shareOf(whole.content, whole.words),
      best.threshold,
      shareOf(kept.firstContent, kept.words),
      firstBest.worth,
      firstBest.threshold,
      shareOf(doubtful, whole.words),
      shareOf(sure, whole.words),
      index === 0 ? 1 : 0,
    ]
    values.set(row, index * width)
    values.set(page, index * width + row.length)
  }
  return { thresholds, matrix: { width, values } }
}

interface Mass {
  readonly blocks: number
  readonly words: number
  /** Words that are expected to be content, by the second and by the first look. */
  readonly content: number
  readonly firstContent: number
}

function massOf(survey: Survey, first: Float32Array, second: Float32Array, threshold: number): Mass {
  let blocks = 0
  let words = 0
  let content = 0
  let firstContent = 0
  for (const { index, measure } of survey.segments.blocks) {
    if (second[index]! < threshold) continue
    blocks++
    words += measure.words
    content += measure.words * second[index]!
    firstContent += measure.words * first[index]!
  }
  return { blocks, words, content, firstContent }
}
