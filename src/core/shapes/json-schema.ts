/** The JSON schema that an answer is to have, as large as it takes no time to compile. */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'

const { schema: most } = limits.input

export const jsonSchema = z.record(z.string(), z.unknown()).superRefine((schema, context) => {
  const fault = excessOf(schema)
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault })
})

/** Keywords whose text or list is no schema; under any other name it may stand for one: `{"price": "number"}`. */
const facts = new Set(
  'type title description default examples enum const required format pattern $ref $id $schema $comment $anchor $dynamicRef $dynamicAnchor contentMediaType contentEncoding anyOf oneOf allOf prefixItems'.split(
    ' ',
  ),
)

/** What is too much of a schema, as the end of a sentence; undefined when nothing is. */
export function excessOf(schema: unknown): string | undefined {
  const open: { value: unknown; name: string; depth: number }[] = [{ value: schema, name: '', depth: 1 }]
  let parts = 0
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, name, depth } = next
    if (depth > most.depth) return `must have at most ${most.depth} levels`
    const isList = Array.isArray(value)
    const isObject = typeof value === 'object' && value !== null && !isList
    if (isObject || ((isList || typeof value === 'string') && !facts.has(name))) parts++
    if (parts > most.parts) return `must have at most ${most.parts} schemas (objects) in it`
    if (isList) for (const item of value) open.push({ value: item, name: 'enum', depth: depth + 1 })
    if (isObject) for (const [key, inner] of Object.entries(value)) open.push({ value: inner, name: key, depth: depth + 1 }) // prettier-ignore
  }
  return JSON.stringify(schema).length > most.chars ? `must have at most ${most.chars} characters as JSON` : undefined
}
