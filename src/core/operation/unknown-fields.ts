/** Finds fields that a schema does not define: ignored over HTTP (with a `warning`), rejected in strict calls. */
import { z } from 'zod'
import { didYouMean, isNearly, suggest } from '../errors/suggest.ts'
import { isSecurityField, meantEverywhere } from './security-fields.ts'

export interface UnknownField {
  /** Path such as `commands[1].data.colour`. */
  readonly path: string
  /** ` (did you mean "color"?)`, or nothing. */
  readonly hint: string
  /** Whether the caller seems to mean a field that restricts what the request allows. */
  readonly isSecurity: boolean
}

/** Lists all fields of `value` that `schema` does not define, at any depth. */
export function unknownFields(schema: z.ZodType, value: unknown, path = ''): UnknownField[] {
  const inner = unwrap(schema)
  if (Array.isArray(value)) {
    if (!(inner instanceof z.ZodArray)) return []
    return value.flatMap((item, index) => unknownFields(inner.element as z.ZodType, item, `${path}[${index}]`))
  }
  if (typeof value !== 'object' || value === null) return []
  if (inner instanceof z.ZodUnion) {
    const options = inner.options as readonly z.ZodType[]
    const option =
      inner instanceof z.ZodDiscriminatedUnion
        ? namedOption(inner, value)
        : options.find((candidate) => candidate.safeParse(value).success)
    return option ? unknownFields(option, value, path) : []
  }
  if (!(inner instanceof z.ZodObject)) return []
  const shape = inner.shape as Record<string, z.ZodType>
  if (inner.def.catchall && !(inner.def.catchall instanceof z.ZodNever)) return []
  return Object.entries(value).flatMap(([key, item]) => {
    const at = path ? `${path}.${key}` : key
    const field = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (field) return unknownFields(field, item, at)
    const unknown = unknownField(at, key, Object.keys(shape))
    const within = unknown.isSecurity ? [] : securityIn(item, at)
    return within.length > 0 ? within : [unknown]
  })
}

function unknownField(path: string, key: string, known: readonly string[]): UnknownField {
  const meant = suggest(key, known)
  if (meant !== undefined) return { path, hint: didYouMean(key, known), isSecurity: isSecurityField(meant) }
  const unsupported = meantEverywhere.find((name) => isNearly(key, name))
  const hint = unsupported === undefined ? '' : ` (${unsupported} is not supported here)`
  return { path, hint, isSecurity: unsupported !== undefined }
}

/** Lists the security fields within an unknown field, which a caller has put in the wrong place. */
function securityIn(value: unknown, path: string): UnknownField[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => {
    const at = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`
    const found = item === null ? undefined : unknownField(at, key, [])
    return found?.isSecurity ? [found] : securityIn(item, at)
  })
}

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

/**
 * Renames camelCase aliases (`waitFor`) and those in a field's meta to the wire names (`wait_for`) of the schema, and
 * removes optional fields that are null.
 */
export function renameAliases(schema: z.ZodType, value: unknown): unknown {
  const inner = unwrap(schema)
  if (Array.isArray(value)) {
    return inner instanceof z.ZodArray ? value.map((item) => renameAliases(inner.element as z.ZodType, item)) : value
  }
  if (inner instanceof z.ZodUnion) return renameInUnion(inner, value)
  if (typeof value !== 'object' || value === null || !(inner instanceof z.ZodObject)) return value
  const shape = inner.shape as Record<string, z.ZodType>
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      const name = wireNameOf(shape, key, value)
      const field = Object.hasOwn(shape, name) ? shape[name] : undefined
      if (item === null && field && isAbsent(field)) return []
      return [[name, field ? renameAliases(field, item) : item]]
    }),
  )
}

/** Whether null means that a field is absent: it is optional, and null has no meaning of its own. */
const isAbsent = (field: z.ZodType): boolean => !field.safeParse(null).success && field.safeParse(undefined).success

/** Renames the fields of an object as `renameAliases` does, but none within them. */
export function renameFields(schema: z.ZodObject, value: object): Record<string, unknown> {
  const shape = schema.shape as Record<string, z.ZodType>
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [wireNameOf(shape, key, value), item]))
}

/** Resolves a key to its field: the snake_case form, or the field whose meta has it as another name; else the key. */
export function wireNameOf(shape: Record<string, z.ZodType>, key: string, value: object): string {
  if (Object.hasOwn(shape, key)) return key
  const snake = key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
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

/** Renames by the option that the discriminator selects, else by the first option that accepts the renamed value. */
function renameInUnion(union: z.ZodUnion, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const own = namedOption(union, value)
  if (own) return renameAliases(own, value)
  if (union instanceof z.ZodDiscriminatedUnion) return value
  for (const option of union.options as readonly z.ZodType[]) {
    const renamed = renameAliases(option, value)
    if (option.safeParse(renamed).success) return renamed
  }
  return value
}
