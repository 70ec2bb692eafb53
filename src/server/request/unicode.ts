/** JSON may escape half of a surrogate pair: text that has no UTF-8, so that no file, URL, header or browser can take it. */
import { BaxError } from '../../core/errors/errors.ts'

/** Escapes of surrogates, whole pairs too: without one, JSON in UTF-8 has no half of a pair. */
const escaped = /\\u[dD][89a-fA-F]/

/** Matches a half only: with the flag `u`, a pair is one character. */
const half = /\p{Surrogate}/u

/** @throws BaxError `invalid_request` that names the first field, or name of a field, which is not well-formed. */
export function assertWellFormed(json: string, value: unknown): void {
  if (!escaped.test(json)) return
  const path = illFormedAt(value, '')
  if (path === undefined) return
  const message = 'must be well-formed Unicode: it holds half of a surrogate pair'
  throw new BaxError('invalid_request', path ? `${path} ${message}` : `the body ${message}`, {
    details: [{ path, message }],
  })
}

/** The limit on nesting holds before this walks the value. */
function illFormedAt(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return half.test(value) ? path : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    if (half.test(key)) return path
    const name = Array.isArray(value) ? `${path}[${key}]` : path ? `${path}.${key}` : key
    const found = illFormedAt(inner, name)
    if (found !== undefined) return found
  }
  return undefined
}
