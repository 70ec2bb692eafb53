/** Arranges what a page shows into blocks in reading order. */
import { alignedTables } from './tables/aligned-tables.ts'
import { type Block, isSegment, type Item, type Line } from './blocks.ts'
import { readingOrder } from './columns.ts'
import { segmentRows } from './lines.ts'
import { startsItem } from './text/lists.ts'
import type { Box, Segment } from './page/page-content.ts'
import { ruledTables } from './tables/ruled-tables.ts'

/** Returns the blocks of one layer of a page. */
export function blocksOf(segments: readonly Segment[], rules: readonly Box[]): Block[] {
  const { tables, rest } = ruledTables(segments, rules)
  return readingOrder([...rest, ...tables], rules).flatMap((items) => columnBlocks(items, rules))
}

/** Returns the tables of a column, and the text between them. */
function columnBlocks(items: readonly Item[], rules: readonly Box[]): Block[] {
  const blocks: Block[] = []
  let segments: Segment[] = []
  const flush = () => {
    if (segments.length > 0) blocks.push(...textBlocks(segments, rules))
    segments = []
  }
  for (const item of items.toSorted((a, b) => a.bottom - b.bottom)) {
    if (isSegment(item)) segments.push(item)
    else {
      // Text beside a table has its lines around the end of the table.
      flush()
      blocks.push(item)
    }
  }
  flush()
  return blocks
}

function textBlocks(segments: readonly Segment[], rules: readonly Box[]): Block[] {
  const blocks: Block[] = []
  let lines: Line[] = []
  const flush = () => {
    if (lines.length > 0) blocks.push({ lines })
    lines = []
  }
  for (const part of alignedTables(segmentRows(segments).map(withMarker), rules)) {
    if ('rows' in part) {
      flush()
      blocks.push(part)
    } else lines.push(part)
  }
  flush()
  return blocks
}

/** Joins the marker of a list to its text, so that they are no columns of a table. */
function withMarker(row: readonly Segment[]): Segment[] {
  const [marker, text, ...more] = row
  if (!marker || !text || !startsItem(`${marker.text} x`) || marker.text.length > 5) return [...row]
  const joined = {
    ...text,
    left: marker.left,
    runs: [...marker.runs, { text: ' ' }, ...text.runs],
    text: `${marker.text} ${text.text}`,
  }
  return [joined, ...more]
}
