/** JSON Schemas of tools, without what agents do not need: each character is part of every conversation. */
import { z } from 'zod'
import { annotations } from '../core/operation/schema-params.ts'

type Schema = Record<string, unknown>

/** Limits, formats and identifiers; the input is validated by the zod schema. */
const omitted: ReadonlySet<string> = new Set([
  ...annotations,
  'brief',
  '$schema',
  '$id',
  'id',
  'additionalProperties',
  'propertyNames',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'pattern',
  'format',
  'title',
])

const omittedOfOutput: ReadonlySet<string> = new Set([...omitted, 'required'])

/**
 * Returns the JSON Schema of the input or output of a tool, without the fields of objects that are `brief`. Only callers
 * need to know which fields are required.
 */
export const schemaOf = (schema: z.ZodObject, io: 'input' | 'output' = 'input'): { type: 'object' } & Schema => {
  const json = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' })
  return { type: 'object', properties: {}, ...(compact(json, io === 'input' ? omitted : omittedOfOutput) as Schema) }
}

function compact(value: unknown, left: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((one) => compact(one, left))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value as Schema).flatMap(([key, inner]): [string, unknown][] => {
    if (left.has(key)) return []
    // The description says what such an object may contain.
    if ((key === 'properties' || key === 'required') && (value as Schema)['brief']) return []
    // Defaults that say nothing: false, empty and nested ones.
    if (key === 'default' && (!inner || typeof inner === 'object')) return []
    if (key === 'description' && inner === '') return []
    // Names of fields are not keywords.
    if (key === 'properties')
      return [
        [key, Object.fromEntries(Object.entries(inner as Schema).map(([name, field]) => [name, compact(field, left)]))],
      ]
    return [[key, compact(inner, left)]]
  })
  return Object.fromEntries(entries)
}
