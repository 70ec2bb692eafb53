/**
 * Finds the parts of the content that repeat on other pages of the site and stand apart from the text of the page: boxes
 * such as notices of cookies and notes on the author, and paragraphs before or after everything else. Repetition within
 * the text is content: the steps, questions and sections that pages of one kind share.
 */
import { wordSet } from '../../tree.ts'
import type { Block, Box } from '../blocks.ts'
import { bit } from '../features/context.ts'
import { isHeading, noSums } from '../features/levels.ts'
import type { Survey } from '../features/survey.ts'

/** Minimum share of the words of a box that repeat. */
const minRepeated = 0.9
/** Minimum words of a text: less is a label. */
const minWords = 8
/** Maximum words of a box: more is content, such as a licence. */
const maxWords = 200
/** Maximum words of repeated paragraphs before and after the text, as a share of the words that do not repeat. */
const maxEdge = 0.25

/** Elements of running text. */
const textTags = wordSet('p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table tr pre blockquote figure')
/** Elements that are menus when they consist of links; a heading or an item with a link is part of the text. */
const listTags = wordSet('ul ol table')
/** Contexts in which repetition is content. */
const structured = bit('list') | bit('table') | bit('code') | bit('definitions') | bit('quote')

/** Returns 1 for every block of a part that repeats; `isRepeated` tells it of single blocks. */
export function repeatedParts(survey: Survey, kept: readonly Block[], isRepeated: Uint8Array): Uint8Array {
  const { blocks, boxes } = survey.segments
  const marked = new Uint8Array(blocks.length)
  const isKept = new Uint8Array(blocks.length)
  const repeated = noSums(blocks)
  const own = noSums(blocks)
  for (const { index, measure } of kept) {
    isKept[index] = 1
    const sums = isRepeated[index] === 1 ? repeated : own
    sums[index + 1] = measure.words
  }
  for (let at = 0; at < blocks.length; at++) {
    repeated[at + 1]! += repeated[at]!
    own[at + 1]! += own[at]!
  }
  const wordsIn = (sums: Float64Array, { first, end }: Box) => sums[end]! - sums[first]!

  const isApart = (box: Box): boolean => {
    const { element, parent, first, end } = box
    // Other text in the box is not kept, and says nothing about the text that repeats.
    const inside = blocks.slice(first, end).filter(({ index }) => isRepeated[index] === 1)
    const isMenu = isMostlyLinks(inside)
    if (!parent || (textTags.has(element.tag) && !(isMenu && listTags.has(element.tag)))) return false
    const before = first > parent.first ? blocks[first - 1]! : undefined
    if (before && before.box.parent === parent && isHeading(before)) return false
    const shape = shapeOf(box)
    if (parent.boxes.some((other) => other !== box && shapeOf(other) === shape && wordsIn(own, other) > 0)) return false
    return !inside.some(({ box: { element } }) => element.tag === 'h1') && (inside.some(isText) || isMenu)
  }
  const visit = (box: Box): void => {
    const words = wordsIn(repeated, box)
    if (words === 0) return
    if (words < minRepeated * (words + wordsIn(own, box))) return box.boxes.forEach(visit)
    if (words <= maxWords && isApart(box)) marked.set(isRepeated.subarray(box.first, box.end), box.first)
  }
  if (boxes.length > 0) visit(boxes[0]!)
  // Short texts that differ, such as headlines, prices and bylines, are often not kept.
  const upToEnd = blocks.slice(0, kept.at(-1)!.index + 1)
  const edges = textsAtEdges(
    upToEnd.filter(({ index }) => isRepeated[index] === 0 || isKept[index] === 1),
    isRepeated,
    marked,
  )
  const edgeWords = edges.reduce((sum, { measure }) => sum + measure.words, 0)
  if (edgeWords <= maxEdge * own[blocks.length]!) for (const { index } of edges) marked[index] = 1
  return marked
}

const shapeOf = ({ element }: Box): string => `${element.tag} ${element.attributes['class'] ?? ''}`

const isMostlyLinks = (blocks: readonly Block[]): boolean =>
  blocks.reduce((sum, { linkWords, measure }) => sum + 2 * linkWords - measure.words, 0) > 0

/** Whether a block is more than a label, a cell or an item. */
const isText = ({ box, measure }: Block): boolean => measure.words >= minWords && (box.context & structured) === 0

/**
 * Returns the repeated paragraphs that only headings of the page itself precede, and those after everything else, with
 * their headings.
 */
function textsAtEdges(kept: readonly Block[], isRepeated: Uint8Array, marked: Uint8Array): Block[] {
  const isOwn = ({ index }: Block) => isRepeated[index] === 0
  const found: Block[] = []
  for (const block of kept) {
    if (marked[block.index] === 1 || (isHeading(block) && isOwn(block))) continue
    if (isOwn(block) || isHeading(block) || !isText(block)) break
    found.push(block)
  }
  const first = found.length
  for (const block of kept.toReversed()) {
    if (marked[block.index] === 1) continue
    if (isOwn(block) || !(isHeading(block) ? found.length > first : isText(block))) break
    found.push(block)
  }
  return found
}
