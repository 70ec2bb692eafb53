/** Collects the errors of scripts, and groups identical ones. */
import {
  type Path,
  type Place,
  type Position,
  readDocument,
  type ScriptDocument,
  type ScriptError,
  type Span,
} from './document.ts'
import { misplacedOption } from './explain-yaml.ts'

/** The same error in one or several positions; in none for errors without a position. */
export interface ErrorGroup {
  readonly message: string
  readonly positions: readonly Position[]
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

  /** Explains where the option of a step at `path` belongs; undefined when it is not one at a wrong place. */
  misplaced(path: Path): string | undefined {
    return misplacedOption(this.document.text.split('\n'), this.document.spanOfKey(path).line)
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
      ({ message: other, position }) =>
        position?.file === file &&
        other === message &&
        position.span.line === span.line &&
        position.span.column === span.column,
    )
    if (!known) this.#errors.push({ message, position: { file, text, span } })
  }
}

/** Groups errors by message: first those without a position, then the others in the order of the files and texts. */
export function groupErrors(errors: readonly ScriptError[]): ErrorGroup[] {
  const groups = new Map<string, Position[]>()
  for (const { message, position } of errors.toSorted(byPosition)) {
    const positions = groups.get(message) ?? []
    groups.set(message, position ? [...positions, position] : positions)
  }
  return [...groups].map(([message, positions]) => ({ message, positions }))
}

function byPosition({ position: a }: ScriptError, { position: b }: ScriptError): number {
  if (!a || !b) return Number(a !== undefined) - Number(b !== undefined)
  return a.file.localeCompare(b.file) || a.span.line - b.span.line || a.span.column - b.span.column
}
