/** Which blocks to keep, given how likely each is content: a threshold per page. */
import type { Block } from './blocks.ts'
import type { Survey } from './features/survey.ts'

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
