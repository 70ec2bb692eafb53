/** Converts tables: distinguishes data from layout, resolves spans, writes the lines of Markdown. */
import { attribute, childElements, type ElementNode, findElement, hasClass, visibleText } from '../tree.ts'
import { type Context, isSkipped } from './context.ts'
import { escapeText } from './escape.ts'
import { cellLabel } from './icon.ts'
import { inlineParagraphs } from './inline.ts'
import { isCell, isHeadingCell, isRow } from '../table-parts.ts'

export interface Row {
  readonly cells: readonly ElementNode[]
  readonly head: boolean
  /** Whether the table has it as a foot, such as a sum. */
  readonly foot: boolean
}

const delimiters = new Map([
  ['left', ':--'],
  ['center', ':-:'],
  ['right', '--:'],
])

const heavy = /^(?:h[1-6]|table|pre|form|hr|section|article|blockquote|iframe)$/

/** Returns the rows of a table in document order, without those of nested tables; the parts of a row are joined. */
export function rowsOf(table: ElementNode): Row[] {
  const parts: (Row & { readonly index: string })[] = []
  const hasRoles = table.tag !== 'table'
  const add = (parent: ElementNode, head: boolean, foot: boolean): void => {
    const children = childElements(parent).filter((child) => !isSkipped(child))
    // Rows of grids have wrappers around cells, such as those of a group of headings.
    const isWhole = hasRoles && isRow(parent)
    const cells = isWhole ? cellsIn(parent) : children.filter(isCell)
    if (cells.length > 0) parts.push({ cells, head, foot, index: attribute(parent, 'aria-rowindex') })
    if (isWhole && cells.length > 0) return
    for (const child of children) {
      if (!isCell(child) && child.tag !== 'caption' && !isNested(child, hasRoles))
        add(child, head || child.tag === 'thead', foot || child.tag === 'tfoot')
    }
  }
  add(table, false, false)
  const rows = hasRoles ? joinedRows(parts) : parts
  // Feet before the body are shown below it.
  return rows.toSorted((a, b) => Number(a.foot) - Number(b.foot))
}

/** Whether an element is a table in another; one without a role is the layout of a table of ARIA. */
const isNested = (element: ElementNode, hasRoles: boolean): boolean =>
  element.tag === 'table' && !(hasRoles && isPresentation(element))

const isPresentation = (table: ElementNode): boolean => /^(?:presentation|none)$/.test(attribute(table, 'role'))

const cellsIn = (row: ElementNode): ElementNode[] =>
  childElements(row).flatMap((child) =>
    isCell(child) ? [child] : isSkipped(child) || child.tag === 'table' ? [] : cellsIn(child),
  )

/** Joins the parts of the rows of grids with fixed columns, which say their positions. */
function joinedRows(parts: readonly (Row & { readonly index: string })[]): Row[] {
  const rows = new Map<string, Row>()
  for (const [at, { cells, head, foot, index }] of parts.entries()) {
    const key = index || `row ${at}`
    const before = rows.get(key)
    rows.set(key, { cells: [...(before?.cells ?? []), ...cells], head: head || before?.head === true, foot })
  }
  const joined = [...rows.values()]
  const cells = joined.flatMap((row) => row.cells)
  // Columns that a cell of a row above takes are no gaps.
  const isEven = cells.every((cell) => span(cell, 'rowspan', 2) === 1)
  const first = isEven ? cells.reduce((least, cell) => Math.min(least, columnOf(cell)), Infinity) : NaN
  const spare = spareFor(cells.length)
  return joined.map((row) => ({ ...row, cells: inColumns(row.cells, first, spare) }))
}

const columnOf = (cell: ElementNode): number => Number.parseInt(attribute(cell, 'aria-colindex'), 10)

/** Sorts the cells of a row by their columns, of which the table shows those from `first` on; adds those left out. */
function inColumns(cells: readonly ElementNode[], first: number, spare: Spare): readonly ElementNode[] {
  if (cells.some((cell) => Number.isNaN(columnOf(cell)))) return cells
  let next = first
  return cells
    .toSorted((a, b) => columnOf(a) - columnOf(b))
    .flatMap((cell) => {
      const gap = columnOf(cell) - next
      next = columnOf(cell) + Math.max(1, span(cell, 'colspan', 1000))
      if (!(gap > 0 && gap <= spare.cells)) return [cell]
      spare.cells -= gap
      const blank: ElementNode = { tag: cell.tag, attributes: { role: attribute(cell, 'role') }, children: [] }
      return [...Array.from({ length: gap }, () => blank), cell]
    })
}

/** Number of empty cells that may be added to a table, so that a broken or hostile one does not get millions. */
interface Spare {
  cells: number
}

const spareFor = (real: number): Spare => ({ cells: 4 * real + 2000 })

/** Whether a table contains data, and is not used for layout. */
export function isDataTable(table: ElementNode, rows: readonly Row[]): boolean {
  if (rows.length === 0 || isPresentation(table)) return false
  const cells = rows.flatMap((row) => row.cells)
  const named = isNamed(table, rows)
  const columns = rows.reduce((most, row) => Math.max(most, row.cells.length), 0)
  // A page that is laid out by a table may have named cells, too.
  if (named && isBesideCode(rows)) return false
  if (named) {
    const long = cells.filter((cell) => holds(cell, structure) && visibleText(cell, longCell).length >= longCell)
    return long.length === 0 || (columns >= 3 && headCount(rows) > 0 && long.length <= maxLongShare * cells.length)
  }
  if (rows.length < 2 || columns < 2) return false
  if (holdsTables(rows, columns)) return true
  const [first, ...others] = rows
  const isHead = columns === first!.cells.length && isHeadingRow(first!)
  if ((isHead ? others : rows).some((row) => row.cells.some((cell) => holds(cell, heavy)))) return false
  const characters = cells.reduce((sum, cell) => sum + visibleText(cell, 1000).length, 0)
  return characters / cells.length < 160
}

/** Whether listings are in a column without a heading, as comments and code side by side. */
const isBesideCode = ([head, ...rows]: readonly Row[]): boolean =>
  head!.cells.some(
    (title, at) => visibleText(title, 1) === '' && rows.some(({ cells }) => cells[at] && holds(cells[at], /^pre$/)),
  )

/** Elements of a page in a cell, which make a layout of a table if the cell is long. */
const structure = /^(?:table|h[1-6])$/
/** Characters of such a cell. */
const longCell = 300
/** Maximum share of such cells in a table with columns: JSDoc describes the fields of a parameter in its row. */
const maxLongShare = 0.25

/** Whether all rows begin with a label, and have short tables in other cells. */
const holdsTables = (rows: readonly Row[], columns: number): boolean =>
  rows.some(({ cells }) => cells.some((cell) => holds(cell, /^table$/))) &&
  rows.every(({ cells }) => cells.length === columns && isRowLabel(cells[0]!)) &&
  rows.every(({ cells }) =>
    cells.every((cell) => !holds(cell, nonTables) && visibleText(cell, longCell).length < longCell),
  )

const nonTables = /^(?:h[1-6]|form|hr|section|article|iframe|input|select|button|nav|ul)$/

function isRowLabel(cell: ElementNode): boolean {
  const { length } = visibleText(cell, longCell)
  return length > 0 && length < 60 && !holds(cell, /^(?:table|a|img)$/)
}

/** Whether a table or its cells say that they are data. */
const isNamed = (table: ElementNode, rows: readonly Row[]): boolean =>
  rows.some(({ head, cells }) => head || cells.some(isHeadingCell)) ||
  hasClass(table, /^(?:wikitable|dataframe|infobox|informaltable)$/)

/** Whether the cells of a row are headings of columns: short ones without other text, or nothing. */
function isHeadingRow({ cells }: Row): boolean {
  const headings = cells.map((cell) => findElement(cell, ({ tag }) => /^h[1-6]$/.test(tag)))
  return (
    cells.length > 1 &&
    headings.some(Boolean) &&
    cells.every((cell, at) => {
      const text = visibleText(cell, longCell)
      return text.length < 80 && text === (headings[at] ? visibleText(headings[at], longCell) : '')
    })
  )
}

const holds = (cell: ElementNode, what: RegExp): boolean =>
  childElements(cell).some((child) => what.test(child.tag) || holds(child, what))

/** Returns the lines of the table; undefined for an empty one. */
export function tableMarkdown(rows: readonly Row[], context: Context): string | undefined {
  const headRows = headCount(rows)
  const grid = gridOf(rows, headRows)
  const text = grid.map((row) => row.map((cell) => (cell === undefined ? '' : cellText(cell, context))))
  const width = text.reduce((most, row) => Math.max(most, row.findLastIndex((cell) => cell !== '') + 1), 0)
  if (width === 0) return undefined
  const columns = Array.from({ length: width }, (_, at) => at)
  const head = columns.map((at) => joinHead(text.slice(0, headRows).map((row) => row[at] ?? '')))
  const rule = columns.map(
    (at) =>
      grid
        .slice(0, 2)
        .map((row) => ruleOf(row[at]))
        .find(Boolean) ?? '---',
  )
  const body = text.slice(headRows).filter((row) => row.some((cell) => cell !== ''))
  return [head, rule, ...body.map((row) => fill(row, width))].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

/** Pads a row with empty cells; not in wide tables, whose head determines the width. */
const fill = (row: readonly string[], width: number): string[] =>
  Array.from({ length: width <= 64 ? width : Math.min(width, row.length) }, (_, at) => row[at] ?? '')

/** Returns the number of rows at the top that only name the columns. */
export function headCount(rows: readonly Row[]): number {
  const titled = (row: Row) => row.head || (row.cells.length > 1 && row.cells.every(isHeadingCell))
  if (isHeadingRow(rows[0]!) && !titled(rows[0]!)) return 1
  const lone = rows.length > 1 && rows[0]!.cells.every(isHeadingCell)
  let count = 0
  while (count < Math.min(rows.length, 4) && titled(rows[count]!)) count++
  return count > 0 ? count : lone && rows[0]!.cells.length === 1 && (rows[1]?.cells.length ?? 0) === 1 ? 1 : 0
}

/** Joins the headings of a column that span several rows. */
const joinHead = (cells: readonly string[]): string =>
  [...new Set(cells.filter((cell) => cell !== ''))].join(' ').replaceAll('<br>', ' ')

/**
 * Returns cells by row and column; a spanning cell appears in its first position only, but in all its columns if it is
 * the heading of a group of them, and in all its positions with `repeat`.
 */
export function gridOf(rows: readonly Row[], headRows: number, repeat = false): (ElementNode | undefined)[][] {
  if (!rows.some(({ cells }) => cells.some(isSpanning))) return rows.map(({ cells }) => [...cells])
  const real = rows.reduce((sum, row) => sum + row.cells.length, 0)
  const spare = spareFor(real)
  const grid: (ElementNode | undefined)[][] = rows.map(() => [])
  const taken = rows.map(() => new Set<number>())
  for (const [y, row] of rows.entries()) {
    let x = 0
    for (const cell of row.cells) {
      while (taken[y]!.has(x)) x++
      const across = span(cell, 'colspan', 1000)
      const down = Math.min(span(cell, 'rowspan', 65_534) || rows.length, rows.length - y)
      grid[y]![x] = cell
      const [wide, high] = across * down - 1 <= spare.cells ? [Math.max(1, across), Math.max(1, down)] : [1, 1]
      spare.cells -= wide * high - 1
      for (let dy = 0; dy < high; dy++) {
        for (let dx = 0; dx < wide; dx++) {
          taken[y + dy]!.add(x + dx)
          // The first cell of a row, such as "Total", is its label.
          if (repeat && row.cells.length > 1 && (x > 0 || dx === 0)) grid[y + dy]![x + dx] = cell
        }
      }
      if (y < headRows && row.cells.length > 1) for (let dx = 1; dx < wide; dx++) grid[y]![x + dx] = cell
      x += wide
    }
    for (let at = 0; at < grid[y]!.length; at++) grid[y]![at] ??= undefined
  }
  return grid
}

const isSpanning = ({ attributes }: ElementNode): boolean =>
  ['colspan', 'rowspan', 'aria-colspan', 'aria-rowspan'].some((name) => attributes[name] !== undefined)

function span(cell: ElementNode, name: string, most: number): number {
  const value = Number.parseInt(attribute(cell, name) || attribute(cell, `aria-${name}`), 10)
  if (name === 'rowspan' && value === 0) return 0
  return Number.isFinite(value) && value > 0 ? Math.min(value, most) : 1
}

function cellText(cell: ElementNode, context: Context): string {
  const text = inlineParagraphs(cell.children, context, { breaks: 'tag', heading: isHeadingCell(cell) }).join('<br>')
  return text === '' ? escapeText(cellLabel(cell), '|', '|', true) : text
}

/** Returns the delimiter for the alignment of a cell, if it has one. */
function ruleOf(cell: ElementNode | undefined): string | undefined {
  if (!cell) return undefined
  const styled = /text-align:\s*(left|center|right)/i.exec(attribute(cell, 'style'))?.[1]
  return delimiters.get((styled ?? attribute(cell, 'align')).toLowerCase())
}
