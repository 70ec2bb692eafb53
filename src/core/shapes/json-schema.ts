/** JSON schemas in requests, with a limited size so that compiling them is fast. */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'

const { schema: most } = limits.input

export const jsonSchema = z.record(z.string(), z.unknown()).superRefine((schema, context) => {
  const excess = schemaSizeError(schema)
  if (excess !== undefined) context.addIssue({ code: 'custom', message: excess })
})

/** Keywords whose text or list is no schema; under other names it may be shorthand for one: `{"price": "number"}`. */
const plainKeywords = new Set([
  ...'type title description default examples enum const required format pattern $ref $id $schema'.split(' '),
  ...'$comment $anchor $dynamicRef $dynamicAnchor contentMediaType contentEncoding anyOf oneOf'.split(' '),
  ...'allOf prefixItems'.split(' '),
])

/** Describes the first limit that a schema exceeds, as the end of a sentence; undefined when it is small enough. */
export function schemaSizeError(schema: unknown): string | undefined {
  const open: { value: unknown; name: string; depth: number }[] = [{ value: schema, name: '', depth: 1 }]
  let parts = 0
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, name, depth } = next
    if (depth > most.depth) return `must have at most ${most.depth} levels`
    const isList = Array.isArray(value)
    const isObject = typeof value === 'object' && value !== null && !isList
    if (isObject || ((isList || typeof value === 'string') && !plainKeywords.has(name))) parts++
    if (parts > most.parts) return `must have at most ${most.parts} subschemas (objects)`
    if (isList) for (const item of value) open.push({ value: item, name: 'enum', depth: depth + 1 })
    if (isObject)
      for (const [key, inner] of Object.entries(value)) open.push({ value: inner, name: key, depth: depth + 1 })
  }
  return JSON.stringify(schema).length > most.chars ? `must have at most ${most.chars} characters as JSON` : undefined
}
