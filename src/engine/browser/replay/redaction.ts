/**
 * Removes secrets from a replay: credentials that texts look like, what was typed into password fields, and what the
 * session hides.
 */
import { escapeHtml } from '../../../core/html/page.ts'
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
  const long = [...secrets].filter(({ length }) => length >= shortest)
  const spellings = [...new Set(long.flatMap(spellingsOf))].toSorted((a, b) => b.length - a.length)
  const mask = (text: string) =>
    secrets.has(text)
      ? placeholder
      : hide(spellings.reduce((rest, spelling) => rest.replaceAll(spelling, placeholder), text))
  const deep = (value: unknown): unknown => {
    if (typeof value === 'string') return mask(value)
    if (Array.isArray(value)) return value.map(deep)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [mask(name), deep(inner)]))
  }
  return { text: (text) => mask(redactText(text)), value: (value) => deep(redactValue(value)) }
}

/** Returns how a value appears in HTML, in HTML of a frame, in URLs, forms, JSON, and in Basic authentication alone. */
function spellingsOf(secret: string): string[] {
  const html = escapeHtml(secret)
  const form = new URLSearchParams({ '': secret }).toString().slice(1)
  return [
    secret,
    html,
    escapeHtml(html),
    form,
    form.replaceAll('+', '%20'),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64'),
  ]
}
