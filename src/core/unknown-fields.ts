/** Finds fields that a schema does not name: ignored over HTTP (and named in `warning`), refused in strict calls. */
import { z } from 'zod'
import { didYouMean } from './suggest.ts'

export interface UnknownField {
  /** `commands[1].data.colour` */
  readonly path: string
  /** ` (did you mean "color"?)`, or nothing. */
  readonly hint: string
}

/** Every field of `value` that `schema` does not know, at any depth. */
export function unknownFields(schema: z.ZodType, value: unknown, path = ''): UnknownField[] {
  const inner = unwrap(schema)
  if (Array.isArray(value)) {
    if (!(inner instanceof z.ZodArray)) return []
    return value.flatMap((item, index) => unknownFields(inner.element as z.ZodType, item, `${path}[${index}]`))
  }
  if (typeof value !== 'object' || value === null) return []
  if (inner instanceof z.ZodUnion) {
    const option = inner.options.find((candidate) => (candidate as z.ZodType).safeParse(value).success)
    return option ? unknownFields(option as z.ZodType, value, path) : []
  }
  if (!(inner instanceof z.ZodObject)) return []
  const shape = inner.shape as Record<string, z.ZodType>
  if (inner.def.catchall && !(inner.def.catchall instanceof z.ZodNever)) return []
  return Object.entries(value).flatMap(([key, item]) => {
    const at = path ? `${path}.${key}` : key
    const field = Object.hasOwn(shape, key) ? shape[key] : undefined
    return field ? unknownFields(field, item, at) : [{ path: at, hint: didYouMean(key, Object.keys(shape)) }]
  })
}

function unwrap(schema: z.ZodType): z.ZodType {
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

/** Renames camelCase aliases (`waitFor`) to the wire names (`wait_for`) wherever the schema knows the latter. */
export function renameAliases(schema: z.ZodType, value: unknown): unknown {
  const inner = unwrap(schema)
  if (Array.isArray(value)) {
    return inner instanceof z.ZodArray ? value.map((item) => renameAliases(inner.element as z.ZodType, item)) : value
  }
  if (inner instanceof z.ZodUnion) return renameInUnion(inner, value)
  if (typeof value !== 'object' || value === null || !(inner instanceof z.ZodObject)) return value
  const shape = inner.shape as Record<string, z.ZodType>
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const snake = key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      const name =
        !Object.hasOwn(shape, key) && Object.hasOwn(shape, snake) && !Object.hasOwn(value, snake) ? snake : key
      const field = Object.hasOwn(shape, name) ? shape[name] : undefined
      return [name, field ? renameAliases(field, item) : item]
    }),
  )
}

/** The names of the first option that takes the value under them. */
function renameInUnion(union: z.ZodUnion, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const option of union.options as readonly z.ZodType[]) {
    const renamed = renameAliases(option, value)
    if (option.safeParse(renamed).success) return renamed
  }
  return value
}
