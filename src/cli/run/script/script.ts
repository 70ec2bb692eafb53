/** Reads and checks scripts: their variables, secrets, session and steps. */
import { isMapping } from '../../../core/text/is-mapping.ts'
import { systemReason, systemCode } from '../../../core/errors/system-errors.ts'
import { dirname, resolve } from 'node:path'
import { parse as parseYaml } from 'yaml'
import { didYouMean } from '../../../core/errors/suggest.ts'
import { readBody } from './body.ts'
import { checkValue } from './check.ts'
import { type Path, readDocument, type ScriptError } from './document.ts'
import { ScriptErrorList } from './script-errors.ts'
import { isSameFile, scriptName, shownPath } from '../files.ts'
import type { Block, IncludeAction, Plan, ScriptPlan } from './plan.ts'
import { dependsOnSteps, type Template, unsetVariable } from './references.ts'
import { knownValue, readTemplate, type RunInputs, type StaticScope } from './scope.ts'
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
  /** Whether the scripts are only checked, for which missing environment variables are no errors. */
  readonly checkOnly: boolean
  /** @throws Error of the file system. */
  readonly readFile: (path: string) => string
}

/** The plans of all scripts of a run, and their errors. */
export interface ReadScripts {
  readonly plans: readonly Plan[]
  readonly errors: readonly ScriptError[]
  /** Names of variables that the scripts declare or refer to. */
  readonly variables: ReadonlySet<string>
  /** Texts of the files that each script consists of, by absolute path; null when a file cannot be read. */
  readonly sources: ReadonlyMap<string, ReadonlyMap<string, string | null>>
}

/** Reads files, whose paths are relative to `cwd`. */
export function readScripts(files: readonly string[], options: ReadOptions): ReadScripts {
  const errors: ScriptError[] = []
  const variables = new Set<string>()
  const sources = new Map<string, ReadonlyMap<string, string | null>>()
  const plans = files.flatMap((file) => {
    const path = resolve(options.cwd, file)
    const texts = new Map<string, string | null>()
    sources.set(file, texts)
    const recording = recordingTexts(options, texts)
    const text = textOf(file, path, recording, errors)
    const document = text === undefined ? undefined : readDocument(file, text, errors)
    if (!document) return []
    return readScript({
      options: recording,
      errors: new ScriptErrorList(document, errors),
      stack: [path],
      variables,
      secrets: new Set(),
      needs: { browser: false, shell: false },
    })
  })
  return { plans, errors, variables, sources }
}

/** Returns options that collect the texts of the files that are read. */
const recordingTexts = (options: ReadOptions, texts: Map<string, string | null>): ReadOptions => ({
  ...options,
  readFile(path) {
    texts.set(path, null)
    const text = options.readFile(path)
    texts.set(path, text)
    return text
  },
})

function textOf(file: string, path: string, { readFile }: ReadOptions, errors: ScriptError[]): string | undefined {
  try {
    return readFile(path)
  } catch (error) {
    errors.push({ message: readErrorOf(file, error) })
    return undefined
  }
}

function readErrorOf(file: string, error: unknown): string {
  const code = systemCode(error)
  return code === 'ENOENT' ? `file not found: ${file}` : `cannot read ${file}: ${systemReason(error)}`
}

/** A file that is being read, which is a script or included in one. */
interface ScriptFile {
  readonly options: ReadOptions
  readonly errors: ScriptErrorList
  /** Files from the script to this one, to detect circular includes. */
  readonly stack: readonly string[]
  /** Collects the names of variables that this file and its included files declare or refer to. */
  readonly variables: Set<string>
  /** Shared by a script and its included files, as are `needs`. */
  readonly secrets: Set<string>
  readonly needs: StepReader['needs']
}

function readScript(script: ScriptFile): Plan[] {
  const { errors, needs, options } = script
  const fields = readMapping(errors)
  if (!fields) return []
  const { file } = errors.document
  if (Object.hasOwn(fields, 'commands') && !Object.hasOwn(fields, 'steps')) return [readBody(fields, errors)]
  const given = overriddenVariables(fields['vars'], options)
  const scope = readHead(script, fields, given, { saved: new Set(), loops: new Set() })
  const session = readSession(fields['session'], scope)
  const block = readBlock(script, fields, scope, '')
  const name = knownValue(readTemplate(fields['name'], ['name'], scope), scope)
  const plan: ScriptPlan = {
    kind: 'script',
    file,
    name: typeof name === 'string' ? name : scriptName(file),
    session: session ?? (needs.browser ? { kind: 'value', value: {} } : null),
    vars: scope.vars,
    secrets: [...script.secrets],
    given: options.given,
    strict: options.strict || knownValue(readTemplate(fields['strict'], ['strict'], scope), scope) === true,
    block,
  }
  return [plan]
}

function readMapping(errors: ScriptErrorList): Fields | undefined {
  const { value } = errors.document
  if (isMapping(value)) return value
  errors.add([], `${value === null ? 'the file is empty: ' : ''}a script must be a mapping with a list of steps`)
  return undefined
}

/** Returns the values of `--var`, parsed as YAML where the default in the script is not text. */
function overriddenVariables(declared: unknown, { overrides }: ReadOptions): Fields {
  const defaults = isMapping(declared) ? declared : {}
  return Object.fromEntries(
    Object.entries(overrides).map(([name, text]) => {
      const isText = typeof defaults[name] === 'string' || !Object.hasOwn(defaults, name)
      return [name, isText ? text : parseValue(text)]
    }),
  )
}

/** Checks the keys of the file, and returns the scope of its steps; variables in `passed` override its own. */
function readHead(
  { options: { checkOnly, given }, errors, secrets, variables: used }: ScriptFile,
  fields: Fields,
  passed: Fields,
  { saved, loops }: Pick<StaticScope, 'saved' | 'loops'>,
): StaticScope {
  const { secrets: names, vars } = fields
  if (Array.isArray(names)) {
    for (const [index, name] of names.entries()) {
      const value = given.env[String(name)]
      if (value) secrets.add(value)
      else if (typeof name === 'string' && !checkOnly)
        errors.add(['secrets', index], `environment variable ${name} is not set`)
    }
  }
  const scope: StaticScope = { given, checkOnly, errors, vars: { ...passed }, saved, loops, used }
  if (vars !== undefined && vars !== null) readVariables(vars, passed, scope)
  const name = knownValue(readTemplate(fields['name'], ['name'], scope), scope)
  // Session and variables are checked where they are read.
  const known = { ...fields, name, session: undefined, vars: undefined }
  checkValue(scriptShape, known, errors)
  return scope
}

function readVariables(vars: unknown, passed: Fields, scope: StaticScope): void {
  const { errors } = scope
  if (!isMapping(vars)) return errors.add(['vars'], 'vars must be a mapping')
  for (const [name, value] of Object.entries(vars)) {
    scope.used.add(name)
    // Overridden defaults are checked, too.
    const before = errors.count
    const own = knownValue(readTemplate(value, ['vars', name], scope), scope)
    if (dependsOnSteps(own) && errors.count === before)
      errors.add(['vars', name], `vars.${name} must be known before the script runs`)
    if (!Object.hasOwn(passed, name)) scope.vars[name] = own
  }
}

/** Returns the fields of the session; undefined without any. */
function readSession(raw: unknown, scope: StaticScope): Template | undefined {
  const { errors } = scope
  if (raw === undefined || raw === null) return undefined
  if (typeof raw === 'string') return { kind: 'map', entries: [['session_id', readTemplate(raw, ['session'], scope)]] }
  if (typeof raw !== 'object' || Array.isArray(raw)) {
    errors.add(['session'], 'session must be the id or name of a session, or a mapping')
    return undefined
  }
  const fields = readTemplate(raw, ['session'], scope)
  checkValue(sessionShape, knownValue(fields, scope), errors, (path) => ['session', ...path])
  const keys = Object.keys(raw).filter((key) => Object.hasOwn(sessionShape.shape, key))
  const making = keys.find((key) => !['session_id', 'keep'].includes(key))
  if (keys.includes('session_id') && making) {
    errors.addKey(['session', making], `${making} is only allowed for a new session, not with session_id`)
  }
  if (keys.includes('profile') && keys.includes('profile_id')) {
    errors.addKey(['session', 'profile'], 'profile and profile_id cannot be combined')
  }
  return fields
}

function readBlock(script: ScriptFile, fields: Fields, scope: StaticScope, prefix: string): Block {
  const { needs, options } = script
  const reader: StepReader = {
    verbs: options.verbs,
    scope,
    needs,
    include: (step, at, inner, number) => readInclude(script, step, at, inner, number),
  }
  const stepsOf = (key: 'steps' | 'finally', start: string) =>
    Array.isArray(fields[key]) ? readSteps(reader, fields[key], [key], start) : []
  return { steps: stepsOf('steps', prefix), finally: stepsOf('finally', `${prefix}finally `) }
}

function readInclude(
  script: ScriptFile,
  step: Fields,
  at: Path,
  scope: StaticScope,
  number: string,
): IncludeAction | undefined {
  const { errors, options, stack, variables } = script
  const place = [...at, 'include']
  const name = knownValue(readTemplate(step['include'], place, scope), scope)
  if (typeof name !== 'string') {
    const message = 'include must be the path of a file, known before the script runs'
    errors.add(place, name === unsetVariable ? `${message}: set the environment variable in it` : message)
    return undefined
  }
  const path = resolve(dirname(stack.at(-1)!), name)
  const display = shownPath(path, options.cwd)
  const included = openIncluded(script, path, display, place)
  if (!included) return undefined
  const passed = passedVariables(step, at, scope)
  const values = Object.fromEntries(passed.map(([key, template]) => [key, knownValue(template, scope)]))
  const inner: ScriptFile = { ...script, errors: included, stack: [...stack, path], variables: new Set() }
  const fields = readMapping(included)
  if (!fields) return undefined
  const innerScope = readHead(inner, fields, { ...scope.vars, ...values }, scope)
  const block = readBlock(inner, fields, innerScope, `${number}.`)
  for (const [key] of passed) {
    if (inner.variables.has(key)) continue
    const near = didYouMean(key, inner.variables)
    errors.addKey([...at, 'vars', key], `${display} has no variable ${JSON.stringify(key)}${near}`)
  }
  for (const key of inner.variables) variables.add(key)
  const own = Object.entries(innerScope.vars)
    .filter(([key]) => !Object.hasOwn(scope.vars, key) && !Object.hasOwn(values, key))
    .map(([key, value]) => [key, { kind: 'value', value }] as const)
  return { kind: 'include', block, vars: [...own, ...passed] }
}

function passedVariables({ vars }: Fields, at: Path, scope: StaticScope): (readonly [string, Template])[] {
  if (!isMapping(vars)) return []
  return Object.entries(vars).map(([key, value]) => [key, readTemplate(value, [...at, 'vars', key], scope)] as const)
}

/** Parses an included file; undefined, with a reported error, when it cannot be included. */
function openIncluded(
  { errors, options, stack }: ScriptFile,
  path: string,
  display: string,
  place: Path,
): ScriptErrorList | undefined {
  const circle = stack.findIndex((file) => isSameFile(file, path))
  if (circle >= 0) {
    const names = [...stack.slice(circle), path].map((file) => shownPath(file, options.cwd))
    errors.add(place, `circular include: ${names.join(' -> ')}`)
    return undefined
  }
  let text: string
  try {
    text = options.readFile(path)
  } catch (error) {
    errors.add(place, readErrorOf(display, error))
    return undefined
  }
  return errors.parse(display, text)
}

/** Parses a text as YAML; invalid YAML stays text. */
function parseValue(text: string): unknown {
  try {
    return parseYaml(text)
  } catch {
    return text
  }
}
