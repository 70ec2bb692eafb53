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
    components[id] ??= rewrite(rest)
  }
  for (const [id, definition] of Object.entries($defs ?? {})) collect(id, definition)
  if (typeof body.id === 'string') {
    collect(body.id, body)
    return { $ref: `#/components/schemas/${body.id}` }
  }
  return rewrite(body)
}

/** Points references at the components and drops our own annotations. */
function rewrite(json: Json): Json {
  return JSON.parse(JSON.stringify(json), (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string') return value.replace('#/$defs/', '#/components/schemas/')
    return key === 'spelling' || key === 'aliases' || key === 'offTerminal' ? undefined : value
  }) as Json
}
