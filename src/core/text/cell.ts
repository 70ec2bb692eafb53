/** Formats a value as one line for tables and events. */
import { replaceRuns } from './pieces.ts'

export function formatCell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'string') return replaceRuns(value, /\s+/g, ' ')
  if (typeof value === 'object' && Object.keys(value).length === 0) return '-'
  if (isShare(value)) return `${value.used}/${value.total}`
  if (isNames(value)) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A list of short texts, such as scopes or labels. */
const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string' && shortText.test(item))

/** Without commas, which separate the texts, and without line breaks. */
const shortText = /^[^,\p{Cc}]{1,40}$/u

/** A used part of a total, such as the slots of a worker. */
const isShare = (value: unknown): value is { readonly used: number; readonly total: number } =>
  typeof value === 'object' && Object.keys(value!).join() === 'used,total'
