/** Parses script files, and maps values to their positions in the text. */
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLParseError,
} from 'yaml'
import { explainSyntax } from './explain-yaml.ts'

/** Keys and indices from the root of a document to one of its values. */
export type Path = readonly (string | number)[]

/** A range of the text; line and column count from 1. */
export interface Span {
  readonly line: number
  readonly column: number
  /** Number of characters to underline, all on the first line. */
  readonly length: number
}

/** The position of a step in its file. */
export interface Place {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** A part of a file, with the whole text of the file. */
export interface Position {
  readonly file: string
  readonly text: string
  readonly span: Span
}

/** One error of a script. */
export interface ScriptError {
  readonly message: string
  /** Absent for errors of the command line, and for files that cannot be read. */
  readonly position?: Position
}

/** A parsed file. */
export interface ScriptDocument {
  /** Path as given by the user, for errors and reports. */
  readonly file: string
  readonly text: string
  readonly value: unknown
  /** Returns the position of the value at a path, or of its nearest existing parent. */
  spanOf(path: Path): Span
  /** Returns the position of the key at a path. */
  spanOfKey(path: Path): Span
  /** Returns the position of a part of the text at a path; `start` counts characters of the value. */
  spanWithin(path: Path, start: number, length: number): Span
  /** Returns a number, boolean or text as it is written, such as `007`; undefined for other values. */
  sourceOf(path: Path): string | undefined
}

/** Parses YAML or JSON (which is YAML). Adds syntax errors to `errors` and then returns undefined. */
export function readDocument(file: string, source: string, errors: ScriptError[]): ScriptDocument | undefined {
  const text = source.replace(/^\uFEFF/, '')
  const lines = new LineCounter()
  const parsed = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true })
  const spanAt = (start: number, end: number): Span => {
    const { line, col } = lines.linePos(start)
    const endOfLine = text.indexOf('\n', start)
    const last = endOfLine < 0 ? text.length : endOfLine
    return { line, column: col, length: Math.max(1, Math.min(end, last) - start) }
  }
  for (const error of relevantErrors(parsed.errors)) {
    const { start, end, message } = explainSyntax(text, parsed, error)
    errors.push({ message, position: { file, text, span: spanAt(start, end) } })
  }
  const unresolved = parsed.errors.length > 0 ? [] : unresolvedAliases(parsed)
  for (const { range, source: anchor } of unresolved) {
    const message = `*${anchor}: no anchor above is named &${anchor}`
    errors.push({ message, position: { file, text, span: spanAt(range![0], range![1]) } })
  }
  const braces = parsed.errors.length > 0 ? [] : collectionKeys(parsed)
  for (const { range } of braces) {
    const written = text.slice(range![0] - 1, range![1] + 1)
    const message = `${written} is not text in YAML: write \${name} for a reference, or quote the text`
    errors.push({ message, position: { file, text, span: spanAt(range![0] - 1, range![1] + 1) } })
  }
  if (parsed.errors.length > 0 || unresolved.length > 0 || braces.length > 0) return undefined

  const rootSpan: Span = { line: 1, column: 1, length: 1 }
  const spanOfNode = (node: unknown): Span =>
    isNode(node) && node.range ? spanAt(node.range[0], node.range[1]) : rootSpan
  const spanOf = (path: Path) => spanOfNode(find(parsed.contents, path).value)
  return {
    file,
    text,
    value: parsed.toJS({ maxAliasCount: 1000 }),
    spanOf,
    spanOfKey(path) {
      const { key, value } = find(parsed.contents, path)
      return spanOfNode(key ?? value)
    },
    spanWithin(path, start, length) {
      const { value } = find(parsed.contents, path)
      const whole = spanOfNode(value)
      if (!isScalar(value) || !value.range || typeof value.value !== 'string') return whole
      const source = text.slice(value.range[0], value.range[1])
      // Escapes and folded lines shift characters. Then search the part in the source, or show the whole value.
      const verbatim = source.indexOf(value.value)
      const at = verbatim < 0 ? source.indexOf(value.value.slice(start, start + length)) : verbatim + start
      return at < 0 ? whole : spanAt(value.range[0] + at, value.range[0] + at + length)
    },
    sourceOf(path) {
      const resolved = (node: unknown) => (isAlias(node) ? node.resolve(parsed) : node)
      const value = path.reduce<unknown>((node, part) => resolved(child(node, part)?.value), resolved(parsed.contents))
      return isScalar(value) ? value.source : undefined
    },
  }
}

/** Returns the keys that are mappings or lists, as in `{{url}}`, which other tools write for a reference. */
function collectionKeys(document: Document.Parsed): Node[] {
  const found: Node[] = []
  visit(document, {
    Pair(_, { key }) {
      if (isMap(key) || isSeq(key)) found.push(key)
    },
  })
  return found
}

function unresolvedAliases(document: Document.Parsed): Alias[] {
  const found: Alias[] = []
  visit(document, {
    Alias(_, node) {
      if (!node.resolve(document)) found.push(node)
    },
  })
  return found
}

/** Returns the errors up to the first structural one; those after it are usually consequences. */
function relevantErrors(errors: readonly YAMLParseError[]): readonly YAMLParseError[] {
  const broken = errors.findIndex(({ code }) => code !== 'DUPLICATE_KEY')
  return broken < 0 ? errors : errors.slice(0, broken + 1)
}

interface Found {
  readonly key?: unknown
  readonly value: unknown
}

/** Returns the node at a path, or its nearest existing parent. */
function find(root: unknown, path: Path): Found {
  let found: Found = { value: root }
  for (const part of path) {
    const next = child(found.value, part)
    if (next === undefined) return found
    found = next
  }
  return found
}

function child(node: unknown, part: string | number): Found | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => (isScalar(key) ? String(key.value) : String(key)) === String(part))
    if (!isPair(pair)) return undefined
    // A key without a value (`- get_title:`) has no position of its own.
    const empty = pair.value === null || (isScalar(pair.value) && pair.value.source === '')
    return { key: pair.key, value: empty ? pair.key : pair.value }
  }
  if (isSeq(node) && typeof part === 'number') {
    const item = node.items[part]
    return item === undefined ? undefined : { value: item }
  }
  // Errors point to the alias, not to the anchor.
  return isAlias(node) ? { value: node as Node } : undefined
}

/** Parses a path such as `data.items[0].key`, as in schema errors, to keys and indices. */
export function pathOf(text: string): Path {
  return [...text.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) => (index ? Number(index) : key!))
}
