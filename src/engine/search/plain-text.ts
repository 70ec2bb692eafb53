/** Texts of results as one line of plain text. */
import { treeFromHtml } from '../extract/html-tree.ts'
import { visibleText } from '../extract/tree.ts'

/** Text that came as HTML: `<strong>Go</strong> &amp; Rust`. */
export const textOfHtml = (value: unknown): string =>
  typeof value === 'string' ? oneLine(visibleText(treeFromHtml(value, 'about:blank').root)) : ''

/** Text that came as it is, where it is one. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? oneLine(value) : '')

/** Any white space, the no-break space too, as single spaces. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
