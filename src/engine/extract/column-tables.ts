/** Rewrites tables whose cells are elements of one container with the names of their columns, as in Javadoc. */
import { childElements, type ElementNode, findElement, hasClass, isElement } from './tree.ts'

/** Returns the same tree if it has no such table. */
export const withColumnTables = (root: ElementNode): ElementNode =>
  findElement(root, isColumnTable) ? rewritten(root) : root

const rewritten = (element: ElementNode): ElementNode => ({
  ...element,
  children: element.children.map((child) =>
    !isElement(child) ? child : isColumnTable(child) ? tableOf(child) : rewritten(child),
  ),
})

/** Name of the column of a cell: "col-first", "col-last". */
const column = /(?:^|\s)(col(?:umn)?-[a-z-]+)(?=\s|$)/

const columnOf = ({ attributes }: ElementNode): string | undefined => column.exec(attributes['class'] ?? '')?.[1]

const isHead = (cell: ElementNode): boolean => hasClass(cell, /^table-header$/)

function isColumnTable(element: ElementNode): boolean {
  if (element.tag !== 'div' || !element.attributes['class']?.includes('table')) return false
  const cells = childElements(element)
  const heads = cells.filter(isHead)
  return heads.length > 1 && cells.length > heads.length && cells.every((cell) => columnOf(cell) !== undefined)
}

/** Returns the table of the cells; a row ends before a cell of the same column or one to the left. */
function tableOf(element: ElementNode): ElementNode {
  const cells = childElements(element)
  const names = cells.filter(isHead).map(columnOf)
  const rows: ElementNode[] = []
  let next = names.length
  for (const cell of cells) {
    // Tables of some kinds name their first column otherwise.
    const at = Math.max(0, names.indexOf(columnOf(cell)))
    if (at < next) rows.push({ tag: 'tr', attributes: {}, children: [] })
    const row = rows.at(-1)!.children
    while (row.length < at) row.push({ tag: 'td', attributes: {}, children: [] })
    row.push({ ...cell, tag: isHead(cell) ? 'th' : 'td' })
    next = at + 1
  }
  return { tag: 'table', attributes: element.attributes, children: rows }
}
