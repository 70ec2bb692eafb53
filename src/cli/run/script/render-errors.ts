/** Formats errors of scripts: file:line:column, the message, the line itself, and a caret. */
import type { Position, ScriptError } from './document.ts'
import { type ErrorGroup, groupErrors } from './script-errors.ts'

/** Formats errors in the order of the files and texts; identical ones are printed once, with all their positions. */
export const renderErrors = (errors: readonly ScriptError[]): string => groupErrors(errors).map(renderGroup).join('\n')

/** Maximum number of further positions of an error. */
const maxOthers = 5

function renderGroup({ message, positions: [first, ...others] }: ErrorGroup): string {
  if (!first) return `${message}\n`
  const shown = others.slice(0, maxOthers).map(placeText)
  const rest = others.length > maxOthers ? [`and ${others.length - maxOthers} more`] : []
  return [
    `${placeText(first)}: ${message}`,
    ...excerpt(first),
    ...(others.length > 0 ? [`  also at ${[shown.join(', '), ...rest].join(' ')}`] : []),
    '',
  ].join('\n')
}

const placeText = ({ file, span }: Position): string => `${file}:${span.line}:${span.column}`

/** Maximum length of the shown part of a line. */
const width = 110

function excerpt({ text, span }: Position): string[] {
  const line = (text.split('\n')[span.line - 1] ?? '').replace(/\r$/, '')
  // In long lines, such as JSON on one line, show only the surroundings of the error.
  const from = span.column > width - 20 ? span.column - 41 : 0
  const cut = (from > 0 ? '…' : '') + line.slice(from, from + width) + (line.length > from + width ? '…' : '')
  const column = span.column - 1 - from + (from > 0 ? 1 : 0)
  const gutter = `${span.line} | `
  // Keep tabs, so that the caret is aligned with its character.
  const indent = cut.slice(0, column).replaceAll(/[^\t]/g, ' ')
  const carets = '^'.repeat(Math.max(1, Math.min(span.length, cut.length - column)))
  return [`  ${gutter}${cut}`, `  ${' '.repeat(gutter.length - 2)}| ${indent}${carets}`]
}
