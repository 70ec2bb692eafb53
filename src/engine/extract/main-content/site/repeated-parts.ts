/**
 * Lowers the probabilities of parts that repeat on other pages of the site. Only whole parts count: headings, labels,
 * code and table cells often repeat within content.
 */
import type { Block, Box } from '../blocks.ts'
import { bit } from '../features/context.ts'
import { isHeading } from '../features/levels.ts'
import type { Survey } from '../features/survey.ts'

/** Reduction of the log odds of a repeated part. */
const shift = 5
/** Minimum share of the words of a part that repeat. */
const minRepeated = 0.9
/** Minimum words of a part, or number of its blocks: less is a label. */
const minWords = 8
const minBlocks = 3

const boilerplate = bit('nav') | bit('aside') | bit('footer') | bit('form') | bit('dialog')
/** Contexts whose repetition is content, unless they are in boilerplate. */
const structured = bit('table') | bit('code') | bit('definitions') | bit('heading')

/** Returns `chances`, lowered in repeated parts; undefined if there are none. `isRepeated` is per block. */
export function lowerRepeated(
  { segments: { blocks, boxes }, sums }: Survey,
  chances: Float32Array,
  isRepeated: Uint8Array,
): Float32Array | undefined {
  const repeatedWords = new Float64Array(blocks.length + 1)
  for (const [at, { measure }] of blocks.entries())
    repeatedWords[at + 1] = repeatedWords[at]! + isRepeated[at]! * measure.words
  if (repeatedWords[blocks.length] === 0) return undefined
  const lowered = new Uint8Array(blocks.length)
  const lower = (first: number, end: number): void => {
    for (let at = first; at < end; at++) lowered[at] = isRepeated[at]!
  }
  const visit = (box: Box): void => {
    const { first, end } = box
    const repeated = repeatedWords[end]! - repeatedWords[first]!
    if (repeated === 0) return
    if (repeated < minRepeated * (sums.words[end]! - sums.words[first]!)) return box.boxes.forEach(visit)
    if (isPart(blocks, first, end)) lower(first, end)
  }
  const [root] = boxes
  if (root) visit(root)
  lowerHeadings(blocks, isRepeated, lowered)
  if (!lowered.includes(1)) return undefined
  return chances.map((chance, at) => (lowered[at] === 1 ? lowerChance(chance) : chance))
}

/** Whether blocks are more than labels, code and cells. */
function isPart(blocks: readonly Block[], first: number, end: number): boolean {
  let words = 0
  let count = 0
  for (let at = first; at < end; at++) {
    const { box, measure } = blocks[at]!
    if ((box.context & structured) !== 0 && (box.context & boilerplate) === 0) continue
    words += measure.words
    count++
  }
  return words >= minWords || count >= minBlocks
}

/** Lowers repeated headings of which everything below is lowered. */
function lowerHeadings(blocks: readonly Block[], isRepeated: Uint8Array, lowered: Uint8Array): void {
  for (let at = blocks.length - 2; at >= 0; at--) {
    const block = blocks[at]!
    if (isRepeated[at] === 0 || lowered[at] === 1 || !isHeading(block)) continue
    const rank = block.box.element.tag
    let end = at + 1
    while (end < blocks.length && !(isHeading(blocks[end]!) && blocks[end]!.box.element.tag <= rank)) end++
    if (end > at + 1 && lowered.subarray(at + 1, end).every((value) => value === 1)) lowered[at] = 1
  }
}

function lowerChance(chance: number): number {
  const odds = (chance / Math.max(1 - chance, 1e-6)) * Math.exp(-shift)
  return odds / (1 + odds)
}
