/** The boxes around a block, wrappers folded into one level, and what each level holds. */
import { attribute, type ElementNode } from '../../tree.ts'
import type { Block, Box, Segments } from '../blocks.ts'
import { lean, type Leaning, type Lexicon, neutral } from './lexicon.ts'

/** Boxes that hold the same blocks. */
export interface Level {
  readonly parent: Level | undefined
  readonly first: number
  readonly end: number
  /** Levels up to the root. */
  readonly depth: number
  /** Its place among the levels of its parent, and how many stand there. */
  readonly place: number
  readonly parts: Level[]
  readonly names: Leaning
  /** Tag and first classes: parts of a repeated pattern have the same. */
  readonly shape: string
  readonly media: number
  /** Parts of the parent that have its shape, and the words in them. */
  alike: number
  alikeWords: number
  readonly words: number
  readonly linkWords: number
  /** Words in blocks that read like paragraphs. */
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

/** Whether the block reads like a paragraph: some words, few of them in links. */
export const isPlain = (block: Block): boolean =>
  block.measure.words >= 8 &&
  block.linkWords < block.measure.words * 0.4 &&
  block.measure.stops + block.measure.commas > 0

/** Sums of what the blocks hold. */
export function sumUp(blocks: readonly Block[]): Sums {
  const sums = {
    words: new Float64Array(blocks.length + 1),
    linkWords: new Float64Array(blocks.length + 1),
    plainWords: new Float64Array(blocks.length + 1),
    headings: new Float64Array(blocks.length + 1),
  }
  for (const [at, block] of blocks.entries()) {
    const { words } = block.measure
    sums.words[at + 1] = sums.words[at]! + words
    sums.linkWords[at + 1] = sums.linkWords[at]! + block.linkWords
    sums.plainWords[at + 1] = sums.plainWords[at]! + (isPlain(block) ? words : 0)
    sums.headings[at + 1] = sums.headings[at]! + (isHeading(block) ? 1 : 0)
  }
  return sums
}

const shapeOf = (element: ElementNode): string =>
  `${element.tag} ${attribute(element, 'class').trim().split(/\s+/, 2).join(' ').replaceAll(/\d+/g, '')}`

/** The innermost level of every block. */
export function levelsOf(segments: Segments, sums: Sums, lexicon: Lexicon): Level[] {
  const levelOf = new Map<Box, Level>()
  for (const box of segments.boxes) {
    const outer = box.parent && levelOf.get(box.parent)
    const level = outer && outer.first === box.first && outer.end === box.end ? outer : newLevel(box, outer, sums)
    lean(level.names, box.names, lexicon.names)
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
    names: neutral(),
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
