/** Converts input as callers write it to the names of its schema, and remembers how they wrote it. */
import { z } from 'zod'
import { BaxError } from '../../errors/errors.ts'
import { farness } from '../../errors/input-errors.ts'
import { namedOption, unwrap, wireNameOf } from './schema-fields.ts'

type Shape = Readonly<Record<string, z.ZodType>>

/** Names that callers wrote for fields of converted objects, by the names in the schema. */
const written = new WeakMap<object, ReadonlyMap<string, string>>()

/** Returns the name that the caller wrote for a field of a converted object. */
export const writtenName = (object: object, name: string): string => written.get(object)?.get(name) ?? name

/** Returns the path of a converted value in the names of the caller: `webhook.eventTypes`, not `webhook.event_types`. */
export function writtenPath(value: unknown, path: readonly PropertyKey[]): PropertyKey[] {
  let within = value
  return path.map((part) => {
    if (typeof within !== 'object' || within === null) return part
    const name = typeof part === 'string' ? writtenName(within, part) : part
    within = (within as Record<PropertyKey, unknown>)[part]
    return name
  })
}

/** Converted values by the input that was validated from them. */
const converted = new WeakMap<object, object>()

/** Remembers that `input` was validated from a converted value, so that its errors can name fields as in that value. */
export const rememberNames = (input: object, value: object): void => void converted.set(input, value)

/**
 * Runs an operation with validated input. Errors name fields as the caller wrote them, except names without `_`, which
 * may be words of a sentence.
 */
export async function withWrittenNames<T>(input: object, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof BaxError) || error.code !== 'invalid_request') throw error
    const value = converted.get(input)
    const paths = [...pathsWithin(value, error.details), ...renamedPaths(value)]
    const names = paths.map(([path, shown]) => [wholePath(path), shown] as const)
    if (names.length === 0) throw error
    const renamed = (text: string) => names.reduce((done, [path, shown]) => done.replaceAll(path, shown), text)
    const { code, message, hint, details, cause } = error
    throw new BaxError(code, renamed(message), {
      cause,
      ...(hint !== undefined && { hint: renamed(hint) }),
      ...(details && { details: JSON.parse(renamed(JSON.stringify(details))) as typeof details }),
    })
  }
}

/** Fields whose options are used as those beside them. */
export const groups = ['scrape_options', 'identity'] as const

/** Lists the paths of an error about options that the caller gave in a group. */
function pathsWithin(value: object | undefined, details: unknown): [path: string, shown: string][] {
  if (!value || !Array.isArray(details)) return []
  const paths = (details as readonly { readonly path?: unknown }[]).map(({ path }) => path)
  return groups.flatMap((group) => {
    const options = (value as Readonly<Record<string, unknown>>)[group]
    if (typeof options !== 'object' || options === null) return []
    return paths
      .filter((path) => typeof path === 'string')
      .filter((path) => Object.hasOwn(options, /^\w*/.exec(path)![0]))
      .map((path): [string, string] => [path, `${group}.${path}`])
  })
}

const wholePath = (path: string) =>
  new RegExp(String.raw`(?<![\w.])${path.replaceAll(/[.[\]]/g, String.raw`\$&`)}(?!\w)`, 'g')

/** Lists the paths in the schema of renamed fields, and the paths that the caller wrote; inner ones first. */
function renamedPaths(value: unknown, path = '', shown = ''): [path: string, shown: string][] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item, at) => renamedPaths(item, `${path}[${at}]`, `${shown}[${at}]`))
  return Object.entries(value).flatMap(([key, item]) => {
    const name = writtenName(value, key)
    const at = path ? `${path}.${key}` : key
    const instead = shown ? `${shown}.${name}` : name
    const within = renamedPaths(item, at, instead)
    return name !== key && key.includes('_') ? [...within, [at, instead]] : within
  })
}

/**
 * Renames camelCase aliases (`waitFor`) and those in a field's meta to the wire names (`wait_for`) of the schema, and
 * removes optional fields that are null.
 */
export function renameAliases(schema: z.ZodType, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const inner = unwrap(schema)
  if (inner instanceof z.ZodUnion) return renameInUnion(inner, value)
  if (Array.isArray(value)) {
    return inner instanceof z.ZodArray ? value.map((item) => renameAliases(inner.element as z.ZodType, item)) : value
  }
  return inner instanceof z.ZodObject ? convert(inner.shape, value, renameAliases) : value
}

/** Renames the fields of an object and removes absent ones as `renameAliases` does, but none within them. */
export const renameFields = ({ shape }: z.ZodObject, value: object): Record<string, unknown> =>
  convert(shape, value, (_, item) => item)

function convert(shape: Shape, value: object, within: (field: z.ZodType, item: unknown) => unknown) {
  const given = withoutAbsent(shape, value)
  const names = new Map<string, string>()
  const fields = Object.fromEntries(
    Object.entries(given).map(([key, item]) => {
      const name = wireNameOf(shape, key, given)
      if (name !== key) names.set(name, key)
      const field = Object.hasOwn(shape, name) ? shape[name] : undefined
      return [name, field ? within(field, item) : item]
    }),
  )
  if (names.size > 0) written.set(fields, names)
  return fields
}

/** Removes optional fields that are null, so that null in one spelling leaves a value in another one. */
function withoutAbsent(shape: Shape, value: object): object {
  const entries = Object.entries(value)
  const kept = entries.filter(([key, item]) => {
    if (item !== null) return true
    const name = wireNameOf(shape, key, {})
    return !Object.hasOwn(shape, name) || !isAbsent(shape[name]!)
  })
  return kept.length === entries.length ? value : Object.fromEntries(kept)
}

/** Whether null means that a field is absent: it is optional, and null has no meaning of its own. */
const isAbsent = (field: z.ZodType): boolean => !field.safeParse(null).success && field.safeParse(undefined).success

/** Converts by the option that the discriminator selects, else by the option that the value is nearest to. */
function renameInUnion(union: z.ZodUnion, value: object): unknown {
  const own = namedOption(union, value)
  if (own) return renameAliases(own, value)
  if (union instanceof z.ZodDiscriminatedUnion) return value
  let nearest: unknown = value
  let least = Infinity
  for (const option of union.options as readonly z.ZodType[]) {
    const renamed = renameAliases(option, value)
    const { success, error } = option.safeParse(renamed)
    if (success) return renamed
    const far = farness(error.issues)
    if (far < least) [nearest, least] = [renamed, far]
  }
  return nearest
}
