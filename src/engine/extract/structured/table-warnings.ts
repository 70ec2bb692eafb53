/** Warnings about tables of a page that a result does not show, or not completely. */
import type { Collection } from './collections.ts'
import { maxRecords as maxOverview } from './overview.ts'
import { isRecord } from './shape.ts'

const maxColumns = 12
const maxWarnings = 5

/** Returns what a page's tables have that the value extracted from them does not. */
export function tableWarnings(collections: readonly Collection[], value: unknown, hasSchema: boolean): string[] {
  const tables = collections.filter(({ table }) => table !== undefined)
  const shown = tables.filter(({ records }) => records.length > 0)
  const partial = tables.flatMap((table) => missingRows(table, hasSchema ? table.records.length : maxOverview))
  const lists = hasSchema && shown.length > 0 ? emptyLists(value) : []
  const unread = lists.map(
    (path) => `${path || 'the value'} is empty, but the page shows ${shown.map(named).join(' and ')}`,
  )
  return [...unread, ...partial].slice(0, maxWarnings)
}

function missingRows({ table, label, records }: Collection, most: number): string[] {
  const { columns, rendered, total } = table!
  const name = named({ table, label })
  if (rendered === 0 && columns.length > 0) return [`the page shows ${name} without rows`]
  const read = Math.min(records.length, most)
  return [
    ...(total > rendered
      ? [
          `the page has rendered ${rendered} of the ${total} rows of ${name}: scroll or turn to the others and extract them then`,
        ]
      : []),
    ...(read < rendered ? [`the result has the first ${read} of the ${rendered} rows of ${name}`] : []),
  ]
}

function named({ table, label }: Pick<Collection, 'table' | 'label'>): string {
  const { columns } = table!
  const title = label === '' ? '' : ` ${JSON.stringify(label)}`
  const names = columns.slice(0, maxColumns).join(', ')
  return `a table${title}${names === '' ? '' : ` with the columns ${names}${columns.length > maxColumns ? ', …' : ''}`}`
}

/** Returns the paths of the empty lists in a value. */
function emptyLists(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [path] : []
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, field]) => emptyLists(field, path === '' ? name : `${path}.${name}`))
}
