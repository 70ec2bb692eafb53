/** Values of commands, as far as a replay can show them. */
import { detached } from '../../../core/text/detached.ts'

export interface Shortened<T> {
  readonly value: T
  /** Characters that were left out. */
  readonly omitted: number
}

/**
 * Keeps about `chars` characters of the texts of a value, from its beginning. Secrets are removed later: keep more than
 * is shown, so that no part of a divided secret is.
 */
export function shortened<T>(value: T, chars: number): Shortened<T> {
  let left = chars
  let omitted = 0
  const shorten = (inner: unknown): unknown => {
    if (typeof inner === 'string') {
      const kept = inner.length > left ? detached(inner.slice(0, left)) : inner
      omitted += inner.length - kept.length
      left -= kept.length
      return kept
    }
    if (typeof inner !== 'object' || inner === null) return inner
    const kept = Object.entries(inner).flatMap(([name, item]) => {
      left = Math.max(0, left - name.length)
      if (left > 0) return [[name, shorten(item)] as const]
      omitted += JSON.stringify(item)?.length ?? 0
      return []
    })
    return Array.isArray(inner) ? kept.map(([, item]) => item) : Object.fromEntries(kept)
  }
  return { value: shorten(value) as T, omitted }
}
