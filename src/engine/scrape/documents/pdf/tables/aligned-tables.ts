/** Finds tables without drawn cells: rows whose parts are below each other. */
import type { Cell, Line, TableBlock } from '../blocks.ts'
import { lineOf } from '../lines.ts'
import { type Box, boxAround, median, type Segment } from '../page/page-content.ts'

type Row = readonly Segment[]

/** Horizontal ranges of columns. */
type Columns = readonly { readonly left: number; readonly right: number }[]

/** Returns tables and lines of consecutive rows, from top to bottom. */
export function alignedTables(rows: readonly Row[], rules: readonly Box[]): (Line | TableBlock)[] {
  const found: (Line | TableBlock)[] = []
  for (let at = 0; at < rows.length;) {
    const end = rows[at]!.length > 1 ? endOfRun(rows, at) : at
    const run = rows.slice(at, end)
    const table = end - at >= 2 ? tableOf(run, ruleCount(run, rules)) : undefined
    if (table) {
      found.push(table)
      at = end
    } else found.push(lineOf(rows[at++]!))
  }
  return found
}

/** Returns the union of the ranges of cells, joined where they overlap or nearly touch. */
function columnsOf(cells: readonly Segment[]): Columns {
  const columns: { left: number; right: number }[] = []
  for (const { left, right, size } of cells.toSorted((a, b) => a.left - b.left)) {
    const last = columns.at(-1)
    if (last && left < last.right + size * 0.4) last.right = Math.max(last.right, right)
    else columns.push({ left, right })
  }
  return columns
}

/** Returns the end of the rows from `from` that keep their columns; the last one has several cells. */
function endOfRun(rows: readonly Row[], from: number): number {
  let cells = [...rows[from]!]
  let most = columnsOf(cells).length
  let end = from + 1
  for (let at = from + 1; at < rows.length; at++) {
    const row = rows[at]!
    if (row[0]!.bottom - rows[at - 1]![0]!.bottom > row[0]!.size * 3.2) break
    const next = [...cells, ...row]
    const columns = columnsOf(next).length
    if (columns < most || columns < 2) break
    cells = next
    most = columns
    if (row.length > 1) end = at + 1
  }
  return end
}

/** Counts the lines drawn across rows: at least two of them show that these are a table. */
function ruleCount(run: readonly Row[], rules: readonly Box[]): number {
  const area = boxAround(run.flat())
  const width = area.right - area.left
  const heights = rules.filter(
    ({ left, top, right, bottom }) =>
      bottom - top < 3 &&
      top > area.top - 12 &&
      top < area.bottom + 12 &&
      Math.min(right, area.right) - Math.max(left, area.left) > width * 0.9 &&
      right - left < width * 1.5,
  )
  return new Set(heights.map(({ top }) => Math.round(top / 3))).size
}

const isNumeric = (text: string): boolean =>
  /\d/.test(text) && text.replaceAll(/[\d\s.,:;%€$£+()/–−-]/g, '').length <= 3

function tableOf(run: readonly Row[], rules: number): TableBlock | undefined {
  const columns = columnsOf(run.flat())
  const full = run.filter((row) => row.length > 1)
  const words = run.flat().map(({ text }) => text.split(' ').length)
  const isRuled = rules >= 2
  if (full.length < (isRuled ? 2 : 3) || columns.length > 40 || median(words) > 8) return undefined
  if (!isRuled && !(columns.length > 2 ? isAligned(full, columns) : isPairs(run, columns))) return undefined
  return { ...boxAround(run.flat()), rows: cellRows(run, columns) }
}

/** Whether rows share the starts, ends or middles of their cells, and most have all cells. */
function isAligned(rows: readonly Row[], columns: Columns): boolean {
  const filled = rows.reduce((sum, row) => sum + row.length, 0)
  return filled >= rows.length * columns.length * 0.6 && rows.length >= 3
}

/** Whether two columns are a table: every row has both, and one is of numbers or the first is of short words. */
function isPairs(run: readonly Row[], columns: Columns): boolean {
  if (run.some((row) => row.length !== 2) || run.length < 3) return false
  const [first, second] = [0, 1].map((at) => run.map((row) => row[at]!.text)) as [string[], string[]]
  const [head] = run
  const hasBoldHead = head!.every(({ bold }) => bold) && !run[1]!.every(({ bold }) => bold)
  const numbers = (texts: readonly string[]) => texts.filter(isNumeric).length >= texts.length * 0.6
  const isShort =
    first.every((text) => text.split(' ').length <= 4) && second.every((text) => text.split(' ').length <= 8)
  const isSpaced = columns[1]!.left - columns[0]!.right > head![0]!.size
  return hasBoldHead || numbers(first) || numbers(second) || (isShort && isSpaced && run.length >= 3)
}

/** Rows that lack the first cell and follow closely continue the cells above. */
function cellRows(run: readonly Row[], columns: Columns): Cell[][] {
  const table: Segment[][][] = []
  const gaps = run.slice(1).map((row, at) => row[0]!.bottom - run[at]![0]!.bottom)
  const usual = median(gaps)
  for (const [at, row] of run.entries()) {
    const cells: Segment[][] = columns.map(() => [])
    for (const segment of row) cells[columns.findIndex(({ right }) => segment.left < right)]?.push(segment)
    const isContinued = at > 0 && cells[0]!.length === 0 && gaps[at - 1]! < Math.min(usual * 1.05, row[0]!.size * 1.5)
    if (isContinued && row.length < columns.length)
      for (const [column, more] of cells.entries()) table.at(-1)![column]!.push(...more)
    else table.push(cells)
  }
  return table.map((cells) => cells.map((parts) => ({ lines: cellLines(parts) })))
}

function cellLines(parts: readonly Segment[]): Line[] {
  const lines: Segment[][] = []
  for (const part of parts) {
    const last = lines.at(-1)
    if (last && part.bottom - last[0]!.bottom < part.size * 0.35) last.push(part)
    else lines.push([part])
  }
  return lines.map(lineOf)
}
