/** Derives flat parameters from a schema, for the command line, query strings and the reference. */
import { z } from 'zod'
import type { Param, Spelling } from './params.ts'

interface JsonSchema {
  type?: string
  enum?: unknown[]
  default?: unknown
  description?: string
  flag?: string
  aliases?: string[]
  spelling?: Spelling
  offTerminal?: true
  short?: string
  file?: 'text' | 'base64'
  writes?: true
  opposite?: string
  textField?: string
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
  $ref?: string
  $defs?: Record<string, JsonSchema>
  anyOf?: JsonSchema[]
}

/** Keys in the meta of a field that are for bax only, not for documents. */
export const annotations: ReadonlySet<string> = new Set([
  'flag',
  'aliases',
  'spelling',
  'offTerminal',
  'short',
  'file',
  'writes',
  'opposite',
  'textField',
])

/** Returns the parameters of an input schema in declaration order. */
export function paramsOf(schema: z.ZodObject): readonly Param[] {
  let params = known.get(schema)
  if (!params) known.set(schema, (params = derive(schema)))
  return params
}

/** Cache: deriving takes about a millisecond, and every request with a query string needs it. */
const known = new WeakMap<z.ZodObject, readonly Param[]>()

function derive(schema: z.ZodObject): Param[] {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as JsonSchema
  return Object.entries(json.properties ?? {}).map(([name, raw]) => {
    const field = raw.$ref ? { ...json.$defs?.[raw.$ref.replace(/^.*\//, '')], ...raw } : raw
    return {
      name,
      ...(field.flag && { flag: field.flag }),
      ...(field.aliases && { aliases: field.aliases }),
      type: typeOf(field),
      required: json.required?.includes(name) ?? false,
      ...(field.description && { description: field.description }),
      ...(field.default !== undefined && { default: field.default }),
      ...(field.enum && { choices: field.enum.map(String) }),
      ...itemChoices(field),
      ...(field.spelling && { spelling: field.spelling }),
      ...(field.offTerminal && { offTerminal: field.offTerminal }),
      ...(field.short && { short: field.short }),
      ...(field.file && { file: field.file }),
      ...(field.writes && { writes: field.writes }),
      ...(field.opposite && { opposite: field.opposite }),
      ...(field.textField && { textField: field.textField }),
    }
  })
}

/** Returns the allowed items of a list; items that are not strings have no text form and do not count. */
function itemChoices({ items }: JsonSchema): { itemChoices?: readonly string[] } {
  const texts = (items?.anyOf ?? (items ? [items] : [])).filter(({ type }) => type === 'string')
  const closed = texts.length > 0 && texts.every((item) => item.enum)
  return closed ? { itemChoices: texts.flatMap((item) => (item.enum ?? []).map(String)) } : {}
}

function typeOf(field: JsonSchema): Param['type'] {
  if (field.type === 'array' && isText(field.items)) return 'string[]'
  if (field.type === 'string' || field.type === 'number' || field.type === 'integer' || field.type === 'boolean')
    return field.type
  return 'json'
}

/** Returns whether items can be written as text: strings, or objects with a string as their short form. */
const isText = (items: JsonSchema | undefined): boolean =>
  items?.type === 'string' || (items?.anyOf?.some(({ type }) => type === 'string') ?? false)
