/** Finds the reading order of a page: columns of text from left to right, each from top to bottom. */
import { isMostlyRightToLeft } from './page/bidi.ts'
import { isSegment, type Item } from './blocks.ts'
import { rowsOf } from './lines.ts'
import { type Box, median, overlap, type Segment } from './page/page-content.ts'
import { areBlocks, areCards, areLabels, wordsIn } from './small-columns.ts'

/** Narrowest space between columns, in heights of the font. */
const gutter = 0.8
/** Largest distance of the lines of a block, in heights of the font. */
const pitch = 1.5
/** Maximum number of gutters that are tried. */
const maxCandidates = 40
const maxDepth = 16

/** Items with one bottom, from left to right. */
interface Row {
  readonly items: readonly Item[]
  /** Right end of the items up to each one. */
  readonly ends: readonly number[]
  readonly bottom: number
  /** Usual size of its text. */
  readonly size: number
}

/** Area that is searched for columns. */
interface Area {
  readonly rows: readonly Row[]
  readonly rules: readonly Box[]
  /** Usual size of the text. */
  readonly size: number
}

/** A left edge that several segments share. */
interface Edge {
  readonly x: number
  readonly count: number
}

/** Rows with a gutter at `x`. */
interface Zone {
  readonly x: number
  readonly from: number
  readonly to: number
  readonly score: number
}

/** Returns groups of items, each a column or what is above or below columns. */
export function readingOrder(items: readonly Item[], rules: readonly Box[], depth = 0): Item[][] {
  if (items.length < 2 || depth > maxDepth) return items.length === 0 ? [] : [[...items]]
  const rows = rowsOf(items, (item) => (isSegment(item) ? item.size : 0)).map(rowOf)
  const segments = items.filter(isSegment)
  const zone = bestZone({ rows, rules, size: median(segments.map((item) => item.size)) }, segments)
  if (!zone) return [[...items]]
  const inside = itemsOf(rows.slice(zone.from, zone.to))
  const left = inside.filter(({ left: x }) => x < zone.x - 1)
  const right = inside.filter(({ left: x }) => x >= zone.x - 1)
  const isRtl = isMostlyRightToLeft(inside.map((item) => (isSegment(item) ? item.text : '')).join(''))
  const parts = [
    itemsOf(rows.slice(0, zone.from)),
    ...(isRtl ? [right, left] : [left, right]),
    itemsOf(rows.slice(zone.to)),
  ]
  return parts.flatMap((part) => readingOrder(part, rules, depth + 1))
}

const itemsOf = (rows: readonly Row[]): Item[] => rows.flatMap(({ items }) => items)

function rowOf(items: readonly Item[]): Row {
  let end = -Infinity
  let bottom = -Infinity
  const ends: number[] = []
  for (const item of items) {
    ends.push((end = Math.max(end, item.right)))
    bottom = Math.max(bottom, item.bottom)
  }
  return { items, ends, bottom, size: median(items.filter(isSegment).map((item) => item.size)) }
}

function bestZone(area: Area, segments: readonly Segment[]): Zone | undefined {
  let best: Zone | undefined
  for (const edge of candidates(segments))
    for (const zone of zonesAt(area, edge)) if (!best || zone.score > best.score) best = zone
  return best
}

/** Returns the left edges that segments share, the most frequent first. */
function candidates(segments: readonly Segment[]): Edge[] {
  const counts: { x: number; count: number }[] = []
  for (const { left } of segments.toSorted((a, b) => a.left - b.left)) {
    const last = counts.at(-1)
    if (last && left - last.x < 2) last.count++
    else counts.push({ x: left, count: 1 })
  }
  return counts
    .filter(({ count }) => count >= 2)
    .toSorted((a, b) => b.count - a.count)
    .slice(0, maxCandidates)
}

function isCrossed({ items, ends }: Row, x: number, size: number): boolean {
  const before = countBelow(items, x - 1)
  return before > 0 && ends[before - 1]! > x - gutter * size
}

/** Returns how many items, sorted by their left edges, begin before `x`. */
function countBelow(items: readonly Item[], x: number): number {
  let [from, to] = [0, items.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (items[middle]!.left < x) from = middle + 1
    else to = middle
  }
  return from
}

function zonesAt(area: Area, edge: Edge): Zone[] {
  const { rows, size } = area
  const { x } = edge
  const zones: Zone[] = []
  for (let from = 0; from < rows.length;) {
    let to = from
    while (to < rows.length && !isCrossed(rows[to]!, x, size)) to++
    if (to - from >= 2) zones.push(...zonesIn(area, edge, trimmed(rows, x, from, to, size)))
    from = to + 1
  }
  return zones
}

const isLeftOnly = ({ items }: Row, x: number): boolean => items.at(-1)!.left < x - 1

/** Leaves out rows at the left that stand apart above or below the columns. */
function trimmed(rows: readonly Row[], x: number, from: number, to: number, size: number): [number, number] {
  const gap = (at: number) => rows[at]!.bottom - rows[at - 1]!.bottom
  let [first, end] = [from, to]
  while (first < to && isLeftOnly(rows[first]!, x)) first++
  if (first === to) return [to, to]
  // The left column may begin above the right one.
  for (; first > from; first--) {
    const [row, above] = [rows[first]!, rows[first - 1]!]
    if (gap(first) > row.size * 1.6 || Math.abs(row.size - above.size) > size * 0.1) break
  }
  let last = end
  while (last > first && isLeftOnly(rows[last - 1]!, x)) last--
  for (let at = last; at < end; at++) if (gap(at) > size * 4) end = at
  return [first, end]
}

/** Returns the zone, or blocks of few lines in it, where both sides are text of their own and no columns of a table. */
function zonesIn({ rows, rules }: Area, { x, count }: Edge, [from, to]: readonly [number, number]): Zone[] {
  const blocks = blocksIn(rows, from, to).map((range) => ({ range, sides: sidesOf(rows, x, range) }))
  const cards = blocks.filter(({ sides: { left, right } }) => areCards(left.map(lastCluster), right.map(firstCluster)))
  const sides = sidesOf(rows, x, [from, to])
  // A person reads the cards of a row before those of the next.
  const isGrid = cards.length > 1 && cards.length === blocks.length
  if (!isGrid && count >= 3 && areColumns(sides)) return [{ x, from, to, score: leastOf(sides) }]
  const small = blocks.filter(
    ({ sides: { left, right }, range }) =>
      !isRuled(rows, rules, x, range) && areBlocks(left.map(lastCluster), right.map(firstCluster)),
  )
  return small.map(({ range: [start, end], sides: block }) => ({ x, from: start, to: end, score: leastOf(block) }))
}

/** Whether lines are drawn across the gutter above and below rows, as in tables. */
function isRuled(
  rows: readonly Row[],
  rules: readonly Box[],
  x: number,
  [from, to]: readonly [number, number],
): boolean {
  const across = rules.filter(({ left, top, right, bottom }) => left < x && right > x && bottom - top < 3)
  const [first, last] = [rows[from]!, rows[to - 1]!]
  const top = first.bottom - first.size
  return (
    across.some((rule) => rule.top < top && rule.top > top - 12) &&
    across.some((rule) => rule.top > last.bottom && rule.top < last.bottom + 12)
  )
}

/** Splits rows where there is space between them. */
function blocksIn(rows: readonly Row[], from: number, to: number): [number, number][] {
  const blocks: [number, number][] = []
  for (let at = from; at < to; at++) {
    const isApart =
      at === from || rows[at]!.bottom - rows[at - 1]!.bottom > Math.max(rows[at]!.size, rows[at - 1]!.size) * pitch
    if (isApart) blocks.push([at, at + 1])
    else blocks.at(-1)![1] = at + 1
  }
  return blocks
}

/** The lines at both sides of a gutter. */
interface Sides {
  readonly left: Segment[][]
  readonly right: Segment[][]
  /** Number of lines that are level with one at the other side. */
  readonly level: number
}

function sidesOf(rows: readonly Row[], x: number, [from, to]: readonly [number, number]): Sides {
  const sides = { left: [] as Segment[][], right: [] as Segment[][], level: 0 }
  for (const { items } of rows.slice(from, to)) {
    const start = countBelow(items, x - 1)
    const left = items.slice(0, start).filter(isSegment)
    const right = items.slice(start).filter(isSegment)
    if (left.length > 0) sides.left.push(left)
    if (right.length > 0) sides.right.push(right)
    if (left[0] && right[0] && Math.abs(left[0].bottom - right[0].bottom) < left[0].size * 0.15) sides.level++
  }
  return sides
}

const leastOf = ({ left, right }: Sides): number => Math.min(left.length, right.length)

function areColumns(sides: Sides): boolean {
  const { left, right, level } = sides
  const least = leastOf(sides)
  if (least < 3 || !overlaps(left, right)) return false
  if (level <= least * 0.4) return true
  return isProse(left.map(lastCluster)) && isProse(right.map(firstCluster)) && !areLabels(left)
}

function overlaps(left: readonly Segment[][], right: readonly Segment[][]): boolean {
  const range = (side: readonly Segment[][]): [number, number] => [side[0]![0]!.top, side.at(-1)![0]!.bottom]
  const [[top, bottom], [start, end]] = [range(left), range(right)]
  return overlap(top, bottom, start, end) > Math.min(bottom - top, end - start) * 0.3
}

/** Returns the segments of a row up to the next gutter: those of the column at the left of the row. */
function firstCluster(row: readonly Segment[]): Segment[] {
  const end = row.findIndex((one, at) => at > 0 && one.left - row[at - 1]!.right > one.size * 1.5)
  return row.slice(0, end === -1 ? row.length : end)
}

/** Returns the segments of the column at the right of the row. */
function lastCluster(row: readonly Segment[]): Segment[] {
  const start = row.findLastIndex((one, at) => at > 0 && one.left - row[at - 1]!.right > one.size * 1.5)
  return row.slice(Math.max(0, start))
}

/** Whether most lines fill their column, with several words each. */
function isProse(rows: readonly Segment[][]): boolean {
  const widths = rows.map((row) => row.at(-1)!.right - row[0]!.left).toSorted((a, b) => a - b)
  const full = widths[Math.floor(widths.length * 0.9)] ?? 0
  const filled = widths.filter((width) => width > full * 0.7).length
  const words = rows.reduce((sum, row) => sum + row.reduce((count, { text }) => count + wordsIn(text), 0), 0)
  return filled >= rows.length * 0.5 && words >= rows.length * 2.5
}
