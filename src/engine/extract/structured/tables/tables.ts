/** Reads tables as records with named columns: HTML tables, tables and grids of ARIA, heads apart from their bodies. */
import { attribute, childElements, type ElementNode, elementsOf, findElement, visibleText } from '../../tree.ts'
import { cellLabel } from '../../markdown/icon.ts'
import { cellText, fieldTexts, headingText, withoutControls, withoutHeading } from './cell-text.ts'
import { type Beside, besideRows, isTitle } from './lone-rows.ts'
import { hasUnmarkedHead, isPivoted, transposed } from './unmarked-heads.ts'
import { hasTableRole, isHeadingCell } from '../../table-parts.ts'
import { gridOf, headCount, isDataTable, type Row, rowsOf } from '../../markdown/table.ts'
import { replaceRuns } from '../../../../core/text/pieces.ts'

/** A table with the names of its columns, which are empty for those without a heading. */
export interface ReadTable {
  readonly caption: string
  /** Undefined for a table without headings. */
  readonly names: readonly string[] | undefined
  /** The last heading of each column; columns may share one. */
  readonly heads: readonly (ElementNode | undefined)[]
  readonly rows: readonly (readonly (ElementNode | undefined)[])[]
  /** The heading of the group and the details of each record, by its position in `rows`. */
  readonly beside: readonly Beside[]
  /** Whether it has rows below the headings, even if they are no records, such as one that says that there are none. */
  readonly hasBody: boolean
  /** Number of rows that the page says it has, for a grid that renders only some of them. */
  readonly total: number
}

export interface TableRecord {
  readonly element: ElementNode
  readonly fields: Readonly<Record<string, string>>
  readonly cells: Readonly<Record<string, ElementNode>>
}

/** Number of rows after which a table is cut. */
const maxRecords = 1000
const maxNameLength = 100

export const isTable = (element: ElementNode): boolean => element.tag === 'table' || hasTableRole(element)

/** Returns the table of an element; undefined for a layout and for an element that is no table. */
export function readTable(element: ElementNode): ReadTable | undefined {
  const rows = isTable(element) ? rowsOf(element) : []
  // The roles of a grid say that it contains data.
  if (rows.length === 0 || (element.tag === 'table' && !isDataTable(element, rows))) return undefined
  const headRows = headRowsOf(rows)
  const grid = gridOf(rows, headRows, true)
  if (headRows === 0 && isPivoted(grid)) return pivoted(element, grid)
  const titles = grid.slice(0, headRows).filter((_, at) => headRows === 1 || rows[at]!.cells.length > 1)
  const width = grid.reduce((most, row) => Math.max(most, row.length), 0)
  const names = Array.from({ length: width }, (_, at) => namedBy(titles.map((row) => row[at])))
  const [below, cells] = [rows.slice(headRows), grid.slice(headRows)]
  const records = below.map((row, at) => isRecord(row, width) && !repeats(cells[at]!, names) && !isBlank(row))
  const beside = besideRows(below, (at) => records[at]!)
  const body = cells.filter((_, at) => records[at])
  const lone = headRows > 1 ? rows.slice(0, headRows).find(({ cells: titled }) => titled.length === 1) : undefined
  return {
    caption: captionOf(element, lone?.cells[0]),
    names: headRows > 0 ? names : undefined,
    heads: titles.at(-1) ?? [],
    rows: body,
    beside: beside.filter((_, at) => records[at]),
    hasBody: grid.length > headRows,
    // The page counts headings, too.
    total: Math.max(0, (Number.parseInt(attribute(element, 'aria-rowcount'), 10) || 0) - (grid.length - body.length)),
  }
}

function headRowsOf(rows: readonly Row[]): number {
  const isTitled = hasCorner(rows[0]!) || (isBold(rows[0]!) && !rows.every(isBold))
  const marked = headCount(rows) || (isTitled ? 1 : 0)
  return marked === 0 && hasUnmarkedHead(rows.map(({ cells }) => cells)) ? 1 : marked
}

function captionOf(table: ElementNode, lone: ElementNode | undefined): string {
  const caption = childElements(table).find(({ tag }) => tag === 'caption') ?? lone
  return caption ? visibleText(caption) : attribute(table, 'aria-label').trim()
}

/** Returns a table whose columns are records. */
function pivoted(element: ElementNode, grid: ReadTable['rows']): ReadTable {
  const [heads, ...rows] = transposed(grid)
  const names = heads!.map(nameOf)
  const caption = captionOf(element, undefined)
  return { caption, names, heads: heads!, rows, beside: [], hasBody: true, total: 0 }
}

/** Whether a row repeats the headings, as copies of heads and feet do. */
const repeats = (row: ReadTable['rows'][number], names: readonly string[]): boolean =>
  names.some((name) => name !== '') && names.every((name, at) => nameOf(row[at]) === name)

/** Whether a row has no values, such as one with the filters of the columns. */
const isBlank = ({ cells }: Row): boolean =>
  cells.every((cell) => dense(cell) === '' && fieldTexts(cell) === '' && cellText(withoutControls(cell), '') === '')

/** Whether a row has headings to the right of an empty corner. */
const hasCorner = ({ cells: [corner, ...others] }: Row): boolean =>
  others.length > 0 && dense(corner!) === '' && others.every(isHeadingCell)

/** Whether all cells of a row are bold, like headings. */
const isBold = ({ cells }: Row): boolean => cells.every(isTitle)

/** Whether a row below the heads has values: it is no repeated head, and no heading of a group of rows. */
const isRecord = ({ cells, head }: Row, width: number): boolean => !head && (cells.length > 1 || width === 1)

function nameOf(cell: ElementNode | undefined): string {
  if (cell === undefined) return ''
  const text = headingText(cell, maxNameLength)
  // The label of a checkbox for all rows is no heading.
  return text === '' && findElement(cell, isControl) === undefined ? cellLabel(cell) : text
}

/** Returns the name of a column; the labels of controls in its headings, such as those that sort it, name none. */
function namedBy(cells: readonly (ElementNode | undefined)[]): string {
  const isOfControls = cells.some((cell) => cell && nameOf(cell) === '' && findElement(cell, isControl) !== undefined)
  return isOfControls && cells.every((cell) => !cell || dense(cell) === '') ? '' : joined(cells.map(nameOf))
}

/** Joins the headings of a column that span several rows. */
const joined = (names: readonly string[]): string => [...new Set(names.filter((name) => name !== ''))].join(' ')

/** Returns whether `body` continues `head`, a table that has nothing but the headings of the columns. */
export function continues({ names: head = [], hasBody, caption }: ReadTable, body: ReadTable): boolean {
  if (head.length === 0 || hasBody || (body.caption !== '' && body.caption !== caption)) return false
  const width = body.rows.reduce((most, row) => Math.max(most, row.length), 0)
  // Bodies may repeat the headings, invisibly; heads may have a last column above the scroll bar.
  const same = body.names === undefined || body.names.every((name, at) => name === '' || name === head[at])
  return same && width > 0 && (width === head.length || (width === head.length - 1 && head.at(-1) === ''))
}

/** Returns the rows by the names of the columns; columns of controls, such as checkboxes, and of actions are left out. */
export function recordsOf({ names = [], heads, rows, beside }: ReadTable, baseUrl: string): TableRecord[] {
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0)
  const columns: { at: number; name: string; title: string }[] = []
  const actions: number[] = []
  const taken = new Set<string>()
  const controls = Array.from({ length: width }, (_, at) => rows.every((row) => !hasValue(row[at])))
  for (let at = 0; at < width; at++) {
    const title = names[at] ?? ''
    if (isUnseenHead(heads[at]) || (title === '' && controls[at])) continue
    const isBesideControls = heads[at] !== undefined && heads.some((head, of) => head === heads[at] && controls[of])
    if (title === '' && isActions(rows, at, isBesideControls)) {
      actions.push(at)
      continue
    }
    const name = unused(title === '' ? `column ${at + 1}` : title, taken)
    taken.add(name)
    columns.push({ at, name, title })
  }
  const keys = { group: unused('group', taken), details: unused('details', taken) }
  return rows.slice(0, maxRecords).map((row, of) => {
    const named = columns.flatMap(({ at, ...column }) => (row[at] === undefined ? [] : [{ ...column, cell: row[at] }]))
    const texts = named.map(({ name, title, cell }) => [name, cellText(withoutHeading(cell, title), baseUrl)] as const)
    // The link of an action may be that of the record.
    const children = new Set([...named.map(({ cell }) => cell), ...actions.flatMap((at) => row[at] ?? [])])
    const { group, details } = beside[of] ?? {}
    const more = { ...(group && { [keys.group]: group }), ...(details && { [keys.details]: details }) }
    const cells = Object.fromEntries(named.map(({ name, cell }) => [name, cell]))
    const element: ElementNode = { tag: 'tr', attributes: {}, children: [...children] }
    return { element, fields: { ...Object.fromEntries(texts), ...more }, cells }
  })
}

/** Whether the page hides the heading of a column, and the column with it. */
const isUnseenHead = (head: ElementNode | undefined): boolean =>
  head !== undefined && /display:\s*none/i.test(attribute(head, 'style'))

/**
 * Whether a column has only links with the same text, such as those that edit a row. In a single row, they can be told
 * from a value only if they share their heading with a column of controls.
 */
function isActions(rows: ReadTable['rows'], at: number, isBesideControls: boolean): boolean {
  const cells = rows.flatMap((row) => row[at] ?? [])
  const texts = cells.map(dense).filter((text) => text !== '')
  const isRepeated = isBesideControls || texts.length > 1
  return isRepeated && new Set(texts).size === 1 && !cells.some((cell) => hasMore(cell, isControlOrLink))
}

/** Returns the name, with a number if another column has it. */
function unused(name: string, taken: ReadonlySet<string>): string {
  let free = name
  for (let count = 2; taken.has(free); count++) free = `${name} ${count}`
  return free
}

/** Whether a cell shows more than controls, such as checkboxes and buttons. */
const hasValue = (cell: ElementNode | undefined): boolean =>
  cell !== undefined && (hasMore(cell, isControl) || fieldTexts(cell) !== '')

const isControl = ({ tag, attributes }: ElementNode): boolean =>
  /^(?:button|input|select)$/.test(tag) || /^(?:button|checkbox|radio|switch)$/.test(attributes['role'] ?? '')

const isControlOrLink = (element: ElementNode): boolean => element.tag === 'a' || isControl(element)

/** Whether a cell shows anything besides elements of a kind. */
function hasMore(cell: ElementNode | undefined, isOfKind: (element: ElementNode) => boolean): boolean {
  if (cell === undefined) return false
  const known = elementsOf(cell, (element) => !isOfKind(element)).filter(isOfKind)
  return dense(cell).length > known.map(dense).join('').length
}

const dense = (element: ElementNode): string => replaceRuns(visibleText(element), /\s+/g, '')
