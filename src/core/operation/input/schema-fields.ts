/** Reads the fields, names and options of a schema. */
import { z } from 'zod'

/** Removes the wrappers that make a schema optional, nullable, read-only or give it a default. */
export function unwrap(schema: z.ZodType): z.ZodType {
  let inner = schema
  while (
    inner instanceof z.ZodOptional ||
    inner instanceof z.ZodNullable ||
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault ||
    inner instanceof z.ZodReadonly
  ) {
    inner = inner.unwrap() as z.ZodType
  }
  if (inner instanceof z.ZodPipe) return unwrap(inner.in as z.ZodType)
  return inner
}

/** Returns the other names of a field, from its meta. */
export function otherNames(meta: Readonly<Record<string, unknown>> | undefined): string[] {
  const { flag, aliases = [] } = (meta ?? {}) as { flag?: string; aliases?: string[] }
  return flag === undefined ? aliases : [flag, ...aliases]
}

export const snakeCase = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Resolves a key to its field: the snake_case form, or the field whose meta has it as another name; else the key. */
export function wireNameOf(shape: Record<string, z.ZodType>, key: string, value: object): string {
  if (Object.hasOwn(shape, key)) return key
  const snake = snakeCase(key)
  const name = Object.hasOwn(shape, snake)
    ? snake
    : Object.keys(shape).find((field) => otherNames(shape[field]?.meta()).includes(key))
  return name !== undefined && !Object.hasOwn(value, name) ? name : key
}

/** Returns the option that a value's discriminator selects (`command: 'click'`), whether or not the rest is valid. */
export function namedOption(union: z.ZodUnion, value: object): z.ZodType | undefined {
  if (!(union instanceof z.ZodDiscriminatedUnion)) return undefined
  let named = namedOptions.get(union)
  if (!named) namedOptions.set(union, (named = optionsByName(union)))
  return named.get((value as Record<string, unknown>)[union.def.discriminator])
}

/** Cache: a union can have a hundred options, and every request with commands needs it several times. */
const namedOptions = new WeakMap<z.ZodDiscriminatedUnion, ReadonlyMap<unknown, z.ZodType>>()

function optionsByName({ options, def }: z.ZodDiscriminatedUnion): Map<unknown, z.ZodType> {
  const named = new Map<unknown, z.ZodType>()
  for (const option of options as readonly z.ZodType[]) {
    const inner = unwrap(option)
    const field =
      inner instanceof z.ZodObject ? (inner.shape as Record<string, z.ZodType>)[def.discriminator] : undefined
    if (field instanceof z.ZodLiteral) for (const name of field.values) if (!named.has(name)) named.set(name, option)
  }
  return named
}
