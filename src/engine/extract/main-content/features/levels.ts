/** The levels of boxes around a block, with wrappers merged into one level, and their contents. */
import { attribute, type ElementNode } from '../../tree.ts'
import type { Block, Box, Segments } from '../blocks.ts'
import { addWordScores, type WordScores, type Lexicon, noScores } from './lexicon.ts'

/** Nested boxes with the same blocks. */
export interface Level {
  readonly parent: Level | undefined
  readonly first: number
  readonly end: number
  /** Number of levels up to the root. */
  readonly depth: number
  /** Its index among the parts of its parent, and its own parts. */
  readonly place: number
  readonly parts: Level[]
  readonly names: WordScores
  /** Tag and first classes, equal for parts of a repeated pattern. */
  readonly shape: string
  readonly media: number
  /** Number of parts of the parent with its shape, and the words in them. */
  alike: number
  alikeWords: number
  readonly words: number
  readonly linkWords: number
  /** Words in blocks that resemble paragraphs. */
  readonly plainWords: number
}

/** Sums over the blocks before an index. */
export interface Sums {
  readonly words: Float64Array
  readonly linkWords: Float64Array
  readonly plainWords: Float64Array
  readonly headings: Float64Array
}

export const isHeading = (block: Block): boolean => /^h[1-6]$/.test(block.box.element.tag)

/** Whether the block resembles a paragraph: some words, few of them in links. */
export const isPlain = (block: Block): boolean =>
  block.measure.words >= 8 &&
  block.linkWords < block.measure.words * 0.4 &&
  block.measure.stops + block.measure.commas > 0

/** Returns the sums of a count over the blocks before each index. */
export function sumsBefore(blocks: readonly Block[], count: (block: Block, index: number) => number): Float64Array {
  const sums = new Float64Array(blocks.length + 1)
  for (const [at, block] of blocks.entries()) sums[at + 1] = sums[at]! + count(block, at)
  return sums
}

export const sumUp = (blocks: readonly Block[]): Sums => ({
  words: sumsBefore(blocks, ({ measure }) => measure.words),
  linkWords: sumsBefore(blocks, ({ linkWords }) => linkWords),
  plainWords: sumsBefore(blocks, (block) => (isPlain(block) ? block.measure.words : 0)),
  headings: sumsBefore(blocks, (block) => (isHeading(block) ? 1 : 0)),
})

const shapeOf = (element: ElementNode): string =>
  `${element.tag} ${attribute(element, 'class').trim().split(/\s+/, 2).join(' ').replaceAll(/\d+/g, '')}`

/** Returns the innermost level of every block. */
export function levelsOf(segments: Segments, sums: Sums, lexicon: Lexicon): Level[] {
  const levelOf = new Map<Box, Level>()
  for (const box of segments.boxes) {
    const outer = box.parent && levelOf.get(box.parent)
    const level = outer && outer.first === box.first && outer.end === box.end ? outer : newLevel(box, outer, sums)
    addWordScores(level.names, box.names, lexicon.names)
    levelOf.set(box, level)
  }
  for (const level of new Set(levelOf.values())) countAlike(level)
  return segments.blocks.map(({ box }) => levelOf.get(box)!)
}

function newLevel(box: Box, parent: Level | undefined, sums: Sums): Level {
  const { first, end } = box
  const level: Level = {
    parent,
    first,
    end,
    depth: (parent?.depth ?? -1) + 1,
    place: parent?.parts.length ?? 0,
    parts: [],
    names: noScores(),
    shape: shapeOf(box.element),
    media: box.media,
    alike: 1,
    alikeWords: 0,
    words: sums.words[end]! - sums.words[first]!,
    linkWords: sums.linkWords[end]! - sums.linkWords[first]!,
    plainWords: sums.plainWords[end]! - sums.plainWords[first]!,
  }
  parent?.parts.push(level)
  return level
}

function countAlike(level: Level): void {
  if (level.parts.length < 2) return
  const groups = new Map<string, { count: number; words: number }>()
  for (const { shape, words } of level.parts) {
    const group = groups.get(shape)
    if (group) {
      group.count++
      group.words += words
    } else groups.set(shape, { count: 1, words })
  }
  for (const part of level.parts) {
    const group = groups.get(part.shape)!
    part.alike = group.count
    part.alikeWords = group.words
  }
}
