/** Collects the errors of scripts, and formats them with file:line:column, the line itself, and a caret. */
import { type Path, readDocument, type ScriptDocument, type Span } from './document.ts'
import type { Place } from './plan.ts'

/** One error of a script. */
export interface ScriptError {
  readonly file: string
  readonly text: string
  readonly span: Span
  readonly message: string
}

/** Collects the errors of one document. */
export class ScriptErrorList {
  readonly document: ScriptDocument
  readonly #errors: ScriptError[]

  constructor(document: ScriptDocument, errors: ScriptError[]) {
    this.document = document
    this.#errors = errors
  }

  /** Returns the position of the value at `path`. */
  placeOf(path: Path): Place {
    const { line, column } = this.document.spanOf(path)
    return { file: this.document.file, line, column }
  }

  /** Number of errors in all files. */
  get count(): number {
    return this.#errors.length
  }

  /** Adds an error of the value at `path`. */
  add(path: Path, message: string): void {
    this.#push(this.document.spanOf(path), message)
  }

  /** Adds an error of the key at `path`. */
  addKey(path: Path, message: string): void {
    this.#push(this.document.spanOfKey(path), message)
  }

  /** Adds an error of a part of the text at `path`. */
  addWithin(path: Path, start: number, length: number, message: string): void {
    this.#push(this.document.spanWithin(path, start, length), message)
  }

  /** Parses an included file and returns its list; undefined, with an added error, when it is invalid. */
  parse(file: string, text: string): ScriptErrorList | undefined {
    const document = readDocument(file, text, this.#errors)
    return document && new ScriptErrorList(document, this.#errors)
  }

  #push(span: Span, message: string): void {
    const { file, text } = this.document
    // A file that is included twice would report its errors twice.
    const known = this.#errors.some(
      (error) =>
        error.file === file &&
        error.message === message &&
        error.span.line === span.line &&
        error.span.column === span.column,
    )
    if (!known) this.#errors.push({ file, text, span, message })
  }
}

/** Formats errors as `file:line:column: message`, the line and a caret, in the order of the text. */
export function renderErrors(errors: readonly ScriptError[]): string {
  return errors
    .toSorted((a, b) => a.file.localeCompare(b.file) || a.span.line - b.span.line || a.span.column - b.span.column)
    .map(renderError)
    .join('\n')
}

/** Maximum length of the shown part of a line. */
const width = 110

function renderError({ file, text, span, message }: ScriptError): string {
  const line = (text.split('\n')[span.line - 1] ?? '').replace(/\r$/, '')
  // In long lines, such as JSON on one line, show only the surroundings of the error.
  const from = span.column > width - 20 ? span.column - 41 : 0
  const cut = (from > 0 ? '…' : '') + line.slice(from, from + width) + (line.length > from + width ? '…' : '')
  const column = span.column - 1 - from + (from > 0 ? 1 : 0)
  const gutter = `${span.line} | `
  // Keep tabs, so that the caret is aligned with its character.
  const indent = cut.slice(0, column).replaceAll(/[^\t]/g, ' ')
  const carets = '^'.repeat(Math.max(1, Math.min(span.length, cut.length - column)))
  return [
    `${file}:${span.line}:${span.column}: ${message}`,
    `  ${gutter}${cut}`,
    `  ${' '.repeat(gutter.length - 2)}| ${indent}${carets}`,
    '',
  ].join('\n')
}
