/** `when:` a reference, `!` before it, or two values compared with `==` or `!=`. */
import type { Path } from './document.ts'
import type { FaultList } from './script-errors.ts'
import { referencesOf, type Template } from './references.ts'
import { type RunScope, type StaticScope, UnresolvedReference } from './scope.ts'

/** A parsed condition. */
export interface Condition {
  /** As written, for the report of a skipped step. */
  readonly source: string
  readonly negated: boolean
  readonly left: Template
  readonly compare?: { readonly equal: boolean; readonly right: Template }
}

const word = String.raw`\$\{[^{}]*\}|"[^"]*"|'[^']*'|[^\s!=&|()"'$]+`
const form = new RegExp(String.raw`^\s*(!?)\s*(${word})\s*(?:(==|!=)\s*(${word})\s*)?$`)

/** Reads the condition of a step; what is wrong with it goes to `faults`. */
export function parseCondition(value: unknown, at: Path, scope: StaticScope, faults: FaultList): Condition | undefined {
  if (typeof value === 'boolean') return { source: String(value), negated: false, left: { kind: 'value', value } }
  if (typeof value !== 'string') {
    faults.add(at, 'when must be a reference, a comparison, or true or false')
    return undefined
  }
  const match = form.exec(value)
  if (!match || (match[1] === '!' && match[3])) {
    faults.add(at, 'when must be "${name}", "!${name}", "${name} == value" or "${name} != value"')
    return undefined
  }
  const [source, not, left, operator, right] = match
  const operand = (text: string) => scope.template(literal(text), at)
  return {
    source: source.trim(),
    negated: not === '!',
    left: operand(left!),
    ...(operator && { compare: { equal: operator === '==', right: operand(right!) } }),
  }
}

/** `'text'`, `3`, `true` and `null` as values; a bare word is a text. */
function literal(text: string): unknown {
  if (/^["']/.test(text)) return text.slice(1, -1)
  if (/^(true|false|null|-?\d+(\.\d+)?)$/.test(text)) return JSON.parse(text) as unknown
  return text
}

/** Whether a condition is about this name. */
export const refersTo = ({ left, compare }: Condition, name: string): boolean =>
  [left, ...(compare ? [compare.right] : [])].flatMap(referencesOf).some(({ reference }) => reference.root === name)

/** Whether the step runs. What no step has saved counts as null here. */
export function holds(condition: Condition, scope: RunScope): boolean {
  const left = valueOf(condition.left, scope)
  const { compare } = condition
  if (!compare) return isTrue(left) !== condition.negated
  return same(left, valueOf(compare.right, scope)) === compare.equal
}

function valueOf(template: Template, scope: RunScope): unknown {
  try {
    return scope.fill(template)
  } catch (error) {
    if (error instanceof UnresolvedReference) return null
    throw error
  }
}

/** Variables from the environment and the command line are texts: `false` and `0` mean no there too. */
function isTrue(value: unknown): boolean {
  if (typeof value === 'string') return !['', 'false', '0'].includes(value)
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** For the same reason `"3"` equals `3`. */
const same = (left: unknown, right: unknown): boolean => plain(left) === plain(right)

const plain = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))
