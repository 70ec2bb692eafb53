/** Reads tables as records with named columns: HTML tables, tables and grids of ARIA, heads apart from their bodies. */
import { attribute, childElements, type ElementNode, elementsOf, findElement, visibleText } from '../tree.ts'
import { cellLabel } from '../markdown/icon.ts'
import { hasTableRole, isHeadingCell } from '../table-parts.ts'
import { gridOf, headCount, isDataTable, type Row, rowsOf } from '../markdown/table.ts'
import { replaceRuns, squeeze } from '../../../core/text/pieces.ts'

/** A table with the names of its columns, which are empty for those without a heading. */
export interface ReadTable {
  readonly caption: string
  /** Undefined for a table without headings. */
  readonly names: readonly string[] | undefined
  /** The last heading of each column; columns may share one. */
  readonly heads: readonly (ElementNode | undefined)[]
  readonly rows: readonly (readonly (ElementNode | undefined)[])[]
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
  const isTitled = hasCorner(rows[0]!) || (isBold(rows[0]!) && !rows.every(isBold))
  const headRows = headCount(rows) || (isTitled ? 1 : 0)
  const grid = gridOf(rows, headRows, true)
  const titles = grid.slice(0, headRows).filter((_, at) => headRows === 1 || rows[at]!.cells.length > 1)
  const width = grid.reduce((most, row) => Math.max(most, row.length), 0)
  const names = Array.from({ length: width }, (_, at) => joined(titles.map((row) => nameOf(row[at]))))
  const body = grid.slice(headRows).filter((_, at) => isRecord(rows[headRows + at]!, width))
  const caption = childElements(element).find(({ tag }) => tag === 'caption')
  const lone = headRows > 1 ? rows.slice(0, headRows).find(({ cells }) => cells.length === 1)?.cells[0] : undefined
  return {
    caption: caption || lone ? visibleText((caption ?? lone)!) : attribute(element, 'aria-label').trim(),
    names: headRows > 0 ? names : undefined,
    heads: titles.at(-1) ?? [],
    rows: body,
    hasBody: grid.length > headRows,
    // The page counts headings, too.
    total: Math.max(0, (Number.parseInt(attribute(element, 'aria-rowcount'), 10) || 0) - (grid.length - body.length)),
  }
}

/** Whether a row has headings to the right of an empty corner. */
const hasCorner = ({ cells: [corner, ...others] }: Row): boolean =>
  others.length > 0 && dense(corner!) === '' && others.every(isHeadingCell)

/** Whether all cells of a row are bold, like headings. */
const isBold = ({ cells }: Row): boolean =>
  cells.every((cell) => {
    const [bold, ...others] = childElements(cell)
    return others.length === 0 && /^(?:b|strong)$/.test(bold?.tag ?? '') && dense(cell) === dense(bold!)
  })

/** Whether a row below the heads has values: it is no repeated head, and no heading of a group of rows. */
const isRecord = ({ cells, head }: Row, width: number): boolean => !head && (cells.length > 1 || width === 1)

function nameOf(cell: ElementNode | undefined): string {
  if (cell === undefined) return ''
  const text = squeeze(visibleText(cell, maxNameLength))
  // The label of a checkbox for all rows is no heading.
  return text === '' && findElement(cell, isControl) === undefined ? cellLabel(cell) : text
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
export function recordsOf({ names = [], heads, rows }: ReadTable): TableRecord[] {
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0)
  const columns: { at: number; name: string }[] = []
  const actions: number[] = []
  const taken = new Set<string>()
  const controls = Array.from({ length: width }, (_, at) => rows.every((row) => !hasMore(row[at], isControl)))
  for (let at = 0; at < width; at++) {
    const title = names[at] ?? ''
    if (title === '' && controls[at]) continue
    const isBesideControls = heads[at] !== undefined && heads.some((head, of) => head === heads[at] && controls[of])
    if (title === '' && isActions(rows, at, isBesideControls)) {
      actions.push(at)
      continue
    }
    const name = unused(title === '' ? `column ${at + 1}` : title, taken)
    taken.add(name)
    columns.push({ at, name })
  }
  return rows.slice(0, maxRecords).map((row) => {
    const named = columns.flatMap(({ at, name }) => (row[at] === undefined ? [] : [[name, row[at]] as const]))
    const fields = Object.fromEntries(named.map(([name, cell]) => [name, visibleText(cell) || cellLabel(cell)]))
    // The link of an action may be that of the record.
    const children = new Set([...named.map(([, cell]) => cell), ...actions.flatMap((at) => row[at] ?? [])])
    return { element: { tag: 'tr', attributes: {}, children: [...children] }, fields, cells: Object.fromEntries(named) }
  })
}

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
