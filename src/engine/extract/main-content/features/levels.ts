/** The levels of boxes around a block, with wrappers merged into one level, and their contents. */
import { attribute, wordSet } from '../../tree.ts'
import type { Block, Box, Segments } from '../blocks.ts'
import type { Lexicon } from './lexicon.ts'

export const headings = wordSet('h1 h2 h3 h4 h5 h6')

export const isHeading = (block: Block): boolean => headings.has(block.box.element.tag)

/** Whether the block resembles a paragraph: some words, few of them in links. */
export const isPlain = (block: Block): boolean =>
  block.measure.words >= 8 &&
  block.linkWords < block.measure.words * 0.4 &&
  block.measure.stops + block.measure.commas > 0

/** Returns an array for the sums of a count over the blocks before each index. */
export const noSums = ({ length }: readonly Block[]): Float64Array => new Float64Array(length + 1)

/** Sums over the blocks before an index. */
type Sums = ReturnType<typeof sumUp>

export function sumUp(blocks: readonly Block[]) {
  const [words, linkWords, plainWords, headings] = [noSums(blocks), noSums(blocks), noSums(blocks), noSums(blocks)]
  for (let at = 0; at < blocks.length; at++) {
    const block = blocks[at]!
    words[at + 1] = words[at]! + block.measure.words
    linkWords[at + 1] = linkWords[at]! + block.linkWords
    plainWords[at + 1] = plainWords[at]! + (isPlain(block) ? block.measure.words : 0)
    headings[at + 1] = headings[at]! + (isHeading(block) ? 1 : 0)
  }
  return { words, linkWords, plainWords, headings }
}

/** Nested boxes with the same blocks. */
export class Level {
  readonly parent: Level | undefined
  readonly first: number
  readonly end: number
  /** Number of levels up to the root. */
  readonly depth: number
  /** Its index among the parts of its parent, and its own parts. */
  readonly place: number
  readonly parts: Level[] = []
  /** The lowest score (at most 0) and the highest (at least 0) of the words of its names. */
  readonly names = { low: 0, high: 0 }
  /** Tag and first classes, equal for parts of a repeated pattern. */
  readonly shape: string
  readonly media: number
  /** Number of parts of the parent with its shape, and the words in them. */
  alike = { count: 1, words: 0 }
  readonly words: number
  readonly linkWords: number
  /** Words in blocks that resemble paragraphs. */
  readonly plainWords: number

  constructor({ element, first, end, media }: Box, parent: Level | undefined, sums: Sums, shape: string) {
    this.parent = parent
    this.first = first
    this.end = end
    this.depth = (parent?.depth ?? -1) + 1
    this.place = parent?.parts.length ?? 0
    this.shape = `${element.tag} ${shape}`
    this.media = media
    this.words = sums.words[end]! - sums.words[first]!
    this.linkWords = sums.linkWords[end]! - sums.linkWords[first]!
    this.plainWords = sums.plainWords[end]! - sums.plainWords[first]!
    parent?.parts.push(this)
  }
}

/** Returns the innermost level of every block. */
export function levelsOf(segments: Segments, sums: Sums, lexicon: Lexicon): Level[] {
  const levelOf = new Map<Box, Level>()
  const levels: Level[] = []
  const shapes = new Map<string, string>()
  for (const box of segments.boxes) {
    const outer = box.parent && levelOf.get(box.parent)
    const isOuter = outer && outer.first === box.first && outer.end === box.end
    const level = isOuter ? outer : new Level(box, outer, sums, shapeOf(attribute(box.element, 'class'), shapes))
    if (level !== outer) levels.push(level)
    const { low, high } = box.names.scoresIn(lexicon)
    if (low < level.names.low) level.names.low = low
    if (high > level.names.high) level.names.high = high
    levelOf.set(box, level)
  }
  for (const level of levels) countAlike(level)
  return segments.blocks.map(({ box }) => levelOf.get(box)!)
}

/** Returns the first two of an element's classes, without digits. */
function shapeOf(names: string, known: Map<string, string>): string {
  let shape = known.get(names)
  if (shape === undefined) {
    shape = names.trim().split(/\s+/, 2).join(' ').replaceAll(/\d+/g, '')
    known.set(names, shape)
  }
  return shape
}

function countAlike(level: Level): void {
  if (level.parts.length < 2) return
  const groups = new Map<string, Level['alike']>()
  for (const part of level.parts) {
    const group = groups.get(part.shape)
    if (group) part.alike = group
    else groups.set(part.shape, (part.alike = { count: 0, words: 0 }))
    part.alike.count++
    part.alike.words += part.words
  }
}
