/**
 * Finds the parts of a page that repeat on other pages of the site. Only whole parts count: headings, labels, code and
 * table cells often repeat within content.
 */
import type { Block, Box } from '../blocks.ts'
import { bit } from '../features/context.ts'
import { isHeading, noSums } from '../features/levels.ts'
import type { Survey } from '../features/survey.ts'

/** Minimum share of the words of a part that repeat. */
const minRepeated = 0.9
/** Minimum words of a part, or number of its blocks: less is a label. */
const minWords = 8
const minBlocks = 3

const boilerplate = bit('nav') | bit('aside') | bit('footer') | bit('form') | bit('dialog')
/** Contexts whose repetition is content, unless they are in boilerplate. */
const structured = bit('table') | bit('code') | bit('definitions') | bit('heading')

/** Returns 1 for every block of a part that repeats; `isRepeated` tells it of single blocks. */
export function repeatedParts({ segments: { blocks, boxes }, sums }: Survey, isRepeated: Uint8Array): Uint8Array {
  const marked = new Uint8Array(blocks.length)
  const repeatedWords = noSums(blocks)
  for (const [at, { measure }] of blocks.entries())
    repeatedWords[at + 1] = repeatedWords[at]! + isRepeated[at]! * measure.words
  const visit = (box: Box): void => {
    const { first, end } = box
    const repeated = repeatedWords[end]! - repeatedWords[first]!
    if (repeated === 0) return
    if (repeated < minRepeated * (sums.words[end]! - sums.words[first]!)) return box.boxes.forEach(visit)
    if (isPart(blocks, first, end)) marked.set(isRepeated.subarray(first, end), first)
  }
  if (boxes.length > 0) visit(boxes[0]!)
  markHeadings(blocks, isRepeated, marked)
  return marked
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

/** Marks repeated headings if everything below them is marked. */
function markHeadings(blocks: readonly Block[], isRepeated: Uint8Array, marked: Uint8Array): void {
  for (let at = blocks.length - 2; at >= 0; at--) {
    const block = blocks[at]!
    if (isRepeated[at] === 0 || marked[at] === 1 || !isHeading(block)) continue
    const rank = block.box.element.tag
    let end = at + 1
    while (end < blocks.length && !(isHeading(blocks[end]!) && blocks[end]!.box.element.tag <= rank)) end++
    if (end > at + 1 && marked.subarray(at + 1, end).every((value) => value === 1)) marked[at] = 1
  }
}
