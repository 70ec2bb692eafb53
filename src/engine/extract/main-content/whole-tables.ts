/**
 * Keeps tables and lists of definitions without gaps. The model classifies every line alone, and short ones that repeat,
 * such as "No" or "procedure", look like parts of the layout; the rows without them are wrong.
 */
import { isDataTable, rowsOf } from '../markdown/table.ts'
import { isRoleTable } from '../table-parts.ts'
import { type ElementNode, wordSet } from '../tree.ts'
import type { Block, Box } from './blocks.ts'
import { copiedFrom } from './copies.ts'
import type { Survey } from './features/survey.ts'

/** Minimum kept share of the words of a table that is kept whole. */
const minKeptShare = 0.75
/** Maximum share of words in links of a line that is added. */
const maxLinkShare = 0.5
/** Maximum words of a table that is no layout, whatever it contains. */
const maxSmallTable = 60
/** Elements whose text controls the page. */
const controls = wordSet('button nav form label select')

/** Returns `kept`, and the other lines of tables and lists of definitions that are mostly kept, in document order. */
export function withWholeTables(survey: Survey, kept: readonly Block[]): Block[] {
  const { blocks, boxes } = survey.segments
  const chosen = new Uint8Array(blocks.length)
  for (const { index } of kept) chosen[index] = 1
  // Inner tables come first, because the outer ones depend on them.
  for (const { element, first, end } of boxes.toReversed()) {
    if (element.tag !== 'table' && element.tag !== 'dl' && !isRoleTable(element)) continue
    const words = survey.sums.words[end]! - survey.sums.words[first]!
    const own = blocks.slice(first, end)
    const keptWords = own.reduce((sum, { index, measure }) => sum + (chosen[index] === 1 ? measure.words : 0), 0)
    if (keptWords === 0 || keptWords < minKeptShare * words || !isData(element, words)) continue
    for (const block of own) if (isText(survey, block)) chosen[block.index] = 1
  }
  return blocks.filter(({ index }) => chosen[index] === 1)
}

const isData = (element: ElementNode, words: number): boolean =>
  element.tag === 'dl' || words <= maxSmallTable || isDataTable(element, rowsOf(element))

const isText = (survey: Survey, { index, box, linkWords, measure }: Block): boolean =>
  linkWords <= maxLinkShare * measure.words && copiedFrom(survey, index) < 0 && !isControl(box)

/** Whether a box is in an element of a table that controls the page. */
const isControl = ({ element, parent }: Box): boolean =>
  controls.has(element.tag) ||
  (element.tag !== 'table' && element.tag !== 'dl' && parent !== undefined && isControl(parent))
