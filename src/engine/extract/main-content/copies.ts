/** Tells copies that a page contains for its layout from repetitions that its author intended. */
import { wordSet } from '../tree.ts'
import type { Block, Box } from './blocks.ts'
import type { Survey } from './features/survey.ts'
import { shapeOf } from './item-groups.ts'

/** Parts of a table, whose cells often repeat. */
const tableTags = wordSet('tbody tr td th')

/**
 * Returns the index of the block that a block copies, such as in a second layout or in a preview, or -1. A text that
 * repeats in elements of the same path belongs to different items; in a table, every cell counts.
 */
export function copiedFrom({ originals, segments: { blocks } }: Survey, index: number): number {
  const original = originals[index]!
  return original < 0 || isIntended(blocks[original]!, blocks[index]!) ? -1 : original
}

function isIntended(first: Block, second: Block): boolean {
  const [one, other] = [pathOf(first), pathOf(second)]
  const fork = one.findIndex((box, at) => box !== other[at])
  if (fork < 0 || fork >= other.length) return false
  if (tableTags.has(one[fork]!.element.tag)) return true
  const isAlike = (box: Box, at: number) => shapeOf(box.element) === shapeOf(other[fork + at]!.element)
  return one.length === other.length && one.slice(fork).every(isAlike)
}

/** Returns the boxes around a block, the outermost first. */
function pathOf({ box }: Block): Box[] {
  const path: Box[] = []
  for (let outer: Box | undefined = box; outer; outer = outer.parent) path.push(outer)
  return path.toReversed()
}
