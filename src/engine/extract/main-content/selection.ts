/** Selects the blocks to keep by their probabilities, with a threshold per page. */
import type { Block } from './blocks.ts'
import { bit } from './features/context.ts'
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
  const kept = survey.segments.blocks.filter(({ index }) => {
    const original = survey.originals[index]!
    return chances[index]! >= threshold && (original < 0 || chances[original]! < threshold)
  })
  return withoutScriptNotice(kept)
}

const noscript = bit('noscript')
/** Minimum words of `<noscript>` text beside other content; less is a request to enable scripts. */
const minNoscriptWords = 20

/** Removes short text in `<noscript>` if there is content outside of it. */
function withoutScriptNotice(kept: Block[]): Block[] {
  const shown = kept.filter(({ box }) => (box.context & noscript) === 0)
  if (shown.length === 0 || shown.length === kept.length) return kept
  return wordsOf(kept) - wordsOf(shown) < minNoscriptWords ? shown : kept
}

const wordsOf = (blocks: readonly Block[]): number => blocks.reduce((sum, { measure }) => sum + measure.words, 0)
