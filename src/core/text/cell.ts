/** Formats a value as one line for tables and events. */
export function formatCell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'string') return value.replaceAll(/\s+/g, ' ')
  if (typeof value === 'object' && Object.keys(value).length === 0) return '-'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
