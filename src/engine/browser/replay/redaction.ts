/**
 * Removes secrets from a replay: credentials that texts look like, what was typed into password fields, and what the
 * session hides.
 */
import { makeMask } from '../../../core/access/mask.ts'
import { redactText, redactValue } from '../../../core/access/redact.ts'

export interface Redaction {
  text(text: string): string
  value(value: unknown): unknown
}

const placeholder = '[redacted]'

/** A shorter value would also replace parts of unrelated words; it is only removed where it is the whole text. */
const shortest = 4

/** @param hide removes what the session hides: values of stored credentials, and what a person typed for a handoff */
export function redactionOf(secrets: ReadonlySet<string>, hide: (text: string) => string): Redaction {
  const long = makeMask([...secrets].filter(({ length }) => length >= shortest))
  const mask = (text: string) => (secrets.has(text) ? placeholder : hide(long.text(text)))
  const deep = (value: unknown): unknown => {
    if (typeof value === 'string') return mask(value)
    if (Array.isArray(value)) return value.map(deep)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [mask(name), deep(inner)]))
  }
  return { text: (text) => mask(redactText(text)), value: (value) => deep(redactValue(value)) }
}
