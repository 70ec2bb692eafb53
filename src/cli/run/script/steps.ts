/** Reads the steps of a script into plans. */
import { didYouMean } from '../../../core/errors/suggest.ts'
import { checkValue } from './check.ts'
import { parseCondition } from './condition.ts'
import type { Path } from './document.ts'
import { readExpectations } from './expectations.ts'
import type { ScriptErrorList } from './script-errors.ts'
import type { CallAction, IncludeAction, StepPlan } from './plan.ts'
import { hasPlaceholder, placeholder, type Template } from './references.ts'
import { reserved, type StaticScope } from './scope.ts'
import { retryShape, stepShape } from './shape.ts'
import { fieldsOf, startsShell, type Verb, type Verbs } from './verbs.ts'

type Fields = Readonly<Record<string, unknown>>

/** The context in which steps are read. */
export interface StepReader {
  readonly verbs: Verbs
  readonly errors: ScriptErrorList
  /** Whether a step uses the script's own session or shell. */
  readonly needs: { browser: boolean; shell: boolean }
  /** Reads the file of an `include:`; undefined, with reported errors, when it is invalid. */
  include(step: Fields, at: Path, scope: StaticScope, number: string): IncludeAction | undefined
}

const stepKeys = Object.keys(stepShape.shape)
/** Keys that are not allowed with `include`. */
const notForInclude = ['save', 'expect', 'retry', 'timeout_ms', 'data']

/** Reads a list of steps and reports their errors. */
export function readSteps(reader: StepReader, list: unknown, at: Path, scope: StaticScope, prefix = ''): StepPlan[] {
  if (!Array.isArray(list)) {
    reader.errors.add(at, `${String(at.at(-1))} must be a list of steps`)
    return []
  }
  return list.flatMap((raw: unknown, index) => {
    const step = readStep(reader, raw, [...at, index], scope, `${prefix}${index + 1}`)
    return step ? [step] : []
  })
}

function readStep(
  reader: StepReader,
  raw: unknown,
  at: Path,
  scope: StaticScope,
  number: string,
): StepPlan | undefined {
  const { errors } = reader
  const place = { file: errors.document.file, ...placeOf(errors, at) }
  if (typeof raw === 'string') {
    const verb = verbNamed(reader, raw, () => errors.add(at, unknownVerb(raw, reader.verbs)))
    const action = verb && readCall(reader, { verb, value: null, at, scope })
    return action && { number, place, label: raw, retry: once, continueOnError: false, expect: [], action }
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    errors.add(at, 'a step must be the name of a command, or a mapping with one command')
    return undefined
  }
  const fields = raw as Fields
  const loop = readLoop(reader, fields, at, scope)
  const inner = loop ? scope.within(loop.as) : scope
  const action = readAction(reader, fields, at, inner, number)
  const options = readOptions(reader, fields, at, inner)
  // The name is known from the next step on, even when this step is invalid, to avoid consequential errors.
  if (options.save !== undefined) scope.saved.add(options.save)
  if (!action) return undefined
  return { number, place, label: labelOf(fields, reader.verbs), ...options, ...(loop && { forEach: loop }), action }
}

/** Options with plain values. */
const plainKeys = ['name', 'save', 'retry', 'timeout_ms', 'continue_on_error', 'as']

const once = { count: 0, delayMs: 0, repeatDelivered: false } as const

const placeOf = (errors: ScriptErrorList, at: Path) => {
  const { line, column } = errors.document.spanOf(at)
  return { line, column }
}

function readLoop(reader: StepReader, fields: Fields, at: Path, scope: StaticScope) {
  const { for_each: items, as = 'item' } = fields
  if (items === undefined) {
    if (fields['as'] !== undefined) reader.errors.addKey([...at, 'as'], 'as is only allowed with for_each')
    return undefined
  }
  const template = scope.template(items, [...at, 'for_each'])
  const known = scope.value(template)
  if (known !== placeholder && !Array.isArray(known)) {
    reader.errors.add([...at, 'for_each'], 'for_each must be a list, or a reference to one')
  }
  if (isReserved(as)) reader.errors.add([...at, 'as'], reservedName(as))
  return { items: template, as: String(as) }
}

function readOptions(reader: StepReader, fields: Fields, at: Path, scope: StaticScope) {
  const { errors } = reader
  const { expect, when } = fields
  const plain = Object.fromEntries(plainKeys.flatMap((key) => (key in fields ? [[key, fields[key]] as const] : [])))
  const name = plain['name'] === undefined ? undefined : scope.template(plain['name'], [...at, 'name'])
  const known = Object.fromEntries(
    Object.entries(plain).map(([key, value]) => [key, scope.value(scope.template(value, [...at, key]))]),
  )
  // Check against the form that was used, for precise errors.
  const retry = retryShape.options[typeof known['retry'] === 'object' ? 1 : 0]
  const schema = stepShape.extend({ retry: retry.optional() })
  checkValue({ schema, value: known, locate: (path) => [...at, ...path] }, errors)
  for (const key of ['save', 'retry', 'timeout_ms', 'continue_on_error', 'as']) {
    if (hasPlaceholder(known[key])) errors.add([...at, key], `${key} must be known before the script runs`)
  }
  // Only the name may contain values that are known at run time.
  const parsed = stepShape.omit({ name: true }).safeParse(known)
  const { save, retry: tries, timeout_ms, continue_on_error = false } = parsed.success ? parsed.data : {}
  if (save !== undefined && isReserved(save)) errors.add([...at, 'save'], reservedName(save))
  const condition = when === undefined ? undefined : parseCondition(when, [...at, 'when'], scope, errors)
  return {
    ...(name && { name }),
    ...(condition && { when: condition }),
    ...(save !== undefined && { save }),
    ...(timeout_ms !== undefined && { timeoutMs: timeout_ms }),
    retry:
      typeof tries === 'object'
        ? { count: tries.count, delayMs: tries.delay_ms, repeatDelivered: tries.repeat_delivered }
        : { ...once, count: tries ?? 0 },
    continueOnError: continue_on_error,
    expect: expect === undefined ? [] : readExpectations(expect, [...at, 'expect'], scope, errors),
  }
}

const isReserved = (name: unknown) => (reserved as readonly unknown[]).includes(name)
const reservedName = (name: unknown) =>
  `${JSON.stringify(name)} is a reserved name (${reserved.join(', ')}): choose another name`

function readAction(reader: StepReader, fields: Fields, at: Path, scope: StaticScope, number: string) {
  const { errors, verbs } = reader
  const others = Object.keys(fields).filter((key) => !stepKeys.includes(key))
  const unknown = others.filter((key) => !verbs.has(key))
  const named = [
    ...others.filter((key) => verbs.has(key)),
    ...['command', 'include'].filter((key) => fields[key] !== undefined),
  ]
  for (const key of unknown) errors.addKey([...at, key], unknownKey(key, named.length > 0, verbs))
  if (named.length === 0) {
    if (unknown.length === 0) errors.add(at, 'the step has no command')
    return undefined
  }
  if (named.length > 1) {
    const last = named.toSorted((a, b) => Object.keys(fields).indexOf(a) - Object.keys(fields).indexOf(b)).at(-1)!
    errors.addKey(
      [...at, last],
      `a step must have exactly one command, not ${named.map((key) => JSON.stringify(key)).join(' and ')}`,
    )
    return undefined
  }
  const [key] = named as [string]
  if (key !== 'include' && fields['vars'] !== undefined)
    errors.addKey([...at, 'vars'], 'vars is only allowed with include')
  if (key === 'include') {
    for (const other of notForInclude) {
      if (fields[other] !== undefined)
        errors.addKey([...at, other], `${other} is not allowed with include: set it in the included file`)
    }
    return reader.include(fields, at, scope, number)
  }
  if (key === 'command') return readLongForm(reader, fields, at, scope)
  if (fields['data'] !== undefined)
    errors.addKey([...at, 'data'], `data is only allowed in the long form, {command: ${key}, data: …}`)
  return readCall(reader, { verb: verbs.get(key)!, value: fields[key], at: [...at, key], scope })
}

function readLongForm(reader: StepReader, fields: Fields, at: Path, scope: StaticScope): CallAction | undefined {
  const { command, data = null } = fields
  const place = [...at, 'command']
  if (typeof command !== 'string') {
    reader.errors.add(place, 'command must be the name of a command')
    return undefined
  }
  const verb = verbNamed(reader, command, () => reader.errors.add(place, unknownVerb(command, reader.verbs)))
  if (data !== null && (typeof data !== 'object' || Array.isArray(data))) {
    reader.errors.add([...at, 'data'], 'data must be an object')
    return undefined
  }
  return verb && readCall(reader, { verb, value: data, at: data === null ? place : [...at, 'data'], scope })
}

interface RawCall {
  readonly verb: Verb
  readonly value: unknown
  readonly at: Path
  readonly scope: StaticScope
}

function readCall(reader: StepReader, { verb, value, at, scope }: RawCall): CallAction | undefined {
  const { errors, needs } = reader
  const given = fieldsFromShortForm(verb, value, at)
  if (typeof given === 'string') {
    errors.add(at, given)
    return undefined
  }
  const entries = given.map(({ field, item, at: place }) => [field, scope.template(item, place)] as const)
  const data: Template = { kind: 'map', entries }
  const known = fieldsOf(verb, data, (template) => scope.value(template))
  if (verb.uses && known['session_id'] === undefined) {
    if (verb.uses === 'shell' && !needs.shell) {
      errors.addKey(at, `${verb.name} needs a shell: create one in an earlier step, or set session_id`)
    }
    needs[verb.uses] = true
    if (Object.hasOwn(verb.schema.shape, 'session_id')) known['session_id'] = placeholder
  }
  if (startsShell(verb)) needs.shell = true
  const places = new Map(given.map(({ field, at: place }) => [field, place]))
  const locate = ([field, ...rest]: Path) =>
    field === undefined ? at : [...(places.get(String(field)) ?? [...at, field]), ...rest]
  checkValue({ schema: verb.schema, value: known, locate }, errors)
  return { kind: 'call', verb, data }
}

interface Field {
  readonly field: string
  readonly item: unknown
  readonly at: Path
}

/** Returns the fields of a call in short form, or an error message. */
function fieldsFromShortForm(verb: Verb, value: unknown, at: Path): Field[] | string {
  if (value === null || value === undefined) return []
  const { positional, name } = verb
  const [first] = positional
  const words = positional.join(', ')
  if (Array.isArray(value)) {
    if (first !== undefined && positional.length === 1 && isListField(verb, first))
      return [{ field: first, item: value, at }]
    if (value.length > positional.length || value.length === 0) {
      return `${name} takes ${positional.length === 0 ? 'no values' : `a list of ${words}`}, or a mapping`
    }
    return value.map((item: unknown, index) => ({ field: positional[index]!, item, at: [...at, index] }))
  }
  if (typeof value === 'object') {
    return Object.entries(value).map(([field, item]) => ({ field, item: item as unknown, at: [...at, field] }))
  }
  if (first === undefined) return `${name} takes no value`
  if (positional.length > 1)
    return `${name} needs ${positional.join(' and ')}: write a mapping, or a list in this order`
  return [{ field: first, item: value, at }]
}

const isListField = ({ schema }: Verb, field: string) => schema.shape[field]?._zod.def.type === 'array'

function verbNamed({ verbs }: StepReader, name: string, onUnknown: () => void): Verb | undefined {
  const verb = verbs.get(name)
  if (!verb) onUnknown()
  return verb
}

const unknownVerb = (name: string, verbs: Verbs) =>
  `unknown command ${JSON.stringify(name)}${didYouMean(name, verbs.keys())}`

/** Returns the error of an unknown command, or of an unknown key beside a command. */
function unknownKey(key: string, hasVerb: boolean, verbs: Verbs): string {
  const asKey = didYouMean(key, stepKeys)
  return hasVerb || (asKey && !didYouMean(key, verbs.keys()))
    ? `unknown key ${JSON.stringify(key)}${asKey || didYouMean(key, verbs.keys())}`
    : unknownVerb(key, verbs)
}

const labelWidth = 60

function labelOf(fields: Fields, verbs: Verbs): string {
  const key = Object.keys(fields).find((name) => verbs.has(name) || name === 'include') ?? 'command'
  const verb = key === 'command' ? String(fields[key]) : key
  const first = firstValue(key === 'command' ? fields['data'] : fields[key], verbs.get(verb)?.positional[0])
  if (typeof first !== 'string' && typeof first !== 'number') return verb
  const text = String(first).replaceAll(/\s+/g, ' ').trim()
  return `${verb} ${text.length > labelWidth ? `${text.slice(0, labelWidth - 1)}…` : text}`
}

function firstValue(value: unknown, field = ''): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? (value[0] as unknown) : (value as Fields)[field]
}
