/** Reads the steps of a script into plans. */
import { isMapping } from '../../../core/text/is-mapping.ts'
import { didYouMean } from '../../../core/errors/suggest.ts'
import { elementAsFile, formFor } from '../../../core/operation/positional.ts'
import { checkValue } from './check.ts'
import { parseCondition } from './condition.ts'
import type { Path } from './document.ts'
import { readExpectations } from './expectations.ts'
import type { CallAction, IncludeAction, StepPlan } from './plan.ts'
import { dependsOnSteps, isPlaceholder, placeholder, type Template } from './references.ts'
import { knownValue, readTemplate, reserved, type StaticScope } from './scope.ts'
import { type Retry, retryShape, stepShape } from './shape.ts'
import { unknownVerb } from './unknown-verb.ts'
import { fieldsOf, startsShell, type Verb, type Verbs } from './verbs.ts'

type Fields = Readonly<Record<string, unknown>>

/** The context in which steps are read. */
export interface StepReader {
  readonly verbs: Verbs
  readonly scope: StaticScope
  /** Whether a step uses the script's own session or shell. */
  readonly needs: { browser: boolean; shell: boolean }
  /** Reads the file of an `include:`; undefined, with reported errors, when it is invalid. */
  include(step: Fields, at: Path, scope: StaticScope, number: string): IncludeAction | undefined
}

const stepKeys = Object.keys(stepShape.shape)
/** Keys that are not allowed with `include`. */
const notForInclude = ['save', 'expect', 'retry', 'timeout_ms', 'fingerprint', 'data']
/** Options with plain values, which must be known before the run. */
const plainKeys = ['save', 'retry', 'timeout_ms', 'continue_on_error', 'as']

const once: Retry = { count: 0, delay_ms: 0, repeat_delivered: false }

/** Reads a list of steps and reports their errors. */
export const readSteps = (reader: StepReader, list: readonly unknown[], at: Path, prefix: string): StepPlan[] =>
  list.flatMap((raw, index) => readStep(reader, raw, [...at, index], `${prefix}${index + 1}`) ?? [])

function readStep(reader: StepReader, raw: unknown, at: Path, number: string): StepPlan | undefined {
  const { scope, verbs } = reader
  const place = scope.errors.placeOf(at)
  if (typeof raw === 'string') {
    const verb = verbNamed(reader, raw, at)
    const action = verb && readCall(reader, verb, null, at)
    return action && { number, place, label: raw, retry: once, continueOnError: false, expect: [], action }
  }
  if (!isMapping(raw)) {
    scope.errors.add(at, 'a step must be the name of a command, or a mapping with one command')
    return undefined
  }
  const fields: Fields = raw
  const forEach = readLoop(fields, at, scope)
  const inner = forEach ? { ...scope, loops: new Set([...scope.loops, forEach.as]) } : scope
  const action = readAction({ ...reader, scope: inner }, fields, at, number)
  const options = readOptions(fields, at, inner)
  // The name is known from the next step on, even when this step is invalid, to avoid consequential errors.
  if (options.save !== undefined) scope.saved.add(options.save)
  return action && { number, place, label: labelOf(fields, verbs), ...options, forEach, action }
}

function readLoop(fields: Fields, at: Path, scope: StaticScope): StepPlan['forEach'] {
  const { for_each: items, as = 'item' } = fields
  const { errors } = scope
  if (items === undefined) {
    if (fields['as'] !== undefined) errors.addKey([...at, 'as'], 'as is only allowed with for_each')
    return undefined
  }
  const template = readTemplate(items, [...at, 'for_each'], scope)
  const known = knownValue(template, scope)
  if (!isPlaceholder(known) && !Array.isArray(known)) {
    errors.add([...at, 'for_each'], 'for_each must be a list, or a reference to one')
  }
  if (isReserved(as)) errors.add([...at, 'as'], reservedName(as))
  return { items: template, as: String(as) }
}

function readOptions(fields: Fields, at: Path, scope: StaticScope) {
  const { errors } = scope
  const { expect, when } = fields
  const given = ['name', ...plainKeys].filter((key) => key in fields)
  const templates = Object.fromEntries(given.map((key) => [key, readTemplate(fields[key], [...at, key], scope)]))
  const known: Record<string, unknown> = {
    ...Object.fromEntries(given.map((key) => [key, knownValue(templates[key]!, scope)])),
    // Text of the page, without references.
    ...('fingerprint' in fields && { fingerprint: fields['fingerprint'] }),
  }
  // Check against the form that was used, for precise errors.
  const retryForm = retryShape.options[typeof known['retry'] === 'object' ? 1 : 0]
  const schema = stepShape.extend({ retry: retryForm.optional() })
  checkValue(schema, known, errors, (path) => [...at, ...path])
  for (const key of plainKeys) {
    if (dependsOnSteps(known[key])) errors.add([...at, key], `${key} must be known before the script runs`)
  }
  // Only the name may contain values that are known at run time.
  const parsed = stepShape.omit({ name: true }).safeParse(known)
  const { save, retry, timeout_ms, fingerprint, continue_on_error = false } = parsed.success ? parsed.data : {}
  if (save !== undefined && isReserved(save)) errors.add([...at, 'save'], reservedName(save))
  return {
    name: fields['name'] === undefined ? undefined : templates['name'],
    when: when === undefined ? undefined : parseCondition(when, [...at, 'when'], scope),
    save,
    timeoutMs: timeout_ms,
    fingerprint,
    retry: typeof retry === 'object' ? retry : { ...once, count: retry ?? 0 },
    continueOnError: continue_on_error,
    expect: expect === undefined ? [] : readExpectations(expect, [...at, 'expect'], scope),
  }
}

const isReserved = (name: unknown) => reserved.includes(name)
const reservedName = (name: unknown) =>
  `${JSON.stringify(name)} is a reserved name (${reserved.join(', ')}): choose another name`

function readAction(reader: StepReader, fields: Fields, at: Path, number: string) {
  const { scope, verbs } = reader
  const { errors } = scope
  const others = Object.keys(fields).filter((key) => !stepKeys.includes(key))
  const unknown = others.filter((key) => !verbs.has(key))
  const named = [
    ...others.filter((key) => verbs.has(key)),
    ...['command', 'include'].filter((key) => fields[key] !== undefined),
  ]
  for (const key of unknown) errors.addKey([...at, key], unknownKey(key, named.length > 0, verbs))
  const [key] = named
  if (key === undefined) {
    if (unknown.length === 0) errors.add(at, errors.misplaced(at) ?? 'the step has no command')
    return undefined
  }
  if (named.length > 1) {
    const last = Object.keys(fields).findLast((other) => named.includes(other))!
    errors.addKey(
      [...at, last],
      `a step must have exactly one command, not ${named.map((other) => JSON.stringify(other)).join(' and ')}`,
    )
    return undefined
  }
  if (key === 'include') {
    for (const other of notForInclude) {
      if (fields[other] !== undefined)
        errors.addKey([...at, other], `${other} is not allowed with include: set it in the included file`)
    }
    return reader.include(fields, at, scope, number)
  }
  if (fields['vars'] !== undefined) errors.addKey([...at, 'vars'], 'vars is only allowed with include')
  if (key === 'command') return readLongForm(reader, fields, at)
  if (fields['data'] !== undefined)
    errors.addKey([...at, 'data'], `data is only allowed in the long form, {command: ${key}, data: …}`)
  return readCall(reader, verbs.get(key)!, fields[key], [...at, key])
}

function readLongForm(reader: StepReader, fields: Fields, at: Path): CallAction | undefined {
  const { command, data = null } = fields
  const { errors } = reader.scope
  const place = [...at, 'command']
  if (typeof command !== 'string') {
    errors.add(place, 'command must be the name of a command')
    return undefined
  }
  const verb = verbNamed(reader, command, place)
  if (data !== null && (typeof data !== 'object' || Array.isArray(data))) {
    errors.add([...at, 'data'], 'data must be an object')
    return undefined
  }
  return verb && readCall(reader, verb, data, data === null ? place : [...at, 'data'])
}

function readCall({ needs, scope }: StepReader, named: Verb, value: unknown, at: Path): CallAction | undefined {
  const { errors } = scope
  const verb =
    [named, ...(named.others ?? [])].find((one) => typeof fieldsFromShortForm(one, value, at) !== 'string') ?? named
  const fields = fieldsFromShortForm(verb, value, at)
  if (typeof fields === 'string') {
    errors.add(at, fields)
    return undefined
  }
  const isSet = new Set(fields.map(({ field }) => field))
  const preset = Object.entries(verb.preset ?? {}).filter(([field]) => !isSet.has(field))
  const given: Field[] = [...preset.map(([field, item]) => ({ field, item, at })), ...fields]
  const entries = given.map(({ field, item, isItem, at: place }) => {
    const template = readTemplate(item, place, scope)
    return [field, isItem ? asItem(template) : template] as const
  })
  const data: Template = { kind: 'map', entries }
  const known = fieldsOf(verb, data, (template) => knownValue(template, scope))
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
  checkValue(verb.schema, known, errors, locate)
  return { kind: 'call', verb, data, selectorAt: places.get('selector') }
}

const asItem = (template: Template): Template =>
  template.kind === 'reference' ? { ...template, isItem: true } : { kind: 'list', items: [template] }

interface Field {
  readonly field: string
  readonly item: unknown
  /** Whether the item is one of a list, unless it is a reference to a list. */
  readonly isItem?: boolean
  readonly at: Path
}

/** Returns the fields of a call in short form, or an error message. */
function fieldsFromShortForm(verb: Verb, value: unknown, at: Path): Field[] | string {
  if (value === null || value === undefined) return []
  if (typeof value === 'object' && !Array.isArray(value)) {
    return Object.entries(value).map(([field, item]) => ({ field, item, at: [...at, field] }))
  }
  const { name, forms, params } = verb
  const [first = []] = forms
  const isList = Array.isArray(value)
  if (isList && forms.length === 1 && first.length === 1 && isListField(verb, first[0]!))
    return [{ field: first[0]!, item: value, at }]
  const items: unknown[] = isList ? value : [value]
  // A list may leave out the last fields of the only form.
  const form = forms.length === 1 ? first : formFor(forms, items, params)
  const isComplete = isList ? items.length > 0 : first.length <= 1 || forms.length > 1
  if (form && isComplete && items.length <= form.length) {
    const fault = items
      .map((item, at) =>
        elementAsFile(
          params.find((param) => param.name === form[at])!,
          item,
        ),
      )
      .find(Boolean)
    if (fault) return fault
    return items.map((item, index) => {
      const field = form[index]!
      // One value of a list: `upload_files: ['#file', ./a.txt]`.
      const isItem = isList && isListField(verb, field) && typeof item !== 'object'
      return { field, item, isItem, at: isList ? [...at, index] : at }
    })
  }
  if (forms.every(({ length }) => length === 0)) return `${name} takes no value`
  if (!isList && forms.length === 1)
    return `${name} needs ${first.join(' and ')}: write a mapping, or a list in this order`
  return `${name} takes a list of ${forms
    .map((fields) => fields.join(', '))
    .filter(Boolean)
    .join(' or ')}, or a mapping`
}

const isListField = ({ schema }: Verb, field: string) => schema.shape[field]?._zod.def.type === 'array'

function verbNamed({ verbs, scope }: StepReader, name: string, at: Path): Verb | undefined {
  const verb = verbs.get(name)
  if (!verb) scope.errors.add(at, unknownVerb(name, verbs))
  return verb
}

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
  const first = firstValue(key === 'command' ? fields['data'] : fields[key], verbs.get(verb)?.forms[0]?.[0])
  if (typeof first !== 'string' && typeof first !== 'number') return verb
  const text = String(first).replaceAll(/\s+/g, ' ').trim()
  return `${verb} ${text.length > labelWidth ? `${text.slice(0, labelWidth - 1)}…` : text}`
}

function firstValue(value: unknown, field = ''): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value[0]
  const { [field]: first, ...others }: Fields = { ...value }
  if (first !== undefined) return first
  const named = Object.entries(others).find(([, other]) => typeof other === 'string')
  return named?.join(': ')
}
