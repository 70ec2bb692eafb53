/** Converts texts of results to one line of plain text. */
import { treeFromHtml } from '../extract/html-tree.ts'
import { visibleText } from '../extract/tree.ts'

/** Converts HTML such as `<strong>Go</strong> &amp; Rust`. */
export const textOfHtml = (value: unknown): string =>
  typeof value === 'string' ? oneLine(visibleText(treeFromHtml(value, 'about:blank').root)) : ''

/** Converts plain text; returns an empty string for other values. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? oneLine(value) : '')

/** Collapses all white space, including no-break spaces. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
