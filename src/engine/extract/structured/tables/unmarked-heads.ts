/** Recognizes headings of tables that only the kinds of the values show: those of columns, and those of rows. */
import { type ElementNode, visibleText } from '../../tree.ts'
import { isHeadingCell } from '../../table-parts.ts'

type Grid = readonly (readonly (ElementNode | undefined)[])[]

const maxHeading = 60
/** Rows of a table whose rows are its fields; longer tables are lists. */
const maxFields = 100

/** Whether the first of the rows names columns of numbers. Two columns are labels and their values. */
export function hasUnmarkedHead(grid: Grid): boolean {
  const [head, ...rows] = grid
  if (!head || head.length < 3 || rows.length < 2 || !isEven(grid)) return false
  if (!areNames(head) || grid.some(([name]) => isHeading(name))) return false
  return head.some((_, at) => kindsOf(rows.map((row) => row[at])).every((kind) => kind === 'number'))
}

/** Whether the columns are records, and the rows their fields: each has a heading, and values of one kind. */
export function isPivoted(grid: Grid): boolean {
  const width = grid[0]?.length ?? 0
  if (width < 3 || grid.length < 2 || grid.length > maxFields || !isEven(grid)) return false
  if (!areNames(grid.map(([name]) => name))) return false
  if (!grid.every(([name, ...values]) => isHeading(name) && !values.some(isHeading))) return false
  const columns = Array.from({ length: width - 1 }, (_, at) => grid.map((row) => row[at + 1]))
  return grid.every(([, ...values]) => isOfOneKind(values)) && columns.some((column) => !isOfOneKind(column))
}

/** Returns columns as rows. */
export const transposed = (grid: Grid): (ElementNode | undefined)[][] =>
  (grid[0] ?? []).map((_, at) => grid.map((row) => row[at]))

const isHeading = (cell: ElementNode | undefined): boolean => cell !== undefined && isHeadingCell(cell)

const isEven = (grid: Grid): boolean => grid.every((row) => row.length === grid[0]!.length)

/** Whether cells have different short texts that are no numbers. */
function areNames(cells: readonly (ElementNode | undefined)[]): boolean {
  const texts = cells.map(textOf)
  const isName = (text: string): boolean => kindOf(text) === 'text' && text.length <= maxHeading
  return texts.every(isName) && new Set(texts).size === texts.length
}

const textOf = (cell: ElementNode | undefined): string => (cell ? visibleText(cell, maxHeading + 1) : '')

/** Returns the kinds of the cells with a value. */
const kindsOf = (cells: readonly (ElementNode | undefined)[]): string[] => {
  const kinds = cells.map((cell) => kindOf(textOf(cell))).filter((kind) => kind !== '')
  return kinds.length === 0 ? ['none'] : kinds
}

const isOfOneKind = (cells: readonly (ElementNode | undefined)[]): boolean => new Set(kindsOf(cells)).size === 1

/** Returns whether a text is a number, such as a price; '' for signs such as a dash. */
function kindOf(text: string): 'number' | 'text' | '' {
  if (/^\p{Sc}?\s?[-+−±~<>≈]?\s?\p{Sc}?\s?[.,]?\d/u.test(text)) return 'number'
  return /[\p{L}\p{N}]/u.test(text) ? 'text' : ''
}
