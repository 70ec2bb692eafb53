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
} from './references.ts'

/** Roots that no step may save under. */
export const reserved = ['vars', 'env', 'run', 'session'] as const

/** Values that are the same for all steps of a script. */
export interface RunInputs {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly runId: string
}

/** The names while a script is checked; values that steps will save are placeholders. */
export class StaticScope {
  readonly vars: Record<string, unknown>
  /** Names that earlier steps save; shared by the scopes of a script. */
  readonly saved: Set<string>
  /** Names of the enclosing loops. */
  readonly loops: ReadonlySet<string>
  readonly given: RunInputs
  readonly #errors: ScriptErrorList
  /** Collects the names of all variables that are referred to. */
  readonly #used: Set<string>

  constructor(
    given: RunInputs,
    errors: ScriptErrorList,
    vars: Record<string, unknown>,
    names: { readonly saved: Set<string>; readonly loops: ReadonlySet<string> },
    used: Set<string>,
  ) {
    this.given = given
    this.#errors = errors
    this.vars = vars
    this.saved = names.saved
    this.loops = names.loops
    this.#used = used
  }

  /** Parses a value of the document and checks every reference in it. */
  template(value: unknown, at: Path): Template {
    const template = parseTemplate(value, at, (path, start, length, message) =>
      this.#errors.addWithin(path, start, length, message),
    )
    for (const { reference, at: place } of referencesOf(template)) {
      if (reference.root === 'vars') this.#used.add(String(reference.path[0]))
      const message = this.#errorOf(reference)
      if (message) this.#errors.addWithin(place, reference.start, reference.source.length, message)
    }
    return template
  }

  /** Returns the value of a template as far as it is known before the run. */
  value(template: Template): unknown {
    return fill(template, (reference) => {
      const picked = this.#pick(reference)
      return picked.found ? picked.value : placeholder
    })
  }

  /** Returns the scope inside a loop, with the name of its item. */
  within(name: string): StaticScope {
    const names = { saved: this.saved, loops: new Set([...this.loops, name]) }
    return new StaticScope(this.given, this.#errors, this.vars, names, this.#used)
  }

  #pick({ root, path }: Reference): Picked {
    const { env, runId } = this.given
    if (root === 'vars') return pick(this.vars, path)
    if (root === 'env') return path.length === 1 ? pick(definedOnly(env), path) : { found: true, value: placeholder }
    if (root === 'run') return pick({ id: runId }, path)
    if (root === 'session') return pick({ id: placeholder }, path)
    return { found: true, value: placeholder }
  }

  #errorOf(reference: Reference): string | undefined {
    const { source, root, path } = reference
    if (!(reserved as readonly string[]).includes(root)) {
      if (this.saved.has(root) || this.loops.has(root)) return undefined
      if (Object.hasOwn(this.vars, root)) return `${source} is not defined (did you mean "vars.${root}"?)`
      // Very short names resemble each other too often.
      const hint = root.length > 2 ? didYouMean(root, [...this.saved, ...this.loops]) : ''
      return `${source} is not defined${hint || `: no earlier step saves "${root}" (write $\${ for a literal \${)`}`
    }
    if (root === 'env' && path.length !== 1) return `${source}: write \${env.NAME}`
    const picked = this.#pick(reference)
    return picked.found ? undefined : missing(source, root, picked)
  }
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
export class RunScope {
  readonly vars: Record<string, unknown>
  /** Saved results by name; shared by a script and its included files. */
  readonly saved: Map<string, unknown>
  readonly given: RunInputs
  readonly #locals: ReadonlyMap<string, unknown>
  readonly #sessionId: () => string | undefined

  constructor(options: {
    given: RunInputs
    vars: Record<string, unknown>
    saved: Map<string, unknown>
    sessionId: () => string | undefined
    locals?: ReadonlyMap<string, unknown>
  }) {
    this.given = options.given
    this.vars = options.vars
    this.saved = options.saved
    this.#sessionId = options.sessionId
    this.#locals = options.locals ?? new Map()
  }

  /** Resolves a template. @throws UnresolvedReference when a reference has no value. */
  fill(template: Template): unknown {
    return fill(template, (reference) => this.#resolve(reference))
  }

  /** Returns the scope inside a loop, with the value of its item. */
  within(name: string, value: unknown): RunScope {
    return this.#with({ locals: new Map([...this.#locals, [name, value]]) })
  }

  /** Returns the scope of an included file, with its variables. */
  including(vars: Record<string, unknown>): RunScope {
    return this.#with({ vars })
  }

  #with(changes: { locals?: ReadonlyMap<string, unknown>; vars?: Record<string, unknown> }): RunScope {
    const { given, vars, saved } = this
    return new RunScope({ given, vars, saved, locals: this.#locals, sessionId: this.#sessionId, ...changes })
  }

  #resolve({ source, root, path }: Reference): unknown {
    const picked = pick(this.#root(source, root), path)
    if (!picked.found) throw new UnresolvedReference(missing(source, root, picked))
    return picked.value
  }

  #root(source: string, root: string): unknown {
    if (root === 'vars') return this.vars
    if (root === 'env') return definedOnly(this.given.env)
    if (root === 'run') return { id: this.given.runId }
    if (root === 'session') return { id: this.#sessionId() ?? null }
    if (this.#locals.has(root)) return this.#locals.get(root)
    if (this.saved.has(root)) return this.saved.get(root)
    throw new UnresolvedReference(`${source} has no value: the step that saves it did not run or failed`)
  }
}
