/** From the steps of a file to their plans. */
import { didYouMean } from '../../../core/errors/suggest.ts'
import { checkValue } from './check.ts'
import { parseCondition } from './condition.ts'
import type { Path } from './document.ts'
import { readExpectations } from './expectations.ts'
import type { FaultList } from './script-errors.ts'
import type { CallAction, IncludeAction, StepPlan } from './plan.ts'
import { holdsLater, later, type Template } from './references.ts'
import { reserved, type StaticScope } from './scope.ts'
import { retryShape, stepShape } from './shape.ts'
import { fieldsOf, startsShell, type Verb, type Verbs } from './verbs.ts'

type Fields = Readonly<Record<string, unknown>>

/** What steps are read with. */
export interface StepReader {
  readonly verbs: Verbs
  readonly faults: FaultList
  /** Set when a step works on the script's own session or shell. */
  readonly needs: { browser: boolean; shell: boolean }
  /** Reads the file of an `include:`; undefined when it is wrong, which has been reported. */
  include(step: Fields, at: Path, scope: StaticScope, number: string): IncludeAction | undefined
}

const stepKeys = Object.keys(stepShape.shape)
/** Keys that make no sense for a whole file of steps. */
const notForInclude = ['save', 'expect', 'retry', 'timeout_ms', 'data']

/** Reads a list of steps; whatever is wrong with them goes to the faults. */
export function readSteps(reader: StepReader, list: unknown, at: Path, scope: StaticScope, prefix = ''): StepPlan[] {
  if (!Array.isArray(list)) {
    reader.faults.add(at, `${String(at.at(-1))} must be a list of steps`)
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
  const { faults } = reader
  const place = { file: faults.document.file, ...placeOf(faults, at) }
  if (typeof raw === 'string') {
    const verb = verbNamed(reader, raw, () => faults.add(at, unknownVerb(raw, reader.verbs)))
    const action = verb && readCall(reader, { verb, value: null, at, scope })
    return action && { number, place, label: raw, retry: once, continueOnError: false, expect: [], action }
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    faults.add(at, 'a step is the name of a command, or a mapping with one command')
    return undefined
  }
  const fields = raw as Fields
  const loop = readLoop(reader, fields, at, scope)
  const inner = loop ? scope.within(loop.as) : scope
  const action = readAction(reader, fields, at, inner, number)
  const options = readOptions(reader, fields, at, inner)
  // Names are known from the next step on; `save` of a faulty step still counts, so that its users are not faulted too.
  if (options.save !== undefined) scope.names.add(options.save)
  if (!action) return undefined
  return { number, place, label: labelOf(fields, reader.verbs), ...options, ...(loop && { forEach: loop }), action }
}

/** Options that are values and nothing more. */
const plainKeys = ['name', 'save', 'retry', 'timeout_ms', 'continue_on_error', 'as']

const once = { count: 0, delayMs: 0, repeatDelivered: false } as const

const placeOf = (faults: FaultList, at: Path) => {
  const { line, column } = faults.document.spanOf(at)
  return { line, column }
}

function readLoop(reader: StepReader, fields: Fields, at: Path, scope: StaticScope) {
  const { for_each: items, as = 'item' } = fields
  if (items === undefined) {
    if (fields['as'] !== undefined)
      reader.faults.addKey([...at, 'as'], 'as is the name of the item in for_each, which this step has not')
    return undefined
  }
  const template = scope.template(items, [...at, 'for_each'])
  const known = scope.value(template)
  if (known !== later && !Array.isArray(known)) {
    reader.faults.add([...at, 'for_each'], 'for_each must be a list, or a reference to one')
  }
  if (isReserved(as)) reader.faults.add([...at, 'as'], reservedName(as))
  return { items: template, as: String(as) }
}

function readOptions(reader: StepReader, fields: Fields, at: Path, scope: StaticScope) {
  const { faults } = reader
  const { expect, when } = fields
  const plain = Object.fromEntries(plainKeys.flatMap((key) => (key in fields ? [[key, fields[key]] as const] : [])))
  const name = plain['name'] === undefined ? undefined : scope.template(plain['name'], [...at, 'name'])
  const known = Object.fromEntries(
    Object.entries(plain).map(([key, value]) => [key, scope.value(scope.template(value, [...at, key]))]),
  )
  // Of two forms the one that was begun is the one that was meant.
  const retry = retryShape.options[typeof known['retry'] === 'object' ? 1 : 0]
  const schema = stepShape.extend({ retry: retry.optional() })
  checkValue({ schema, value: known, locate: (path) => [...at, ...path] }, faults)
  for (const key of ['save', 'retry', 'timeout_ms', 'continue_on_error', 'as']) {
    if (holdsLater(known[key])) faults.add([...at, key], `${key} must be known before the script runs`)
  }
  // The name may hold what only the run brings; everything else may not.
  const parsed = stepShape.omit({ name: true }).safeParse(known)
  const { save, retry: tries, timeout_ms, continue_on_error = false } = parsed.success ? parsed.data : {}
  if (save !== undefined && isReserved(save)) faults.add([...at, 'save'], reservedName(save))
  const condition = when === undefined ? undefined : parseCondition(when, [...at, 'when'], scope, faults)
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
    expect: expect === undefined ? [] : readExpectations(expect, [...at, 'expect'], scope, faults),
  }
}

const isReserved = (name: unknown) => (reserved as readonly unknown[]).includes(name)
const reservedName = (name: unknown) =>
  `${JSON.stringify(name)} has a meaning of its own (${reserved.join(', ')}): choose another name`

function readAction(reader: StepReader, fields: Fields, at: Path, scope: StaticScope, number: string) {
  const { faults, verbs } = reader
  const others = Object.keys(fields).filter((key) => !stepKeys.includes(key))
  const unknown = others.filter((key) => !verbs.has(key))
  const named = [
    ...others.filter((key) => verbs.has(key)),
    ...['command', 'include'].filter((key) => fields[key] !== undefined),
  ]
  for (const key of unknown) faults.addKey([...at, key], unknownKey(key, named.length > 0, verbs))
  if (named.length === 0) {
    if (unknown.length === 0) faults.add(at, 'the step has no command')
    return undefined
  }
  if (named.length > 1) {
    const last = named.toSorted((a, b) => Object.keys(fields).indexOf(a) - Object.keys(fields).indexOf(b)).at(-1)!
    faults.addKey(
      [...at, last],
      `a step has one command, and this one has ${named.map((key) => JSON.stringify(key)).join(' and ')}`,
    )
    return undefined
  }
  const [key] = named as [string]
  if (key !== 'include' && fields['vars'] !== undefined)
    faults.addKey([...at, 'vars'], 'vars in a step belong to include')
  if (key === 'include') {
    for (const other of notForInclude) {
      if (fields[other] !== undefined)
        faults.addKey([...at, other], `${other} belongs to the steps of the included file`)
    }
    return reader.include(fields, at, scope, number)
  }
  if (key === 'command') return readLongForm(reader, fields, at, scope)
  if (fields['data'] !== undefined)
    faults.addKey([...at, 'data'], `data goes with the long form, {command: ${key}, data: …}`)
  return readCall(reader, { verb: verbs.get(key)!, value: fields[key], at: [...at, key], scope })
}

function readLongForm(reader: StepReader, fields: Fields, at: Path, scope: StaticScope): CallAction | undefined {
  const { command, data = null } = fields
  const place = [...at, 'command']
  if (typeof command !== 'string') {
    reader.faults.add(place, 'command must be the name of a command')
    return undefined
  }
  const verb = verbNamed(reader, command, () => reader.faults.add(place, unknownVerb(command, reader.verbs)))
  if (data !== null && (typeof data !== 'object' || Array.isArray(data))) {
    reader.faults.add([...at, 'data'], 'data must be an object')
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
  const { faults, needs } = reader
  const given = spell(verb, value, at)
  if (typeof given === 'string') {
    faults.add(at, given)
    return undefined
  }
  const entries = given.map(({ field, item, at: place }) => [field, scope.template(item, place)] as const)
  const data: Template = { kind: 'map', entries }
  const known = fieldsOf(verb, data, (template) => scope.value(template))
  if (verb.uses && known['session_id'] === undefined) {
    if (verb.uses === 'shell' && !needs.shell) {
      faults.addKey(at, `${verb.name} needs a shell: make one with a step before, or give its session_id`)
    }
    needs[verb.uses] = true
    if (Object.hasOwn(verb.schema.shape, 'session_id')) known['session_id'] = later
  }
  if (startsShell(verb)) needs.shell = true
  const places = new Map(given.map(({ field, at: place }) => [field, place]))
  const locate = ([field, ...rest]: Path) =>
    field === undefined ? at : [...(places.get(String(field)) ?? [...at, field]), ...rest]
  checkValue({ schema: verb.schema, value: known, locate }, faults)
  return { kind: 'call', verb, data }
}

interface Spelled {
  readonly field: string
  readonly item: unknown
  readonly at: Path
}

/** The fields of a call from its short form; a sentence when there is no telling which is which. */
function spell(verb: Verb, value: unknown, at: Path): Spelled[] | string {
  if (value === null || value === undefined) return []
  const { positional, name } = verb
  const [first] = positional
  const words = positional.join(', ')
  if (Array.isArray(value)) {
    if (positional.length === 1 && isListField(verb, first!)) return [{ field: first!, item: value, at }]
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

/** A misspelled command, or a misspelled key beside one. */
function unknownKey(key: string, hasVerb: boolean, verbs: Verbs): string {
  const asKey = didYouMean(key, stepKeys)
  return hasVerb || (asKey && !didYouMean(key, verbs.keys()))
    ? `unknown key ${JSON.stringify(key)}${asKey || didYouMean(key, verbs.keys())}`
    : unknownVerb(key, verbs)
}

/** Longest value that a label repeats. */
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
