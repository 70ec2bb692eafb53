/** Reads and checks scripts: their variables, secrets, session and steps. */
import { basename, dirname, resolve } from 'node:path'
import { parse as parseYaml } from 'yaml'
import { BaxError } from '../../../core/errors/errors.ts'
import { didYouMean } from '../../../core/errors/suggest.ts'
import { readBody } from './body.ts'
import { checkValue } from './check.ts'
import { type Path, readDocument } from './document.ts'
import { type ScriptError, ScriptErrorList } from './script-errors.ts'
import { shownPath } from '../files.ts'
import type { Block, IncludeAction, Plan, SessionPlan } from './plan.ts'
import { hasPlaceholder, type Template } from './references.ts'
import { type RunInputs, StaticScope } from './scope.ts'
import { scriptShape, sessionShape } from './shape.ts'
import { readSteps, type StepReader } from './steps.ts'
import type { Verbs } from './verbs.ts'

type Fields = Readonly<Record<string, unknown>>

/** Options for reading scripts. */
export interface ReadOptions {
  readonly cwd: string
  readonly given: RunInputs
  /** Values of `--var name=value`, as text. */
  readonly overrides: Readonly<Record<string, string>>
  readonly verbs: Verbs
  /** Whether selectors that match several elements are refused, whatever the scripts declare. */
  readonly strict: boolean
  /** @throws Error of the file system. */
  readonly readFile: (path: string) => string
}

/** The plans of all scripts of a run, and their errors. */
export interface ReadScripts {
  readonly plans: readonly Plan[]
  readonly errors: readonly ScriptError[]
  /** Names of variables that the scripts declare or refer to. */
  readonly variables: ReadonlySet<string>
}

/** Reads files, whose paths are relative to `cwd`. */
export function readScripts(files: readonly string[], options: ReadOptions): ReadScripts {
  const errors: ScriptError[] = []
  const variables = new Set<string>()
  const plans = files.flatMap((file) => {
    const path = resolve(options.cwd, file)
    const document = readDocument(file, textOf(file, path, options), errors)
    if (!document) return []
    const reader = new ScriptReader(options, new ScriptErrorList(document, errors), [path])
    const plan = reader.read()
    for (const name of reader.variables) variables.add(name)
    return plan ? [plan] : []
  })
  return { plans, errors, variables }
}

function textOf(file: string, path: string, { readFile }: ReadOptions): string {
  try {
    return readFile(path)
  } catch (error) {
    throw new BaxError('invalid_request', readErrorOf(file, error), { cause: error })
  }
}

function readErrorOf(file: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' ? `file not found: ${file}` : `cannot read ${file}: ${code}`
}

/** State that a script shares with its included files. */
interface Shared {
  readonly secrets: Set<string>
  readonly needs: StepReader['needs']
}

class ScriptReader {
  /** Names of variables that this file and its included files declare or refer to. */
  readonly variables = new Set<string>()
  readonly #options: ReadOptions
  readonly #errors: ScriptErrorList
  /** Files from the script to the one being read, to detect circular includes. */
  readonly #stack: readonly string[]
  readonly #shared: Shared

  constructor(options: ReadOptions, errors: ScriptErrorList, stack: readonly string[], shared?: Shared) {
    this.#options = options
    this.#errors = errors
    this.#stack = stack
    this.#shared = shared ?? { secrets: new Set(), needs: { browser: false, shell: false } }
  }

  read(): Plan | undefined {
    const fields = this.#mapping()
    if (!fields) return undefined
    const { file } = this.#errors.document
    if (Object.hasOwn(fields, 'commands') && !Object.hasOwn(fields, 'steps')) return readBody(fields, this.#errors)
    const scope = this.#head(fields, this.#overridden(fields['vars']), { saved: new Set(), loops: new Set() })
    const session = this.#session(fields['session'], scope)
    const block = this.#block(fields, scope, '')
    const name = scope.value(scope.template(fields['name'], ['name']))
    const { needs, secrets } = this.#shared
    return {
      kind: 'script',
      file,
      name: typeof name === 'string' ? name : basename(file).replace(/\.(ya?ml|json)$/i, ''),
      session: session ?? (needs.browser ? { fields: { kind: 'value', value: {} } } : null),
      vars: scope.vars,
      secrets: [...secrets],
      given: this.#options.given,
      strict: this.#options.strict || scope.value(scope.template(fields['strict'], ['strict'])) === true,
      block,
    }
  }

  /** Reads this file as part of another one, whose scope provides variables and saved names. */
  readIncluded(outer: StaticScope, passed: Fields, number: string): { block: Block; own: Fields } | undefined {
    const fields = this.#mapping()
    if (!fields) return undefined
    const scope = this.#head(fields, { ...outer.vars, ...passed }, outer)
    const own = Object.entries(scope.vars).filter(
      ([name]) => !Object.hasOwn(outer.vars, name) && !Object.hasOwn(passed, name),
    )
    return { block: this.#block(fields, scope, `${number}.`), own: Object.fromEntries(own) }
  }

  #mapping(): Fields | undefined {
    const { value } = this.#errors.document
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
    this.#errors.add(
      [],
      `${value === null ? 'the file is empty: ' : ''}a script must be a mapping with a list of steps`,
    )
    return undefined
  }

  /** Returns the values of `--var`, parsed as YAML where the default in the script is not text. */
  #overridden(declared: unknown): Fields {
    const defaults = typeof declared === 'object' && declared !== null ? (declared as Fields) : {}
    return Object.fromEntries(
      Object.entries(this.#options.overrides).map(([name, text]) => {
        const isText = typeof defaults[name] === 'string' || !Object.hasOwn(defaults, name)
        return [name, isText ? text : parseValue(text)]
      }),
    )
  }

  /** Checks the keys of the file, and returns the scope of its steps; variables in `given` override its own. */
  #head(fields: Fields, given: Fields, names: Pick<StaticScope, 'saved' | 'loops'>): StaticScope {
    const { env } = this.#options.given
    const { secrets, vars } = fields
    if (Array.isArray(secrets)) {
      for (const [index, name] of secrets.entries()) {
        const value = env[String(name)]
        if (value) this.#shared.secrets.add(value)
        else if (typeof name === 'string')
          this.#errors.add(['secrets', index], `environment variable ${name} is not set`)
      }
    }
    const scope = new StaticScope(this.#options.given, this.#errors, { ...given }, names, this.variables)
    if (vars !== undefined && vars !== null) this.#variables(vars, given, scope)
    const name = scope.value(scope.template(fields['name'], ['name']))
    // Session and variables are checked where they are read.
    const known = { ...fields, name, session: undefined, vars: undefined }
    checkValue({ schema: scriptShape, value: known, locate: (path) => path }, this.#errors)
    return scope
  }

  #variables(vars: unknown, given: Fields, scope: StaticScope): void {
    if (typeof vars !== 'object' || Array.isArray(vars)) return this.#errors.add(['vars'], 'vars must be a mapping')
    for (const [name, value] of Object.entries(vars as Fields)) {
      this.variables.add(name)
      // Overridden defaults are checked, too.
      const before = this.#errors.count
      const own = scope.value(scope.template(value, ['vars', name]))
      if (hasPlaceholder(own) && this.#errors.count === before)
        this.#errors.add(['vars', name], `vars.${name} must be known before the script runs`)
      if (!Object.hasOwn(given, name)) scope.vars[name] = own
    }
  }

  #session(raw: unknown, scope: StaticScope): SessionPlan | undefined {
    if (raw === undefined || raw === null) return undefined
    if (typeof raw === 'string') {
      const entries = [['session_id', scope.template(raw, ['session'])] as const]
      return { fields: { kind: 'map', entries } }
    }
    if (typeof raw !== 'object' || Array.isArray(raw)) {
      this.#errors.add(['session'], 'session must be the id or name of a session, or a mapping')
      return undefined
    }
    const fields = scope.template(raw, ['session'])
    checkValue(
      { schema: sessionShape, value: scope.value(fields), locate: (path) => ['session', ...path] },
      this.#errors,
    )
    const keys = Object.keys(raw).filter((key) => Object.hasOwn(sessionShape.shape, key))
    const making = keys.find((key) => !['session_id', 'keep'].includes(key))
    if (keys.includes('session_id') && making) {
      this.#errors.addKey(['session', making], `${making} is only allowed for a new session, not with session_id`)
    }
    if (keys.includes('profile') && keys.includes('profile_id')) {
      this.#errors.addKey(['session', 'profile'], 'profile and profile_id cannot be combined')
    }
    return { fields }
  }

  #block(fields: Fields, scope: StaticScope, prefix: string): Block {
    const reader: StepReader = {
      verbs: this.#options.verbs,
      errors: this.#errors,
      needs: this.#shared.needs,
      include: (step, at, inner, number) => this.#include(step, at, inner, number),
    }
    return {
      steps: Array.isArray(fields['steps']) ? readSteps(reader, fields['steps'], ['steps'], scope, prefix) : [],
      finally: Array.isArray(fields['finally']) ? readSteps(reader, fields['finally'], ['finally'], scope, `${prefix}finally `) : [], // prettier-ignore
    }
  }

  #include(step: Fields, at: Path, scope: StaticScope, number: string): IncludeAction | undefined {
    const place = [...at, 'include']
    const name = scope.value(scope.template(step['include'], place))
    if (typeof name !== 'string') {
      this.#errors.add(place, 'include must be the path of a file, known before the script runs')
      return undefined
    }
    const path = resolve(dirname(this.#stack.at(-1)!), name)
    const display = shownPath(path, this.#options.cwd)
    const errors = this.#openIncluded(path, display, place)
    if (!errors) return undefined
    const passed = this.#passed(step, at, scope)
    const inner = new ScriptReader(this.#options, errors, [...this.#stack, path], this.#shared)
    const values = Object.fromEntries(passed.map(([key, template]) => [key, scope.value(template)]))
    const read = inner.readIncluded(scope, values, number)
    if (!read) return undefined
    for (const [key] of passed) {
      if (!inner.variables.has(key)) this.#errors.addKey([...at, 'vars', key], `${display} has no variable ${JSON.stringify(key)}${didYouMean(key, inner.variables)}`) // prettier-ignore
    }
    for (const key of inner.variables) this.variables.add(key)
    const own = Object.entries(read.own).map(
      ([key, value]) => [key, { kind: 'value', value } satisfies Template] as const,
    )
    return { kind: 'include', file: display, block: read.block, vars: [...own, ...passed] }
  }

  #passed(step: Fields, at: Path, scope: StaticScope): (readonly [string, Template])[] {
    const { vars } = step
    if (typeof vars !== 'object' || vars === null || Array.isArray(vars)) return []
    return Object.entries(vars as Fields).map(
      ([key, value]) => [key, scope.template(value, [...at, 'vars', key])] as const,
    )
  }

  #openIncluded(path: string, display: string, place: Path): ScriptErrorList | undefined {
    const circle = this.#stack.indexOf(path)
    if (circle >= 0) {
      const names = [...this.#stack.slice(circle), path].map((file) => shownPath(file, this.#options.cwd))
      this.#errors.add(place, `circular include: ${names.join(' -> ')}`)
      return undefined
    }
    let text: string
    try {
      text = this.#options.readFile(path)
    } catch (error) {
      this.#errors.add(place, readErrorOf(display, error))
      return undefined
    }
    return this.#errors.parse(display, text)
  }
}

/** Parses a text as YAML; invalid YAML stays text. */
function parseValue(text: string): unknown {
  try {
    return parseYaml(text) as unknown
  } catch {
    return text
  }
}
