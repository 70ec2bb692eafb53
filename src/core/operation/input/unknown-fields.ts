/** Finds fields that a schema does not define: ignored over HTTP (with a `warning`), rejected in strict calls. */
import { z } from 'zod'
import { isNearly, suggest } from '../../errors/suggest.ts'
import { credentialNames, isIdentityField } from '../../identity.ts'
import { groups, writtenName } from './given-fields.ts'
import { namedOption, snakeCase, unwrap } from './schema-fields.ts'
import { isSecurityField, meantEverywhere } from './security-fields.ts'

export interface UnknownField {
  /** Path such as `commands[1].data.colour`, in the names of the caller. */
  readonly path: string
  /** ` (did you mean "color"?)`, or nothing. */
  readonly hint: string
  /** Whether the caller seems to mean a field that restricts what the request allows, or the identity of a read. */
  readonly isSecurity: boolean
}

type Shape = Readonly<Record<string, z.ZodType>>

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
  const shape = inner.shape as Shape
  if (inner.def.catchall && !(inner.def.catchall instanceof z.ZodNever)) return []
  return Object.entries(value).flatMap(([key, item]) => {
    const name = writtenName(value, key)
    const at = path ? `${path}.${name}` : name
    const field = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (field) return unknownFields(field, item, at)
    const unknown = unknownField(at, key, item, shape)
    const within = unknown.isSecurity ? [] : securityIn(item, at, shape)
    return within.length > 0 ? within : [unknown]
  })
}

/** `near` are the fields that the caller may have misspelled. */
function unknownField(
  path: string,
  key: string,
  value: unknown,
  shape: Shape,
  near = Object.keys(shape),
): UnknownField {
  const identity = identityMeant(key, value, near)
  if (identity !== undefined) return { path, hint: identityHint(identity, shape), isSecurity: true }
  const meant = suggest(key, near)
  if (meant !== undefined) {
    const isSecurity = isSecurityField(meant) || isIdentityField(meant, value)
    return { path, hint: ` (did you mean "${spelledLike(key, meant)}"?)`, isSecurity }
  }
  const unsupported = meantEverywhere.find((name) => isNearly(key, name))
  const hint = unsupported === undefined ? '' : ` (${unsupported} is not supported here)`
  return { path, hint, isSecurity: unsupported !== undefined }
}

/** Returns the field of an identity that a key means, if the object has no such field. */
function identityMeant(key: string, value: unknown, fields: readonly string[]): string | undefined {
  const exact = snakeCase(key)
  const name = isIdentityField(exact, value) ? exact : credentialNames.find((other) => isNearly(key, other))
  return name !== undefined && isIdentityField(name, value) && !fields.includes(name) ? name : undefined
}

/** Says where a field of an identity belongs, or what replaces it: jobs outlast sessions, so that they take none. */
function identityHint(name: string, shape: Shape): string {
  if (Object.hasOwn(shape, name)) return ` (did you mean "${name}"?)`
  const objectWith = (field: string) =>
    groups.find((outer) => {
      const options = shape[outer] && unwrap(shape[outer])
      return options instanceof z.ZodObject && Object.hasOwn(options.shape as Shape, field)
    })
  const outer = objectWith(name)
  if (outer !== undefined) return ` (did you mean "${outer}.${name}"?)`
  const isReadWithProfile = Object.hasOwn(shape, 'profile') || objectWith('profile') !== undefined
  const instead = name === 'session_id' && isReadWithProfile ? ': save the session as a profile, and use profile' : ''
  return ` (${name} is not supported here${instead})`
}

/** Spells a name in camelCase if `key` is. */
const spelledLike = (key: string, name: string): string =>
  /[A-Z]/.test(key) ? name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : name

/** Lists the security fields within an unknown field of an object, which a caller has put in the wrong place. */
function securityIn(value: unknown, path: string, shape: Shape): UnknownField[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => {
    const at = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`
    const found = item === null ? undefined : unknownField(at, key, item, shape, [])
    return found?.isSecurity ? [found] : securityIn(item, at, shape)
  })
}
