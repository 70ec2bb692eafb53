/** Joins segments to lines. */
import { isMostlyRightToLeft } from './page/bidi.ts'
import type { Line } from './blocks.ts'
import { boxAround, type Box, median, type Run, type Segment } from './page/page-content.ts'

/** Groups boxes whose bottoms are on one line, from top to bottom. */
export function rowsOf<Part extends Box>(parts: readonly Part[], heightOf: (part: Part) => number): Part[][] {
  const rows: Part[][] = []
  let bottom = -Infinity
  for (const part of parts.toSorted((a, b) => a.bottom - b.bottom)) {
    if (part.bottom - bottom > heightOf(part) * 0.35) {
      rows.push([])
      bottom = part.bottom
    }
    rows.at(-1)!.push(part)
  }
  return rows.map((row) => row.toSorted((a, b) => a.left - b.left))
}

export const segmentRows = (segments: readonly Segment[]): Segment[][] => rowsOf(segments, ({ size }) => size)

/** Returns a row of segments as one line. */
export function lineOf(row: readonly Segment[]): Line {
  const ordered = isMostlyRightToLeft(row.map(({ text }) => text).join('')) ? row.toReversed() : row
  const runs: Run[] = []
  let chars = 0
  for (const [at, segment] of ordered.entries()) {
    if (at > 0 && isSpaced(ordered[at - 1]!, segment)) runs.push({ text: ' ' })
    runs.push(...segment.runs)
    chars += segment.text.length
  }
  const largest = row.reduce((most, one) => (one.text.length > most.text.length ? one : most))
  const bold = row.reduce((sum, one) => sum + (one.bold ? one.text.length : 0), 0)
  return {
    ...boxAround(row),
    bottom: median(row.map(({ bottom }) => bottom)),
    runs: withoutLeaders(runs),
    text: withoutLeaders(runs)
      .map(({ text }) => text)
      .join(''),
    size: largest.size,
    bold: bold > chars * 0.8,
  }
}

const isSpaced = (last: Segment, next: Segment): boolean => {
  const [left, right] = last.left < next.left ? [last, next] : [next, last]
  return right.left - left.right > Math.min(last.size, next.size) * 0.12
}

export const linesOf = (segments: readonly Segment[]): Line[] => segmentRows(segments).map(lineOf)

/** Shortens the dots that lead to a page number. */
const withoutLeaders = (runs: readonly Run[]): Run[] =>
  runs.map((run) =>
    /\.{5}|(?: \.){4}/.test(run.text) ? { ...run, text: run.text.replaceAll(/(?: ?\.){4,} ?/g, ' … ') } : run,
  )
