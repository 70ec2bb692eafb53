/** Finds grids in drawn lines: the outlines of tables. */
import { type Box, boxAround } from '../page/page-content.ts'

/** Distance in which lines meet, in points. */
const near = 3.5
const maxCells = 20_000

export interface Grid extends Box {
  readonly xs: readonly number[]
  readonly ys: readonly number[]
  /** Whether a line separates the cell from the next one to the right, and from the one below. */
  readonly hasRight: (row: number, column: number) => boolean
  readonly hasBelow: (row: number, column: number) => boolean
}

interface Lines {
  readonly across: Box[]
  readonly down: Box[]
}

export function gridsOf(rules: readonly Box[]): Grid[] {
  return connected(rules).flatMap((group) => {
    const grid = gridOf(split(group))
    return grid ? [grid] : []
  })
}

const isAcross = ({ left, top, right, bottom }: Box): boolean => right - left >= bottom - top

const split = (rules: readonly Box[]): Lines => ({
  across: rules.filter(isAcross),
  down: rules.filter((rule) => !isAcross(rule)),
})

/** Groups rules that touch, by a sweep from top to bottom. */
function connected(rules: readonly Box[]): Box[][] {
  const parents = rules.map((_, at) => at)
  const root = (at: number): number => {
    while (parents[at] !== at) at = parents[at] = parents[parents[at]!]!
    return at
  }
  const order = rules.map((_, at) => at).toSorted((a, b) => rules[a]!.top - rules[b]!.top)
  let active: number[] = []
  for (const at of order) {
    const rule = rules[at]!
    active = active.filter((other) => rules[other]!.bottom + near >= rule.top)
    for (const other of active)
      if (rules[other]!.left - near <= rule.right && rules[other]!.right + near >= rule.left)
        parents[root(at)] = root(other)
    active.push(at)
  }
  const groups = new Map<number, Box[]>()
  for (const [at, rule] of rules.entries()) {
    const key = root(at)
    const group = groups.get(key)
    if (group) group.push(rule)
    else groups.set(key, [rule])
  }
  return [...groups.values()]
}

/** Returns the middles of groups of close positions. */
function positions(values: readonly number[]): number[] {
  const found: number[] = []
  let group: number[] = []
  const flush = () => {
    if (group.length > 0) found.push((group[0]! + group.at(-1)!) / 2)
    group = []
  }
  for (const value of values.toSorted((a, b) => a - b)) {
    if (group.length > 0 && value - group.at(-1)! > near) flush()
    group.push(value)
  }
  flush()
  return found
}

function gridOf({ across, down }: Lines): Grid | undefined {
  const ys = positions(across.map(({ top, bottom }) => (top + bottom) / 2))
  // Tables whose outer lines are missing end where their lines end.
  const ends = across.flatMap(({ left, right }) => [left, right])
  const inner = positions(down.map(({ left, right }) => (left + right) / 2))
  const [left, right] = [Math.min(...ends), Math.max(...ends)]
  const xs = [
    ...(left < inner[0]! - near * 2 ? [left] : []),
    ...inner,
    ...(right > inner.at(-1)! + near * 2 ? [right] : []),
  ]
  if (inner.length === 0 || xs.length < 3 || ys.length < 3 || xs.length * ys.length > maxCells) return undefined
  return {
    ...boxAround([...across, ...down]),
    xs,
    ys,
    hasRight: (row, column) => covers(down, 'left', xs[column + 1]!, (ys[row]! + ys[row + 1]!) / 2),
    hasBelow: (row, column) => covers(across, 'top', ys[row + 1]!, (xs[column]! + xs[column + 1]!) / 2),
  }
}

/** Whether a line at `position` passes `along`. */
const covers = (lines: readonly Box[], side: 'left' | 'top', position: number, along: number): boolean =>
  lines.some((line) => {
    if (Math.abs(line[side] - position) > near * 1.5) return false
    return side === 'left' ? line.top <= along && line.bottom >= along : line.left <= along && line.right >= along
  })
