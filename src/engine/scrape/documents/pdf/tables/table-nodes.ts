/** Builds the nodes of tables. */
import type { ElementNode } from '../../../../extract/tree.ts'
import { elementAround } from '../../document.ts'
import type { Cell, TableBlock } from '../blocks.ts'
import { inlineOf } from '../text/join-lines.ts'

/** Returns a table whose head is the first row. */
export function tableOf({ rows: [head, ...body] }: TableBlock, compounds: ReadonlySet<string>): ElementNode {
  const row = (cells: readonly Cell[], tag: string) =>
    elementAround(
      'tr',
      cells.map((cell) => cellNode(cell, tag, compounds)),
    )
  const rows = body.map((cells) => row(cells, 'td'))
  return elementAround('table', [elementAround('thead', [row(head!, 'th')]), elementAround('tbody', rows)])
}

const cellNode = (
  { lines, columns = 1, rows = 1 }: Cell,
  tag: string,
  compounds: ReadonlySet<string>,
): ElementNode => ({
  tag,
  attributes: { ...(columns > 1 && { colspan: String(columns) }), ...(rows > 1 && { rowspan: String(rows) }) },
  children: inlineOf(lines, compounds),
})
