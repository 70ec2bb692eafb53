/** Parses and replaces references such as `${name.key[0]}` in the values of a script. */
import type { Path } from './document.ts'
import type { ScriptErrorList } from './script-errors.ts'

/** One `${…}` of a text. */
export interface Reference {
  /** Source text, such as `${user.name}`. */
  readonly source: string
  /** First name: `vars`, `env`, `run`, `session`, or a name that a step saved. */
  readonly root: string
  /** Keys and indices after the root. */
  readonly path: Path
  /** Path of its text in the document, and its position in the text. */
  readonly at: Path
  readonly start: number
}

/** A parsed value of a script, with its references. */
export type Template =
  /** `source` is the text of a number or boolean in the script, such as `007`. */
  | { readonly kind: 'value'; readonly value: unknown; readonly source?: string }
  /** `isItem`: a list as it is, and any other value as a list of one. */
  | { readonly kind: 'reference'; readonly reference: Reference; readonly isItem?: boolean }
  | { readonly kind: 'text'; readonly parts: readonly (string | Reference)[] }
  | { readonly kind: 'list'; readonly items: readonly Template[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [string, Template])[] }

/** Placeholder for a value that is known only when the script runs. */
export const placeholder: unique symbol = Symbol('known when the script runs')

/** Placeholder for a missing environment variable in a check, which needs none. */
export const unsetVariable: unique symbol = Symbol('environment variable that is not set')

/** Whether a value is unknown before the run. */
export const isPlaceholder = (value: unknown): boolean => value === placeholder || value === unsetVariable

/** Parses the references in a value; `at` is its path in the document. Reports text that only looks like one. */
export function parseTemplate(value: unknown, at: Path, errors: ScriptErrorList): Template {
  if (typeof value === 'string') return parseText(value, at, errors)
  if (Array.isArray(value)) {
    return { kind: 'list', items: value.map((item, index) => parseTemplate(item, [...at, index], errors)) }
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(
      ([key, item]) => [key, parseTemplate(item, [...at, key], errors)] as const,
    )
    return { kind: 'map', entries }
  }
  const isPlain = typeof value === 'number' || typeof value === 'boolean'
  return { kind: 'value', value, ...(isPlain && { source: errors.document.sourceOf(at) }) }
}

/** Matches `$${` (a literal `${`), `${…}` (a reference), and an unclosed `${`. */
const token = /\$\$\{|\$\{([^{}]*)\}|\$\{/g
const inside = /^\s*([A-Za-z_][\w-]*)((?:\.[A-Za-z_][\w-]*|\[\d+\]|\[(?:"[^"]*"|'[^']*')\])*)\s*$/

function parseText(text: string, at: Path, errors: ScriptErrorList): Template {
  const parts: (string | Reference)[] = []
  let end = 0
  let literal = ''
  for (const match of text.matchAll(token)) {
    const [source, content] = match
    literal += text.slice(end, match.index)
    end = match.index + source.length
    if (source === '$${') {
      literal += '${'
      continue
    }
    const parsed = content === undefined ? null : inside.exec(content)
    if (!parsed) {
      const closed = content === undefined ? 'is not closed' : 'is not a reference'
      errors.addWithin(
        at,
        match.index,
        source.length,
        `${source} ${closed}: write \${name}, \${name.key} or \${name[0]}, and $\${ for a literal \${`,
      )
      continue
    }
    if (literal) parts.push(literal)
    literal = ''
    parts.push({ source, root: parsed[1]!, path: keysOf(parsed[2]!), at, start: match.index })
  }
  literal += text.slice(end)
  if (literal) parts.push(literal)
  const [first] = parts
  if (parts.length === 1 && typeof first === 'object') return { kind: 'reference', reference: first }
  return parts.some((part) => typeof part === 'object')
    ? { kind: 'text', parts }
    : { kind: 'value', value: parts.join('') }
}

const keysOf = (text = ''): Path =>
  [...text.matchAll(/\.([\w-]+)|\[(\d+)\]|\["([^"]*)"\]|\['([^']*)'\]/g)].map(([, key, index, double, single]) =>
    index === undefined ? (key ?? double ?? single ?? '') : Number(index),
  )

/** Parses `items[0].name` to keys and indices; undefined for other texts. */
export function parsePath(text: string): Path | undefined {
  const match = inside.exec(`x${text === '' || text.startsWith('[') ? '' : '.'}${text}`)
  return match ? keysOf(match[2]) : undefined
}

/** Returns every reference of a template, in order. */
export function referencesOf(template: Template): Reference[] {
  const found: Reference[] = []
  fill(template, (reference) => found.push(reference))
  return found
}

/** Resolves a template. A value that is a single reference keeps its type; inside text it becomes text. */
export function fill(template: Template, resolve: (reference: Reference) => unknown): unknown {
  switch (template.kind) {
    case 'value':
      return template.value
    case 'reference': {
      const value = resolve(template.reference)
      return template.isItem && !Array.isArray(value) && !isPlaceholder(value) ? [value] : value
    }
    case 'text': {
      const texts = template.parts.map((part) => (typeof part === 'string' ? part : resolve(part)))
      return [placeholder, unsetVariable].find((unknown) => texts.includes(unknown)) ?? texts.map(asText).join('')
    }
    case 'list':
      return template.items.map((item) => fill(item, resolve))
    case 'map':
      return Object.fromEntries(template.entries.map(([key, item]) => [key, fill(item, resolve)]))
  }
}

/** Formats a value inside a text: texts unchanged, everything else as JSON. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The value at a path, or the last existing value on the path. */
export type Picked =
  | { readonly found: true; readonly value: unknown }
  | { readonly found: false; readonly holder: unknown; readonly key: string | number; readonly before: Path }

/** Looks up a path in a value; lists and texts have a `length`. */
export function pick(value: unknown, path: Path): Picked {
  let current = value
  for (const [depth, key] of path.entries()) {
    if (isPlaceholder(current)) return { found: true, value: current }
    const has = current !== null && current !== undefined && Object.hasOwn(Object(current), key)
    if (!has) return { found: false, holder: current, key, before: path.slice(0, depth) }
    current = Object(current)[key]
  }
  return { found: true, value: current }
}

/** Formats a path: `user.items[0]["first name"]`. */
export const pathText = (root: string, path: Path): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return /^[A-Za-z_][\w-]*$/.test(part) ? `${text ? `${text}.` : ''}${part}` : `${text}[${JSON.stringify(part)}]`
  }, root)

/** Whether a value, or a part of it, is unknown before the run. */
export const hasPlaceholder = (value: unknown): boolean => contains(value, isPlaceholder)

/** Whether a value, or a part of it, is known only when the script runs, whatever the environment contains. */
export const dependsOnSteps = (value: unknown): boolean => contains(value, (part) => part === placeholder)

function contains(value: unknown, test: (part: unknown) => boolean): boolean {
  if (test(value)) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((part) => contains(part, test))
}
