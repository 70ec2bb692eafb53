/** Selects the blocks to keep by their probabilities, with a threshold per page. */
import type { Block } from './blocks.ts'
import { copiedFrom } from './copies.ts'
import { bit } from './features/context.ts'
import type { Survey } from './features/survey.ts'

/** Returns the minimum probability of kept blocks with the greatest expected F1 over words (`worth`). */
export function expectedBest(survey: Survey, chances: Float32Array): { threshold: number; worth: number } {
  const { blocks } = survey.segments
  const order = orderOf(chances, { descending: true })
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

/** Number of indexes of which every one fits beside the 32 bits of a probability. */
const indexes = 2 ** 21

/** Returns the indexes of probabilities by their values; sorting numbers needs no comparison function. */
export function orderOf(chances: Float32Array, { descending }: { readonly descending: boolean }): Float64Array {
  // The bits of positive numbers have their order.
  const bits = new Uint32Array(chances.buffer, chances.byteOffset, chances.length)
  const keys = new Float64Array(bits.length)
  for (let at = 0; at < keys.length; at++) keys[at] = (descending ? 0xffff_ffff - bits[at]! : bits[at]!) * indexes + at
  keys.sort()
  for (let at = 0; at < keys.length; at++) keys[at] = keys[at]! % indexes
  return keys
}

/** Returns the blocks with at least the probability `threshold`, without copies of kept blocks. */
export function keptBlocks(survey: Survey, chances: Float32Array, threshold: number): Block[] {
  const kept = survey.segments.blocks.filter(({ index }) => {
    if (chances[index]! < threshold) return false
    const original = copiedFrom(survey, index)
    return original < 0 || chances[original]! < threshold
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
