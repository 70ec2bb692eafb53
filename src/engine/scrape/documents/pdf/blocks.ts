/** The parts of a page in reading order. */
import type { Box, Run, Segment } from './page/page-content.ts'

/** A line of text. `bottom` is its baseline. */
export interface Line extends Box {
  readonly runs: readonly Run[]
  readonly text: string
  readonly size: number
  readonly bold: boolean
}

export interface Cell {
  readonly lines: readonly Line[]
  readonly columns?: number
  readonly rows?: number
}

/** A table, as a part of its page. A cell that another one covers is missing from its row. */
export interface TableBlock extends Box {
  readonly rows: readonly (readonly Cell[])[]
}

/** Lines of one column, from top to bottom. */
interface TextBlock {
  readonly lines: readonly Line[]
}

export type Block = TextBlock | TableBlock

/** A segment of text, or a table that was recognized before. */
export type Item = Segment | TableBlock

export const isSegment = (item: Item): item is Segment => 'runs' in item
export const isTable = (block: Block): block is TableBlock => 'rows' in block
