/** Globs of URLs that a script waits for. */
import { parseUrl } from '../../../core/net/parse-url.ts'
import { literalGlob } from '../../../core/text/literal-glob.ts'
import { matcher } from '../page/matcher.ts'

/** Names that are different for every order, user or run: numbers, IDs, and encoded text. */
const variable = /^\d+$|\d{2}|%|[\w-]{20}|\*{3}|\[redacted\]/
/** The same in a query, whose values are often encoded. */
const variableValue = /\d{2}|[\w-]{20}|\*{3}|\[redacted\]/

/** The text in place of a secret. */
export const hiddenMark = /\*{3}|\[redacted\]/

/** Returns a glob of a text that matches any secret. */
const textGlob = (text: string) => text.split(hiddenMark).map(literalGlob).join('**')

/**
 * Returns a glob that matches a URL, and those that differ in numbers and IDs, and in what does not tell it from the URL
 * `before`; undefined when every glob matches both, so that waiting for it would prove nothing.
 */
export function waitGlob(url: string, before?: string): string | undefined {
  return globsOf(url, before).find((glob) => {
    const matches = matcher({ glob }, 'url')
    return matches(url) && (before === undefined || !matches(before))
  })
}

/** Returns globs of a URL, the most tolerant first. */
function globsOf(url: string, before = ''): string[] {
  const parsed = parseUrl(url)
  if (!parsed) return [textGlob(url)]
  const { origin, pathname, hash, protocol, search } = parsed
  const start = origin === 'null' ? literalGlob(protocol) : origin.replace(hiddenMark, '**')
  const [route = '', ...query] = hash.split('?')
  const end = `${segments(route, '*')}${query.length > 0 ? '{,?**}' : ''}`
  const known = new Set(fieldsOf(parseUrl(before)?.search))
  const added = fieldsOf(search).filter((field) => !known.has(field))
  // Fields with the same value in every run tell most.
  const fields = added.toSorted((a, b) => Number(variableValue.test(a)) - Number(variableValue.test(b)))
  return [
    `${start}${segments(pathname, '*')}{,?**}${end}`,
    ...fields.map((field) => `${start}${segments(pathname, '*')}{?,?**&}${fieldGlob(field)}{,&**}${end}`),
    `${start}${segments(pathname, '*[0-9]*')}{,?**}${segments(route, '*[0-9]*')}{,?**}`,
    // A step of a wizard, rather than the number of an order.
    ...(/\d{2}/.test(pathname + route) || hiddenMark.test(pathname + route)
      ? []
      : [`${start}${literalGlob(pathname)}{,?**}${literalGlob(route)}{,?**}`]),
  ]
}

const fieldsOf = (search = '') =>
  search
    .slice(1)
    .split('&')
    .filter((field) => field !== '')

function fieldGlob(field: string): string {
  const [name = '', ...value] = field.split('=')
  return variableValue.test(value.join('=')) ? `${textGlob(name)}=**` : textGlob(field)
}

const segments = (path: string, any: string) =>
  path
    .split('/')
    .map((name) => (variable.test(name) ? (/\d/.test(name) ? any : '*') : literalGlob(name)))
    .join('/')
