/** Selects the blocks to keep by their probabilities, with a threshold per page. */
import type { Block } from './blocks.ts'
import type { Survey } from './features/survey.ts'

/** Returns the minimum probability of kept blocks with the greatest expected F1 over words (`worth`). */
export function expectedBest(survey: Survey, chances: Float32Array): { threshold: number; worth: number } {
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

/** Returns the blocks with at least the probability `threshold`, without copies of kept blocks. */
export function keptBlocks(survey: Survey, chances: Float32Array, threshold: number): Block[] {
  return survey.segments.blocks.filter(({ index }) => {
    const original = survey.originals[index]!
    return chances[index]! >= threshold && (original < 0 || chances[original]! < threshold)
  })
}
