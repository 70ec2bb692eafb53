/** Places the cells of RTF tables in columns: rows may have fewer, wider cells. */
import { limits } from '../../../../core/limits/limits.ts'
import type { TreeNode } from '../../../extract/tree.ts'

export interface RtfRow {
  readonly cells: readonly (readonly TreeNode[])[]
  /** Right edges of the cells, in twips. */
  readonly edges: readonly number[]
}

/** Edges that differ by less are the same. */
const tolerance = 30

/** Returns rows with an empty cell for each further column that a cell covers. */
export function gridOf(rows: readonly RtfRow[]): (readonly (readonly TreeNode[])[])[] {
  const hasEdges = ({ cells, edges }: RtfRow) =>
    cells.length === edges.length && edges.every((edge, at) => at === 0 || edge > edges[at - 1]!)
  const columns: number[] = []
  for (const edge of [...new Set(rows.filter(hasEdges).flatMap(({ edges }) => edges))].toSorted((a, b) => a - b))
    if (columns.length === 0 || edge - columns.at(-1)! > tolerance) columns.push(edge)
  if (columns.length * rows.length > limits.office.cells) return rows.map(({ cells }) => cells)
  return rows.map((row) => {
    if (!hasEdges(row)) return row.cells
    let from = 0
    return row.cells.flatMap((cell, at) => {
      const to = columns.findLastIndex((edge) => edge <= row.edges[at]! + tolerance) + 1
      const covered = Math.max(to - from, 1)
      from = Math.max(to, from + 1)
      return [cell, ...Array.from({ length: covered - 1 }, () => [])]
    })
  })
}
