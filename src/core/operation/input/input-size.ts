/** Limits the size of an input before it is validated: a list of millions of invalid items has millions of errors. */
import { z } from 'zod'
import { BaxError } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'
import { namedOption, unwrap, wireNameOf } from './schema-fields.ts'

/**
 * Checks the sizes that a schema describes; a field without a schema of its own may have any size that the body allows.
 * @throws BaxError `invalid_request` that names the field.
 */
export function assertSize(schema: z.ZodType, value: unknown, path = ''): void {
  if (typeof value !== 'object' || value === null) return
  const inner = unwrap(schema)
  if (Array.isArray(value)) {
    if (inner instanceof z.ZodArray) return assertListSize(inner, value, path)
  } else if (inner instanceof z.ZodObject || inner instanceof z.ZodRecord) {
    const names = Object.keys(value)
    if (names.length > limits.input.fields) throw tooBig(path, `must have at most ${limits.input.fields} fields`)
    if (inner instanceof z.ZodObject) for (const name of names) assertFieldSize(inner.shape, name, value, path)
    return
  }
  if (!(inner instanceof z.ZodUnion)) return
  const named = namedOption(inner, value)
  for (const option of named ? [named] : (inner.options as readonly z.ZodType[])) assertSize(option, value, path)
}

function assertFieldSize(shape: Record<string, z.ZodType>, key: string, value: object, path: string): void {
  const name = wireNameOf(shape, key, value)
  const field = Object.hasOwn(shape, name) ? shape[name] : undefined
  if (field) assertSize(field, (value as Record<string, unknown>)[key], path ? `${path}.${key}` : key)
}

function assertListSize(schema: z.ZodArray, items: readonly unknown[], path: string): void {
  const most = (schema._zod.bag as { maximum?: number }).maximum ?? limits.input.items
  if (items.length > most) throw tooBig(path, `must have at most ${most} items`)
  for (const [at, item] of items.entries()) assertSize(schema.element as z.ZodType, item, `${path}[${at}]`)
}

const tooBig = (path: string, message: string): BaxError =>
  new BaxError('invalid_request', path ? `${path} ${message}` : `the body ${message}`, { details: [{ path, message }] })
