/** Divides the cells of a sheet into tables and notes. */
import type { TreeNode } from '../../../extract/tree.ts'
import { element } from '../document.ts'
import { tableOf } from './inline.ts'
import { isWebLink } from './office-xml.ts'

/** A cell with content. */
export interface Cell {
  readonly text: string
  readonly href?: string | undefined
  /** Whether the value is a text, not a number, a date or an error. */
  readonly isText: boolean
}

/** A row with content: its index, and its cells by column. */
export interface Row {
  readonly at: number
  readonly cells: ReadonlyMap<number, Cell>
}

/** Rows between empty ones, from the first to the last column with content. */
interface Area {
  readonly rows: Row[]
  readonly from: number
  readonly to: number
}

/** Returns the content of a sheet: `take` is called with the number of cells of each table. */
export function sheetNodes(rows: readonly Row[], take: (cells: number) => void): TreeNode[] {
  return areasOf(rows).flatMap((area) => sideBySide(area).flatMap((one) => areaNodes(one, take)))
}

/** Divides at empty rows, unless the rows below continue a table: same columns, and no head. */
function areasOf(rows: readonly Row[]): Area[] {
  const areas: Area[] = []
  let last = -Infinity
  for (const row of rows) {
    if (row.at > last + 1) areas.push(areaOf([]))
    areas.at(-1)!.rows.push(row)
    last = row.at
  }
  const joined: Area[] = []
  for (const area of areas.map((one) => areaOf(one.rows))) {
    const before = joined.at(-1)
    const continues =
      before &&
      before.rows.length > 1 &&
      before.to > before.from &&
      before.from === area.from &&
      before.to === area.to &&
      !isHead(area.rows[0]!)
    if (continues) before.rows.push(...area.rows)
    else joined.push(area)
  }
  return joined
}

function areaOf(rows: Row[]): Area {
  let [from, to] = [Infinity, -1]
  for (const { cells } of rows) {
    for (const at of cells.keys()) {
      from = Math.min(from, at)
      to = Math.max(to, at)
    }
  }
  return { rows, from, to }
}

const isHead = ({ cells }: Row): boolean => [...cells.values()].every(({ isText }) => isText)

/** Divides tables beside each other: each has a complete head, and they end in different rows or begin alike. */
function sideBySide(area: Area): Area[] {
  const used = new Set(area.rows.flatMap(({ cells }) => [...cells.keys()]))
  const parts: Area[] = []
  for (const at of [...used].toSorted((a, b) => a - b)) {
    const part = parts.at(-1)
    if (part && part.to === at - 1) parts[parts.length - 1] = { ...part, to: at }
    else parts.push({ rows: [], from: at, to: at })
  }
  if (parts.length < 2) return [area]
  const cut = parts.map(({ from, to }): Area => {
    const rows = area.rows.map(({ at, cells }) => ({
      at,
      cells: new Map([...cells].filter(([column]) => column >= from && column <= to)),
    }))
    return { rows: rows.filter(({ cells }) => cells.size > 0), from, to }
  })
  const isTable = ({ rows, from, to }: Area) =>
    to > from &&
    rows.length > 1 &&
    rows[0]!.at === area.rows[0]!.at &&
    rows[0]!.cells.size === to - from + 1 &&
    isHead(rows[0]!)
  const [one, ...others] = cut
  const isApart = (other: Area) =>
    other.rows.at(-1)!.at !== one!.rows.at(-1)!.at ||
    other.rows[0]!.cells.get(other.from)?.text === one!.rows[0]!.cells.get(one!.from)?.text
  return cut.every(isTable) && others.every(isApart) ? cut : [area]
}

function areaNodes({ rows, from, to }: Area, take: (cells: number) => void): TreeNode[] {
  const titles: TreeNode[] = []
  let start = 0
  while (start < rows.length && isTitle(rows, start, from))
    titles.push(element('p', {}, cellNode(rows[start++]!.cells.get(from)!)))
  const width = to - from + 1
  take(width * (rows.length - start))
  const grid = rows.slice(start).map(({ cells }) =>
    Array.from({ length: width }, (_, at) => {
      const cell = cells.get(from + at)
      return cell ? [cellNode(cell)] : []
    }),
  )
  return [...titles, ...tableOf(grid)]
}

/** Whether a row has a single text, above a head or alone. */
function isTitle(rows: readonly Row[], at: number, from: number): boolean {
  const { cells } = rows[at]!
  if (cells.size !== 1 || !cells.get(from)?.isText) return false
  const next = rows.slice(at + 1).find((row) => row.cells.size !== 1)
  return rows.length === 1 || (next !== undefined && isHead(next))
}

const cellNode = ({ text, href }: Cell): TreeNode =>
  href !== undefined && isWebLink(href) ? element('a', { href }, text) : { text }
