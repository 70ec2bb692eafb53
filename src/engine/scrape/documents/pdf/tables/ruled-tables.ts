/** Builds tables from text in grids of drawn lines. */
import type { Cell, TableBlock } from '../blocks.ts'
import { type Grid, gridsOf } from './grid.ts'
import { linesOf } from '../lines.ts'
import type { Box, Segment } from '../page/page-content.ts'

/** Returns the tables of a page, and the segments outside of them. */
export function ruledTables(segments: readonly Segment[], rules: readonly Box[]) {
  const tables: TableBlock[] = []
  let rest = segments
  for (const grid of gridsOf(rules)) {
    const inside = rest.filter((segment) => isInside(grid, segment))
    const table = inside.length > 0 ? tableOf(grid, inside) : undefined
    if (!table) continue
    tables.push(table)
    rest = rest.filter((segment) => !isInside(grid, segment))
  }
  return { tables, rest }
}

const centre = ({ left, right }: Box): number => (left + right) / 2
/** Height at which small letters of the text have their middle. */
const middle = ({ bottom, size }: Segment): number => bottom - size * 0.3

const isInside = ({ left, top, right, bottom }: Box, segment: Segment): boolean =>
  centre(segment) > left && centre(segment) < right && middle(segment) > top && middle(segment) < bottom

/** Cells by row and column; cells without a line between them share a list. */
function tableOf(grid: Grid, segments: readonly Segment[]): TableBlock | undefined {
  const owners = mergedCells(grid)
  const texts = new Map<number, Segment[]>()
  const columns = grid.xs.length - 1
  for (const segment of segments) {
    const row = bandOf(grid.ys, middle(segment))
    const column = bandOf(grid.xs, Math.max(segment.left + segment.size * 0.3, grid.left + 1))
    const owner = owners[row * columns + column]!
    const list = texts.get(owner)
    if (list) list.push(segment)
    else texts.set(owner, [segment])
  }
  const distinct = new Set(owners).size
  // A drawing has lines, but little text between them, and a form has no columns.
  if (texts.size < 3 || texts.size < distinct * 0.25 || distinct < 3) return undefined
  const rows = cellsOf(grid, owners, texts)
  return rows.some((row) => row.length > 1) ? { ...box(grid), rows } : undefined
}

const box = ({ left, top, right, bottom }: Box): Box => ({ left, top, right, bottom })

function bandOf(edges: readonly number[], value: number): number {
  let at = 0
  while (at < edges.length - 2 && edges[at + 1]! < value) at++
  return at
}

/** Returns the index of the first cell that each cell is merged with. */
function mergedCells({ xs, ys, hasRight, hasBelow }: Grid): number[] {
  const columns = xs.length - 1
  const owners: number[] = []
  for (let row = 0; row < ys.length - 1; row++)
    for (let column = 0; column < columns; column++) {
      const at = row * columns + column
      const left = column > 0 && !hasRight(row, column - 1) ? owners[at - 1] : undefined
      const above = row > 0 && !hasBelow(row - 1, column) ? owners[at - columns] : undefined
      owners[at] = left ?? above ?? at
    }
  return owners
}

function cellsOf({ xs, ys }: Grid, owners: readonly number[], texts: ReadonlyMap<number, Segment[]>): Cell[][] {
  const columns = xs.length - 1
  const rows = ys.slice(1).map((_, row) => {
    const cells: Cell[] = []
    for (let column = 0; column < columns; column++) {
      const at = row * columns + column
      if (owners[at] !== at) continue
      let [wide, high] = [1, 1]
      while (column + wide < columns && owners[at + wide] === at) wide++
      while (owners[at + high * columns] === at) high++
      cells.push({ lines: linesOf(texts.get(at) ?? []), columns: wide, rows: high })
    }
    return cells
  })
  return rows.filter((row) => row.some(({ lines, rows: high }) => lines.length > 0 || (high ?? 1) > 1))
}
