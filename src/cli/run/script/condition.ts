/** Parses and evaluates `when:`: a reference, optionally after `!`, or a comparison with `==` or `!=`. */
import type { Path } from './document.ts'
import { referencesOf, type Template } from './references.ts'
import { readTemplate, resolveTemplate, type RunScope, type StaticScope, UnresolvedReference } from './scope.ts'

/** A parsed condition. */
export interface Condition {
  /** The source text, for the report of a skipped step. */
  readonly source: string
  readonly negated: boolean
  readonly left: Template
  readonly compare?: { readonly equal: boolean; readonly right: Template }
}

const word = String.raw`\$\{[^{}]*\}|"[^"]*"|'[^']*'|[^\s!=&|()"'$]+`
const form = new RegExp(String.raw`^\s*(!?)\s*(${word})\s*(?:(==|!=)\s*(${word})\s*)?$`)

/** Parses the condition of a step, and reports its errors. */
export function parseCondition(value: unknown, at: Path, scope: StaticScope): Condition | undefined {
  if (typeof value === 'boolean') return { source: String(value), negated: false, left: { kind: 'value', value } }
  if (typeof value !== 'string') {
    scope.errors.add(at, 'when must be a reference, a comparison, or true or false')
    return undefined
  }
  const match = form.exec(value)
  if (!match || (match[1] === '!' && match[3])) {
    scope.errors.add(at, 'when must be "${name}", "!${name}", "${name} == value" or "${name} != value"')
    return undefined
  }
  const [source, not, left = '', operator, right = ''] = match
  const operand = (text: string) => readTemplate(literal(text), at, scope)
  return {
    source: source.trim(),
    negated: not === '!',
    left: operand(left),
    ...(operator && { compare: { equal: operator === '==', right: operand(right) } }),
  }
}

/** Parses `'text'`, `3`, `true` and `null`; any other word is text. */
function literal(text: string): unknown {
  if (/^["']/.test(text)) return text.slice(1, -1)
  if (/^(true|false|null|-?\d+(\.\d+)?)$/.test(text)) return JSON.parse(text)
  return text
}

/** Whether a condition refers to a name. */
export const refersTo = ({ left, compare }: Condition, name: string): boolean =>
  [left, ...(compare ? [compare.right] : [])].flatMap(referencesOf).some(({ root }) => root === name)

/** Evaluates a condition. Names that no step has saved count as null. */
export function holds(condition: Condition, scope: RunScope): boolean {
  const left = valueOf(condition.left, scope)
  const { compare } = condition
  if (!compare) return isTrue(left) !== condition.negated
  return same(left, valueOf(compare.right, scope)) === compare.equal
}

function valueOf(template: Template, scope: RunScope): unknown {
  try {
    return resolveTemplate(template, scope)
  } catch (error) {
    if (error instanceof UnresolvedReference) return null
    throw error
  }
}

/** Converts a value to a boolean. `false` and `0` are also false as text: environment variables and `--var` are texts. */
function isTrue(value: unknown): boolean {
  if (typeof value === 'string') return !['', 'false', '0'].includes(value)
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** Compares values as text, for the same reason: `"3"` equals `3`. */
const same = (left: unknown, right: unknown): boolean => plain(left) === plain(right)

const plain = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))
