/** Generates the JSON Schema of scripts, for editors, from their zod schemas and from all commands and operations. */
import { isMapping } from '../../../core/text/is-mapping.ts'
import { z } from 'zod'
import { shareDefinitions } from './share-definitions.ts'
import { scriptShape, stepShape } from './shape.ts'
import { kebab } from '../../../lines/values.ts'
import { annotations } from '../../../core/operation/schema-params.ts'
import type { Verb, Verbs } from './verbs.ts'

type Json = Record<string, unknown>

/** Text with a reference, which is allowed for any value, as an editor cannot know its type. */
const reference = { type: 'string', pattern: String.raw`\$\{[^}]*\}` }

/** Numbers and booleans, which become text in text fields. */
const plainValue = { type: ['number', 'boolean'] }

export function scriptSchema(verbs: Verbs): Json {
  const script = toJson(scriptShape)
  const step = toJson(stepShape)
  const { command: _, data: __, ...options } = mappingIn(step, 'properties')
  const byVerb = Object.fromEntries(
    [...verbs].flatMap(([name, verb]) => spellings(name).map((key) => [key, shortForm(verb)])),
  )
  const bare = [...verbs].flatMap(([name, { schema, preset = {} }]) =>
    schema.safeParse(preset).success ? spellings(name) : [],
  )
  const steps = { type: 'array', minItems: 1, items: { $ref: '#/$defs/step' } }
  return shareDefinitions({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'bax script',
    description: 'Steps for `bax run`',
    anyOf: [{ $ref: '#/$defs/script' }, { $ref: '#/$defs/body' }],
    $defs: {
      script: {
        ...script,
        required: ['steps'],
        additionalProperties: false,
        properties: { ...mappingIn(script, 'properties'), steps, finally: { ...steps, minItems: 0 } },
      },
      body: {
        type: 'object',
        required: ['commands'],
        properties: { commands: { type: 'array', items: { $ref: '#/$defs/longForm' } } },
      },
      step: { anyOf: [{ enum: bare, description: 'A command without fields' }, { $ref: '#/$defs/stepMapping' }] },
      stepMapping: {
        type: 'object',
        properties: { ...options, ...byVerb, ...mappingIn(longForm(verbs), 'properties') },
        additionalProperties: false,
        oneOf: [...Object.keys(byVerb), 'command', 'include'].map((name) => ({ required: [name] })),
      },
      longForm: { ...longForm(verbs), additionalProperties: false },
    },
  })
}

/** Returns the wire name of a command, and its spellings on the command line. */
const spellings = (name: string): string[] => [...new Set([name, kebab(name), name.replaceAll('_', ' ')])]

const longForm = (verbs: Verbs): Json => ({
  type: 'object',
  required: ['command'],
  properties: { command: { enum: [...verbs.keys()].flatMap(spellings) }, data: { type: ['object', 'null'] } },
})

/** Returns the schema of a command's short forms: a mapping and, where possible, a value, a list of values, or nothing. */
function shortForm(verb: Verb): Json {
  return { description: verb.summary, anyOf: [verb, ...(verb.others ?? [])].flatMap(shortForms) }
}

function shortForms({ schema, forms: positional, texts, uses, preset = {} }: Verb): Json[] {
  const { properties: fields = {}, required = [] } = toJson(schema) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, texts.has(name) ? withPlainValues(field) : field]),
  )
  const needed = required.filter((name) => !(uses && name === 'session_id') && !(name in preset))
  const requirement = needed.length > 0 && { required: needed }
  const forms: Json[] = [{ type: 'object', properties, additionalProperties: false, ...requirement }]
  for (const form of positional) {
    const [first] = form
    if (first !== undefined && form.length === 1) forms.push(properties[first]!)
    if (form.length <= 1) continue
    forms.push({
      type: 'array',
      prefixItems: form.map((name) => properties[name] ?? {}),
      minItems: positional.length > 1 ? form.length : needed.length,
      maxItems: form.length,
    })
  }
  if (needed.length === 0) forms.push({ type: 'null' })
  return forms
}

/** Also allows numbers and booleans in a field with text or a list of texts. */
function withPlainValues(field: Json): Json {
  const { description, anyOf, ...form } = field
  const forms = Array.isArray(anyOf) ? anyOf.filter(isMapping) : [form]
  const isList = ({ type }: Json) => type === 'array'
  const lists = forms.map((one) => (isList(one) ? { ...one, items: withPlainValues(mappingIn(one, 'items')) } : one))
  const all = forms.some(isList) ? lists : [...forms, plainValue]
  return Array.isArray(anyOf)
    ? { ...field, anyOf: all }
    : { ...(description !== undefined && { description }), anyOf: all }
}

/** Converts a zod schema, and allows references in place of every value. */
function toJson(schema: z.ZodType): Json {
  const whole: Json = { ...z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) }
  const { $schema: _, $defs: __, ...json } = whole
  return withReferences(inlined(json, mappingIn(whole, '$defs')), true)
}

/** Replaces `$ref` to named schemas by the schemas themselves: a document of many schemas has other `$defs`. */
function inlined({ $ref, ...rest }: Json, named: Json): Json {
  const fields = Object.entries(rest).map(([key, value]) => [key, inAny(value, (node) => inlined(node, named))])
  const name = typeof $ref === 'string' ? $ref.replace('#/$defs/', '') : ''
  if (!Object.hasOwn(named, name))
    return Object.fromEntries([...fields, ...($ref === undefined ? [] : [['$ref', $ref]])])
  const { id: _, ...shape } = mappingIn(named, name)
  return { ...inlined(shape, named), ...Object.fromEntries(fields) }
}

/** Replaces the schemas in a value: itself, or those in a list. */
function inAny(value: unknown, replace: (node: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((item) => inAny(item, replace))
  return isMapping(value) ? replace(value) : value
}

const mappingIn = (node: Json, key: string): Json => {
  const value = node[key]
  return isMapping(value) ? value : {}
}

/** Also allows the other spelling of the name of a command in a batch. */
function withSpellings(field: string, { const: name, ...item }: Json): Json {
  if (name === undefined) return item
  return { ...item, ...(field === 'command' ? { enum: spellings(String(name)) } : { const: name }) }
}

function withReferences(node: Json, isRoot = false): Json {
  const fields = Object.fromEntries(Object.entries(node).filter(([key]) => !annotations.has(key)))
  const inner: Json = Object.fromEntries(
    Object.entries(fields).map(([key, value]) => {
      if (key === 'properties' || key === '$defs') {
        const entries = Object.entries(mappingIn(fields, key)).map(([name, item]) => [
          name,
          inAny(item, (schema) => withReferences(withSpellings(name, schema))),
        ])
        return [key, Object.fromEntries(entries)]
      }
      return [
        key,
        ['anyOf', 'oneOf', 'items', 'prefixItems'].includes(key)
          ? inAny(value, (schema) => withReferences(schema))
          : value,
      ]
    }),
  )
  // Editors then mark unknown fields, which bax run refuses.
  if (inner['properties'] !== undefined && inner['additionalProperties'] === undefined)
    inner['additionalProperties'] = false
  const isPlainText =
    inner['type'] === 'string' &&
    Object.keys(inner).every((key) => ['type', 'description', 'default', 'minLength'].includes(key))
  if (isRoot || isPlainText || (inner['type'] === undefined && inner['enum'] === undefined)) return inner
  const { description, ...rest } = inner
  return { ...(description !== undefined && { description }), anyOf: [rest, reference] }
}
