/** Finds fields that a schema does not define: ignored over HTTP (with a `warning`), rejected in strict calls. */
import { z } from 'zod'
import { isNearly, suggest } from '../../errors/suggest.ts'
import { writtenName } from './given-fields.ts'
import { namedOption, unwrap } from './schema-fields.ts'
import { isSecurityField, meantEverywhere } from './security-fields.ts'

export interface UnknownField {
  /** Path such as `commands[1].data.colour`, in the names of the caller. */
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
    const name = writtenName(value, key)
    const at = path ? `${path}.${name}` : name
    const field = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (field) return unknownFields(field, item, at)
    const unknown = unknownField(at, key, Object.keys(shape))
    const within = unknown.isSecurity ? [] : securityIn(item, at)
    return within.length > 0 ? within : [unknown]
  })
}

function unknownField(path: string, key: string, known: readonly string[]): UnknownField {
  const meant = suggest(key, known)
  if (meant !== undefined)
    return { path, hint: ` (did you mean "${spelledLike(key, meant)}"?)`, isSecurity: isSecurityField(meant) }
  const unsupported = meantEverywhere.find((name) => isNearly(key, name))
  const hint = unsupported === undefined ? '' : ` (${unsupported} is not supported here)`
  return { path, hint, isSecurity: unsupported !== undefined }
}

/** Spells a name in camelCase if `key` is. */
const spelledLike = (key: string, name: string): string =>
  /[A-Z]/.test(key) ? name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : name

/** Lists the security fields within an unknown field, which a caller has put in the wrong place. */
function securityIn(value: unknown, path: string): UnknownField[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => {
    const at = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`
    const found = item === null ? undefined : unknownField(at, key, [])
    return found?.isSecurity ? [found] : securityIn(item, at)
  })
}
