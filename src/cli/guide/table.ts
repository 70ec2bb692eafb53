/** Tables of the guide: columns as wide as their content, or narrower so that the table fits the terminal. */
import { type Text, wrap } from '../../core/text/wrap.ts'
import { type Layout, styledWords } from './inline.ts'

const gap = '  '

/** Lays out a table. A cell that is too wide for its column takes several lines. */
export function tableLines(lines: readonly string[], layout: Layout): string[] {
  const [header = [], , ...body] = lines.map(cellsOf)
  const bold = header.map((cell) => (cell === '' ? cell : `**${cell}**`))
  const rows = [bold, ...body].map((cells) => cells.map((cell) => styledWords(cell, layout)))
  const columns = header.map((_, at) => rows.map((row) => row[at] ?? []))
  const widths = fit(columns, layout.width - gap.length * (header.length - 1))
  return rows.flatMap((row) =>
    rowLines(
      row.map((words, at) => wrap(words, widths[at] ?? 0)),
      widths,
    ),
  )
}

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())

const lengthOf = (words: readonly Text[]): number => words.reduce((sum, { length }) => sum + length + 1, -1)

/** Returns the widths of the columns: those of their content, or less so that all fit; a word stays in one piece. */
function fit(columns: readonly (readonly Text[][])[], room: number): number[] {
  const widths = columns.map((cells) => Math.max(0, ...cells.map(lengthOf)))
  const least = columns.map((cells) => Math.max(0, ...cells.flat().map(({ length }) => length)))
  for (let over = widths.reduce((sum, width) => sum + width, -room); over > 0; over -= 1) {
    const widest = Math.max(...widths.filter((width, at) => width > least[at]!))
    if (widest < 0) break
    widths[widths.findLastIndex((width, at) => width === widest && width > least[at]!)]! -= 1
  }
  return widths
}

/** Returns the lines of one row, whose cells are lines already. */
function rowLines(cells: readonly (readonly Text[])[], widths: readonly number[]): string[] {
  const height = Math.max(...cells.map(({ length }) => length))
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((cell, at) => {
        const { shown, length } = cell[line] ?? { shown: '', length: 0 }
        return shown + ' '.repeat(Math.max(0, widths[at]! - length))
      })
      .join(gap)
      .trimEnd(),
  )
}
