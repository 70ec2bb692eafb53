/** Results as text: fields, records and tables that are readable without colour. */
import { isMapping, mappingOf } from '../../core/text/is-mapping.ts'
import { formatCell } from '../../core/text/cell.ts'
import type { OperationEntry } from '../../operations/manifest.ts'
import { type Io, note, print } from '../io.ts'
import { styleFor } from './style.ts'

type Row = Readonly<Record<string, unknown>>

/** Prints the answer of an operation: unchanged with `json`, else in the form that the operation declares. */
export async function showAnswer(io: Io, operation: OperationEntry, body: unknown, json: boolean): Promise<void> {
  if (body === undefined) return
  if (json) return print(io, JSON.stringify(body))
  const answer = mappingOf(body)
  const { show } = operation
  if (show?.as === 'field') print(io, formatCell(answer[show.field]))
  else if (show?.as === 'table') {
    for (const { items, columns } of [show, ...(show.also ?? [])]) {
      const rows = [answer[items]].flat().filter(isMapping)
      if (items !== show.items) {
        if (rows.length === 0) continue
        print(io, '')
      }
      await showTable(io, rows, columns, items)
    }
  } else if (show?.as === 'record') await showRecord(io, answer)
  else if (show?.as !== 'nothing') print(io, JSON.stringify(body, null, 2))
  await showWarning(io, body)
}

/** Prints the warning of an answer, if it has one. */
export async function showWarning(io: Io, body: unknown): Promise<void> {
  const warning = mappingOf(body)['warning']
  if (typeof warning !== 'string') return
  const { yellow } = await styleFor(io, io.stderr)
  note(io, `${yellow('warning:')} ${warning}`)
}

/** Prints rows as a table, or a note without any. */
export async function showTable(io: Io, rows: readonly Row[], columns: readonly string[], noun: string): Promise<void> {
  if (rows.length === 0) return note(io, `no ${noun}`)
  const style = await styleFor(io, io.stdout)
  const cells = rows.map((row) => columns.map((column) => formatCell(row[column])))
  const widths = columns.map((column, at) => Math.max(column.length, ...cells.map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    fit(
      io,
      row
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  print(io, style.bold(line(columns.map((column) => column.toUpperCase()))))
  for (const row of cells) print(io, line(row))
}

async function showRecord(io: Io, record: Row): Promise<void> {
  const style = await styleFor(io, io.stdout)
  const entries = Object.entries(record).filter(([name]) => name !== 'warning')
  const width = Math.max(...entries.map(([name]) => name.length))
  const line = (name: string, text: string) => print(io, `${style.dim(name.padEnd(width))}  ${text}`)
  for (const [name, value] of entries) {
    if (!isList(value)) line(name, measured(name, value))
    else if (value.length === 0) line(name, '-')
    else for (const [at, item] of value.entries()) line(at === 0 ? name : '', summary(item))
  }
}

const isList = (value: unknown): value is Row[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null)

const summary = (item: Row): string =>
  Object.entries(item)
    .map(([name, value]) => `${name}=${formatCell(value)}`)
    .join(' ')

function measured(name: string, value: unknown): string {
  if (typeof value === 'number' && name.endsWith('bytes')) return readableBytes(value)
  if (name === 'viewport') {
    const { width, height } = mappingOf(value)
    return `${String(width)}x${String(height)}`
  }
  return formatCell(value)
}

const readableBytes = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} B`
    : bytes < 1024 ** 2
      ? `${(bytes / 1024).toFixed(1)} kB`
      : `${(bytes / 1024 ** 2).toFixed(1)} MB`

/** Cuts a line to the width of the terminal; output into a pipe stays whole. */
function fit(io: Io, line: string): string {
  const { isTTY, columns } = io.stdout
  return isTTY && columns && line.length > columns ? `${line.slice(0, columns - 1)}…` : line
}
