/** Notes on values that a schema accepts, but that the engine cannot do as the caller expects. They become warnings. */
import { z } from 'zod'
import { unwrap } from './schema-fields.ts'

/** Returns a note on a value; undefined if there is nothing to say. */
type Note<Schema extends z.ZodType> = (value: z.output<Schema>) => string | undefined

const notes = new WeakMap<z.ZodType, (value: never) => string | undefined>()

/** Adds a note to a schema, which may be wrapped as optional, and returns it. */
export function noted<Schema extends z.ZodType>(schema: Schema, note: Note<Schema>): Schema {
  notes.set(schema, note)
  return schema
}

/** Returns the notes on all fields of a valid input. */
export function notesOn(schema: z.ZodType, value: unknown): string[] {
  const inner = unwrap(schema)
  const own = value === undefined ? undefined : notes.get(inner)?.(value as never)
  const fields = inner instanceof z.ZodObject ? Object.entries(inner.shape as Record<string, z.ZodType>) : []
  if (typeof value !== 'object' || value === null) return own === undefined ? [] : [own]
  const within = fields.flatMap(([name, field]) => notesOn(field, (value as Record<string, unknown>)[name]))
  return [...new Set([...(own === undefined ? [] : [own]), ...within])]
}
