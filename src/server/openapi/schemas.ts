/** JSON Schemas of the shapes that validate, with those that have a name as components. */
import { z } from 'zod'

export type Json = Record<string, unknown>

/** JSON Schema of a shape; shapes with an id become components and are referred to. */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const json = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' }) as Json & {
    $defs?: Record<string, Json>
    id?: string
  }
  const { $schema: _, $defs, ...body } = json
  const collect = (id: string, definition: Json) => {
    const { id: _id, ...rest } = definition
    // A shape of requests and responses is described once, as open as responses are.
    components[id] = rewrite((components[id] as Json | undefined) ?? rest, io)
  }
  for (const [id, definition] of Object.entries($defs ?? {})) collect(id, definition)
  if (typeof body.id === 'string') {
    collect(body.id, body)
    return { $ref: `#/components/schemas/${body.id}` }
  }
  return rewrite(body, io)
}

/** Of ours, for the terminal. */
const annotations: ReadonlySet<string> = new Set(['spelling', 'aliases', 'offTerminal', 'short'])

/** The schema with references to the components and without our own annotations; objects of responses stay open. */
function rewrite(json: Json, io: 'input' | 'output'): Json {
  return JSON.parse(JSON.stringify(json), (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string') return value.replace('#/$defs/', '#/components/schemas/')
    // Zod closes objects that it has parsed, but newer servers may answer with more fields than these.
    if (key === 'additionalProperties' && value === false && io === 'output') return undefined
    return annotations.has(key) ? undefined : value
  }) as Json
}

const warning = { type: 'string', description: 'What the caller should know, e.g. which unknown fields were ignored' }

/** Names the `warning` that the server can add to every response that is an object. */
export function nameWarning(schema: Json, components: Json): void {
  const { $ref, properties, anyOf, oneOf } = schema as {
    $ref?: string
    properties?: Json
    anyOf?: Json[]
    oneOf?: Json[]
  }
  if ($ref !== undefined) nameWarning(components[$ref.split('/').at(-1)!] as Json, components)
  if (properties) properties['warning'] ??= warning
  for (const option of anyOf ?? oneOf ?? []) nameWarning(option, components)
}
