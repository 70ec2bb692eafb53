/** Converts validation schemas to JSON Schema, with named shapes as components. */
import { z } from 'zod'
import { annotations } from '../../core/operation/schema-params.ts'
import { otherNames } from '../../core/operation/input/schema-fields.ts'

export type Json = Record<string, unknown>

/** Returns the JSON Schema of a shape; shapes with an ID become components and are referenced. */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const json = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
    override: ({ jsonSchema }) => nameSpellings(jsonSchema),
  }) as Json & {
    $defs?: Record<string, Json>
    id?: string
  }
  const { $schema: _, $defs, ...body } = json
  const collect = (id: string, definition: Json) => {
    const { id: _id, ...rest } = definition
    // A shape in both requests and responses is described once, as open as responses are.
    components[id] = rewrite((components[id] as Json | undefined) ?? rest, io)
  }
  for (const [id, definition] of Object.entries($defs ?? {})) collect(id, definition)
  if (typeof body.id === 'string') {
    collect(body.id, body)
    return { $ref: `#/components/schemas/${body.id}` }
  }
  return rewrite(body, io)
}

/** Adds the other names of a field to its description; zod calls it for every layer of a schema. */
function nameSpellings(field: Json): void {
  const { description } = field
  const names = otherNames(field)
  const text = `; also accepted as ${names.join(', ')}`
  if (names.length > 0 && typeof description === 'string' && !description.endsWith(text))
    field['description'] = description + text
}

/** Points references to the components, removes our own annotations, and keeps objects in responses open. */
function rewrite(json: Json, io: 'input' | 'output'): Json {
  return JSON.parse(JSON.stringify(json), (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string') return value.replace('#/$defs/', '#/components/schemas/')
    // Zod closes objects in output schemas, but newer servers may respond with additional fields.
    if (key === 'additionalProperties' && value === false && io === 'output') return undefined
    return annotations.has(key) ? undefined : value
  }) as Json
}

const warning = { type: 'string', description: 'Note for the caller, e.g. which unknown fields were ignored' }

/** Declares the `warning` that the server can add to every response that is an object. */
export function nameWarning(schema: Json, components: Json): void {
  const { $ref, properties, anyOf, oneOf } = schema as {
    $ref?: string
    properties?: Json
    anyOf?: Json[]
    oneOf?: Json[]
  }
  if ($ref !== undefined) nameWarning(components[$ref.replace(/^.*\//, '')] as Json, components)
  if (properties) properties['warning'] ??= warning
  for (const option of anyOf ?? oneOf ?? []) nameWarning(option, components)
}
