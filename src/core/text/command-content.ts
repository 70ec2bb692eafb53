/** Printable content of the results of browser commands. */
import type { CommandEntry } from '../../operations/manifest.ts'
import type { CommandResult } from '../shapes/commands.ts'

/** Printable content of one result. */
export type Content =
  | { readonly text: string; readonly table?: { readonly rows: Row[]; readonly columns: readonly string[] } }
  | { readonly bytes: Buffer; readonly extension: string }

/** Returns the printable content of a result, if it has any. */
export function contentOf(
  { command_type, content_type, data }: CommandResult,
  entry: CommandEntry | undefined,
): Content | undefined {
  if (!data) return undefined
  const bytes = entry?.bytes && data[entry.bytes]
  if (typeof bytes === 'string') {
    if (typeof data['path'] === 'string') return { text: data['path'] }
    return { bytes: Buffer.from(bytes, 'base64'), extension: content_type?.split('/')[1] ?? 'bin' }
  }
  if (entry?.stores) return { text: String(data[entry.stores]) }
  if (command_type !== 'extraction') return entry?.prints ? { text: text(data[entry.prints]) } : undefined
  const result = data['result'] as { type: string; value: unknown } | undefined
  const rows = entry?.table && rowsOf(result?.value, entry.table.items)
  if (rows) return { text: text(result!.value), table: { rows, columns: entry.table!.columns } }
  if (result)
    return { text: result.type === 'nan' ? 'NaN' : result.type === 'undefined' ? 'undefined' : text(result.value) }
  return { text: text(Object.hasOwn(data, 'content') ? data['content'] : data) }
}

type Row = Record<string, unknown>

/** Returns the rows of a table in a result. */
function rowsOf(value: unknown, items: string | undefined): Row[] | undefined {
  const list = items === undefined ? value : (value as Row | undefined)?.[items]
  return Array.isArray(list) ? (list as Row[]) : undefined
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))
