/** The names that a script can refer to, before it runs and while it does. */
import { didYouMean } from '../../../core/errors/suggest.ts'
import type { Path } from './document.ts'
import type { FaultList } from './script-errors.ts'
import {
  fill,
  later,
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

/** Values that are the same for all steps of a file. */
export interface Given {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly runId: string
}

/** What is known of names while a script is checked; values that a step will bring are `later`. */
export class StaticScope {
  readonly vars: Record<string, unknown>
  /** Names of steps before, and of the loops around. */
  readonly names: Set<string>
  readonly given: Given
  readonly #faults: FaultList
  /** Gets the name of every variable that is referred to. */
  readonly #used: Set<string>

  constructor(given: Given, faults: FaultList, vars: Record<string, unknown>, names: Set<string>, used: Set<string>) {
    this.given = given
    this.#faults = faults
    this.vars = vars
    this.names = names
    this.#used = used
  }

  /** The template of a value of the document, with every reference in it checked. */
  template(value: unknown, at: Path): Template {
    const template = parseTemplate(value, at, (path, start, length, message) =>
      this.#faults.addWithin(path, start, length, message),
    )
    for (const { reference, at: place } of referencesOf(template)) {
      if (reference.root === 'vars') this.#used.add(String(reference.path[0]))
      const message = this.#fault(reference)
      if (message) this.#faults.addWithin(place, reference.start, reference.source.length, message)
    }
    return template
  }

  /** The value of a template as far as it is known now. */
  value(template: Template): unknown {
    return fill(template, (reference) => {
      const picked = this.#pick(reference)
      return picked.found ? picked.value : later
    })
  }

  /** The same names and one more, inside a loop. */
  within(name: string): StaticScope {
    return new StaticScope(this.given, this.#faults, this.vars, new OverlaidSet(this.names, name), this.#used)
  }

  #pick({ root, path }: Reference): Picked {
    const { env, runId } = this.given
    if (root === 'vars') return pick(this.vars, path)
    if (root === 'env') return path.length === 1 ? pick(definedOnly(env), path) : { found: true, value: later }
    if (root === 'run') return pick({ id: runId }, path)
    if (root === 'session') return pick({ id: later }, path)
    return { found: true, value: later }
  }

  #fault(reference: Reference): string | undefined {
    const { source, root, path } = reference
    if (!(reserved as readonly string[]).includes(root)) {
      if (this.names.has(root)) return undefined
      if (Object.hasOwn(this.vars, root)) return `${source} is not defined (did you mean "vars.${root}"?)`
      // One letter is like every other letter.
      const hint = root.length > 2 ? didYouMean(root, this.names) : ''
      return `${source} is not defined${hint || `: no step before saves "${root}" (write $\${ for a literal \${)`}`
    }
    if (root === 'env' && path.length !== 1) return `${source}: write \${env.NAME}`
    const picked = this.#pick(reference)
    return picked.found ? undefined : missing(source, root, picked)
  }
}

/** Names of a block with one more that only it knows; what is saved inside goes to the outer set. */
class OverlaidSet extends Set<string> {
  readonly #outer: Set<string>
  readonly #name: string

  constructor(outer: Set<string>, name: string) {
    super()
    this.#outer = outer
    this.#name = name
  }

  override has(name: string): boolean {
    return name === this.#name || this.#outer.has(name)
  }

  override add(name: string): this {
    // Set's own constructor calls add before the fields exist; it is given nothing to add.
    this.#outer.add(name)
    return this
  }

  override [Symbol.iterator](): SetIterator<string> {
    return new Set([...this.#outer, this.#name])[Symbol.iterator]()
  }
}

/** `${user.nme}: user has no "nme" (did you mean "name"?)` */
function missing(source: string, root: string, { holder, key, before }: Picked & { found: false }): string {
  if (root === 'env') return `${source}: the environment has no ${key}`
  const owner = pathText(root, before)
  if (holder === null || typeof holder !== 'object') {
    return `${source}: ${owner} is ${holder === null ? 'null' : `a ${typeof holder}`} and has no ${JSON.stringify(key)}`
  }
  if (Array.isArray(holder)) return `${source}: ${owner} has ${holder.length} items and no ${JSON.stringify(key)}`
  return `${source}: ${owner} has no ${JSON.stringify(key)}${didYouMean(String(key), Object.keys(holder))}`
}

const definedOnly = (env: Given['env']) =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined))

/** A reference that has no value although its name is known. */
export class UnresolvedReference extends Error {}

/** What names stand for while a script runs. */
export class RunScope {
  readonly vars: Record<string, unknown>
  /** Results by the name they were saved under; shared by a script and what it includes. */
  readonly saved: Map<string, unknown>
  readonly given: Given
  readonly #locals: ReadonlyMap<string, unknown>
  readonly #sessionId: () => string | undefined

  constructor(options: {
    given: Given
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

  /** @throws UnresolvedReference when a part of a path is not there. */
  fill(template: Template): unknown {
    return fill(template, (reference) => this.#resolve(reference))
  }

  /** The same scope with a loop's value. */
  within(name: string, value: unknown): RunScope {
    return this.#with({ locals: new Map([...this.#locals, [name, value]]) })
  }

  /** The same scope with the variables of an included file. */
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
