/** Tables of Word documents. */
import type { ElementNode, TreeNode } from '../../../../extract/tree.ts'
import { tableOf } from '../inline.ts'
import { child, children } from '../office-xml.ts'

/** Elements that only wrap others. */
export const wrappers = new Set([
  'sdt',
  'sdtContent',
  'ins',
  'moveTo',
  'smartTag',
  'customXml',
  'AlternateContent',
  'Choice',
])

const valueOf = (node: ElementNode | undefined): number => Number(node?.attributes['val']) || 0

/** Returns a table whose cells have the content that `contentOf` returns. */
export function tableIn(node: ElementNode, contentOf: (cell: ElementNode) => TreeNode[]): TreeNode[] {
  const rows = rowsOf(node, 'tr').filter((row) => !child(child(row, 'trPr'), 'del'))
  const cellsOf = (cell: ElementNode) => {
    const span = Math.min(valueOf(child(child(cell, 'tcPr'), 'gridSpan')) || 1, 64)
    return [contentOf(cell), ...emptyCells(span - 1)]
  }
  return tableOf(rows.map((row) => [...skipped(row), ...rowsOf(row, 'tc').flatMap(cellsOf)]))
}

const emptyCells = (length: number): TreeNode[][] => Array.from({ length }, () => [])

/** Returns empty cells for the columns that a row leaves out before its first cell. */
const skipped = (row: ElementNode): TreeNode[][] =>
  emptyCells(Math.min(valueOf(child(child(row, 'trPr'), 'gridBefore')), 64))

/** Returns rows or cells, also those in wrappers. */
const rowsOf = (node: ElementNode, tag: string): ElementNode[] =>
  children(node).flatMap((one) => (one.tag === tag ? [one] : wrappers.has(one.tag) ? rowsOf(one, tag) : []))
