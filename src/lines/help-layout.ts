/** Layout of help pages: a column of terms and one of descriptions, within the width of the terminal. */
import { wrap } from '../core/text/wrap.ts'

/** Width of help pages in files and pipes, in characters. */
export const plainWidth = 80

const narrowest = 60
/** Longer lines are hard to read. */
const widest = 120

/** Returns the width of help pages on an output. */
export function helpWidth({ isTTY, columns }: { readonly isTTY?: boolean; readonly columns?: number }): number {
  if (!isTTY || !columns) return plainWidth
  return Math.min(widest, Math.max(narrowest, columns))
}

/** Number of characters before a term, and between a term and its description. */
const gap = 2

/** Returns the width of the column of terms: that of the longest one that leaves most of the line to descriptions. */
export function termColumn(terms: readonly string[], width: number): number {
  const most = Math.floor(width * 0.4)
  return Math.max(0, ...terms.map(({ length }) => length).filter((length) => length <= most))
}

/** Formats a term and its description; a term that is wider than the column has a line of its own. */
export function helpItem(term: string, column: number, description: string, width: number): string {
  const left = ' '.repeat(gap) + term
  if (description === '') return left
  const indent = `\n${' '.repeat(column + 2 * gap)}`
  const right = lines(description, width - column - 2 * gap).join(indent)
  return term.length > column ? left + indent + right : left.padEnd(column + 2 * gap) + right
}

/** Formats items below each other. */
export function helpItems(items: readonly (readonly [term: string, description: string])[], width: number): string[] {
  const column = termColumn(
    items.map(([term]) => term),
    width,
  )
  return items.map(([term, description]) => helpItem(term, column, description, width))
}

/** Formats a paragraph. */
export const helpText = (text: string, width: number): string => lines(text, width).join('\n')

/** Formats the examples of a help page, which are not wrapped, so that they can be copied. */
export function helpExamples(examples: readonly string[]): string[] {
  if (examples.length === 0) return []
  return ['', examples.length > 1 ? 'Examples:' : 'Example:', ...examples.map((example) => `  ${example}`)]
}

function lines(text: string, width: number): string[] {
  const words = text.split(/\s+/).map((word) => ({ shown: word, length: word.length }))
  return wrap(words, width).map(({ shown }) => shown)
}
