/** Resolves the names that a script can refer to, before it runs and while it runs. */
import { didYouMean } from '../../../core/errors/suggest.ts'
import type { Path } from './document.ts'
import type { ScriptErrorList } from './script-errors.ts'
import {
  fill,
  placeholder,
  parseTemplate,
  pathText,
  pick,
  type Picked,
  type Reference,
  referencesOf,
  type Template,
  unsetVariable,
} from './references.ts'

/** Roots that no step may save under. */
export const reserved: readonly unknown[] = ['vars', 'env', 'run', 'session']

/** Values that are the same for all steps of a script. */
export interface RunInputs {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly runId: string
}

/** The names while a script is checked; values that steps will save are placeholders. */
export interface StaticScope {
  readonly given: RunInputs
  /** Whether the script is only checked, for which missing environment variables are no errors. */
  readonly checkOnly: boolean
  /** Receives the errors of the file. */
  readonly errors: ScriptErrorList
  readonly vars: Record<string, unknown>
  /** Names that earlier steps save; shared by the scopes of a script. */
  readonly saved: Set<string>
  /** Names of the enclosing loops. */
  readonly loops: ReadonlySet<string>
  /** Collects the names of all variables that are referred to. */
  readonly used: Set<string>
}

/** Parses a value of the document and checks every reference in it. */
export function readTemplate(value: unknown, at: Path, scope: StaticScope): Template {
  const { errors } = scope
  const template = parseTemplate(value, at, errors)
  for (const reference of referencesOf(template)) {
    if (reference.root === 'vars') scope.used.add(String(reference.path[0]))
    const message = errorOf(reference, scope)
    if (message) errors.addWithin(reference.at, reference.start, reference.source.length, message)
  }
  reportBraces(value, at, scope)
  return template
}

/** Reports `{{url}}`, the syntax of other tools, if the script defines the name; other text with braces is literal. */
function reportBraces(value: unknown, at: Path, scope: StaticScope): void {
  if (typeof value === 'object' && value !== null) {
    const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
    for (const [key, item] of entries) reportBraces(item, [...at, key], scope)
  }
  if (typeof value !== 'string') return
  for (const { index, 0: source, 1: name = '' } of value.matchAll(/\{\{\s*([A-Za-z_][\w.-]*)\s*\}\}/g)) {
    const root = name.split('.', 1)[0]!
    const isKnown = scope.saved.has(root) || scope.loops.has(root) || reserved.includes(root)
    const meant = isKnown ? name : Object.hasOwn(scope.vars, root) ? `vars.${name}` : undefined
    if (meant !== undefined)
      scope.errors.addWithin(at, index, source.length, `${source} is not a reference: write \${${meant}}`)
  }
}

/** Returns the value of a template as far as it is known before the run. */
export const knownValue = (template: Template, scope: StaticScope): unknown =>
  fill(template, (reference) => {
    const picked = pickKnown(reference, scope)
    return picked.found ? picked.value : placeholder
  })

function pickKnown({ root, path }: Reference, { checkOnly, given, vars }: StaticScope): Picked {
  if (root === 'vars') return pick(vars, path)
  if (root === 'env' && path.length === 1) {
    const picked = pick(definedOnly(given.env), path)
    return checkOnly && !picked.found ? { found: true, value: unsetVariable } : picked
  }
  if (root === 'run') return pick({ id: given.runId }, path)
  if (root === 'session') return pick({ id: placeholder }, path)
  return { found: true, value: placeholder }
}

function errorOf(reference: Reference, scope: StaticScope): string | undefined {
  const { source, root, path } = reference
  const { saved, loops, vars } = scope
  if (!reserved.includes(root)) {
    if (saved.has(root) || loops.has(root)) return undefined
    if (Object.hasOwn(vars, root)) return `${source} is not defined (did you mean "vars.${root}"?)`
    // Very short names resemble each other too often.
    const hint = root.length > 2 ? didYouMean(root, [...saved, ...loops]) : ''
    return `${source} is not defined${hint || `: no earlier step saves "${root}" (write $\${ for a literal \${)`}`
  }
  if (root === 'env' && path.length !== 1) return `${source}: write \${env.NAME}`
  const picked = pickKnown(reference, scope)
  return picked.found ? undefined : missing(source, root, picked)
}

/** Formats the error of a missing key: `${user.nme}: user has no "nme" (did you mean "name"?)`. */
function missing(source: string, root: string, { holder, key, before }: Picked & { found: false }): string {
  if (root === 'env') return `${source}: environment variable ${key} is not set`
  const owner = pathText(root, before)
  if (holder === null || typeof holder !== 'object') {
    return `${source}: ${owner} is ${holder === null ? 'null' : `a ${typeof holder}`}, which has no ${JSON.stringify(key)}`
  }
  if (Array.isArray(holder)) return `${source}: ${owner} has ${holder.length} items, but no ${JSON.stringify(key)}`
  return `${source}: ${owner} has no ${JSON.stringify(key)}${didYouMean(String(key), Object.keys(holder))}`
}

const definedOnly = (env: RunInputs['env']) =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined))

/** The error of a reference without a value at run time. */
export class UnresolvedReference extends Error {}

/** The values of names while a script runs. */
export interface RunScope {
  readonly given: RunInputs
  readonly vars: Readonly<Record<string, unknown>>
  /** Saved results by name; shared by a script and its included files. */
  readonly saved: Map<string, unknown>
  /** Items of the enclosing loops by name. */
  readonly items: ReadonlyMap<string, unknown>
  readonly sessionId: () => string | undefined
}

/** Resolves a template. @throws UnresolvedReference when a reference has no value. */
export const resolveTemplate = (template: Template, scope: RunScope): unknown =>
  fill(template, ({ source, root, path }) => {
    const picked = pick(valueOf(root, source, scope), path)
    if (!picked.found) throw new UnresolvedReference(missing(source, root, picked))
    return picked.value
  })

function valueOf(root: string, source: string, { given, vars, saved, items, sessionId }: RunScope): unknown {
  if (root === 'vars') return vars
  if (root === 'env') return definedOnly(given.env)
  if (root === 'run') return { id: given.runId }
  if (root === 'session') return { id: sessionId() ?? null }
  const found = [items, saved].find((values) => values.has(root))
  if (found) return found.get(root)
  throw new UnresolvedReference(`${source} has no value: the step that saves it did not run or failed`)
}
