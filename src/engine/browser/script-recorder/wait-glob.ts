/** Globs of URLs that a script waits for. */
import { parseUrl } from '../../../core/net/parse-url.ts'
import { decodeUrlPart } from '../../../core/net/urls.ts'
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
  const [route = ''] = hash.split('?')
  const path = `${start}${segments(pathname, '*')}`
  const end = segments(route, '*')
  const last = parseUrl(before)
  const fields = [
    ...addedTo(last?.search, search).map((field) => ({ ...field, glob: `${path}${field.glob}${end}{,?**}` })),
    ...addedTo(queryOf(last?.hash), queryOf(hash)).map((field) => ({
      ...field,
      glob: `${path}{,?**}${end}${field.glob}`,
    })),
  ]
  return [
    `${path}{,?**}${end}${hash === '' ? '' : '{,?**}'}`,
    // Fields with the same value in every run tell most.
    ...fields.toSorted((a, b) => Number(a.isVariable) - Number(b.isVariable)).map(({ glob }) => glob),
    `${start}${segments(pathname, '*[0-9]*')}{,?**}${segments(route, '*[0-9]*')}{,?**}`,
    // A step of a wizard, rather than the number of an order.
    ...(/\d{2}/.test(pathname + route) || hiddenMark.test(pathname + route)
      ? []
      : [`${start}${literalGlob(pathname)}{,?**}${literalGlob(route)}{,?**}`]),
  ]
}

/** Returns the query of a route within a hash, with its question mark. */
const queryOf = (hash = '') => /\?.*/s.exec(hash)?.[0] ?? ''

/** Returns globs of queries that have one of the fields that the query `before` does not have. */
function addedTo(before: string | undefined, query: string) {
  const known = new Set(fieldsOf(before))
  const added = fieldsOf(query).filter((field) => !known.has(field))
  return added.map((field) => {
    const [name = '', ...value] = field.split('=')
    const isVariable = variableValue.test(decoded(value.join('=')))
    return { isVariable, glob: `{?,?**&}${isVariable ? `${textGlob(name)}=**` : textGlob(field)}{,&**}` }
  })
}

const fieldsOf = (query = '') =>
  query
    .slice(1)
    .split('&')
    .filter((field) => field !== '')

/** Decodes a value for a look at it; sequences that are not valid stay. */
const decoded = (value: string) => value.replaceAll(/(?:%[\da-f]{2})+/gi, decodeUrlPart)

const segments = (path: string, any: string) =>
  path
    .split('/')
    .map((name) => (variable.test(name) ? (/\d/.test(name) ? any : '*') : literalGlob(name)))
    .join('/')
