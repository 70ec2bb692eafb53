/** Mistakes of a script as a reader wants them: file:line:column, the line itself, and a caret. */
import { type Path, readDocument, type ScriptDocument, type Span } from './document.ts'

/** One mistake at one place. */
export interface Fault {
  readonly file: string
  readonly text: string
  readonly span: Span
  readonly message: string
}

/** Gathers the mistakes of one document. */
export class FaultList {
  readonly document: ScriptDocument
  readonly #faults: Fault[]

  constructor(document: ScriptDocument, faults: Fault[]) {
    this.document = document
    this.#faults = faults
  }

  /** How many there are, in all files. */
  get count(): number {
    return this.#faults.length
  }

  /** A mistake in the value at `path`. */
  add(path: Path, message: string): void {
    this.#push(this.document.spanOf(path), message)
  }

  /** A mistake in the key at `path`. */
  addKey(path: Path, message: string): void {
    this.#push(this.document.spanOfKey(path), message)
  }

  /** A mistake in a part of the text at `path`. */
  addWithin(path: Path, start: number, length: number, message: string): void {
    this.#push(this.document.spanWithin(path, start, length), message)
  }

  /** The same list for a file that this one includes; undefined when that cannot be parsed, which is added. */
  parse(file: string, text: string): FaultList | undefined {
    const document = readDocument(file, text, this.#faults)
    return document && new FaultList(document, this.#faults)
  }

  #push(span: Span, message: string): void {
    const { file, text } = this.document
    // A file included twice has its mistakes once.
    const known = this.#faults.some(
      (fault) =>
        fault.file === file &&
        fault.message === message &&
        fault.span.line === span.line &&
        fault.span.column === span.column,
    )
    if (!known) this.#faults.push({ file, text, span, message })
  }
}

/** `file:line:column: message`, the line and a caret, in the order of the text. */
export function renderFaults(faults: readonly Fault[]): string {
  return faults
    .toSorted((a, b) => a.file.localeCompare(b.file) || a.span.line - b.span.line || a.span.column - b.span.column)
    .map(renderFault)
    .join('\n')
}

/** Longest piece of a line that is shown. */
const width = 110

function renderFault({ file, text, span, message }: Fault): string {
  const line = (text.split('\n')[span.line - 1] ?? '').replace(/\r$/, '')
  // Far right in a long line (JSON on one line, say) only the neighbourhood of the mistake is shown.
  const from = span.column > width - 20 ? span.column - 41 : 0
  const cut = (from > 0 ? '…' : '') + line.slice(from, from + width) + (line.length > from + width ? '…' : '')
  const column = span.column - 1 - from + (from > 0 ? 1 : 0)
  const gutter = `${span.line} | `
  // Tabs stay tabs, so that the caret stands below its character.
  const indent = cut.slice(0, column).replaceAll(/[^\t]/g, ' ')
  const carets = '^'.repeat(Math.max(1, Math.min(span.length, cut.length - column)))
  return [
    `${file}:${span.line}:${span.column}: ${message}`,
    `  ${gutter}${cut}`,
    `  ${' '.repeat(gutter.length - 2)}| ${indent}${carets}`,
    '',
  ].join('\n')
}
