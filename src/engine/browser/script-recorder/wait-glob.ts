/** Globs of URLs that a script waits for. */
import { literalGlob } from '../../../core/text/literal-glob.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'

/** Names that are different for every order, user or run: numbers, IDs, and encoded text. */
const variable = /\d{2}|%|[\w-]{20}/

/** Returns a glob that matches a URL, and those that differ in the query, and in numbers and IDs. */
export function waitGlob(url: string): string {
  const parsed = parseUrl(url)
  if (!parsed) return literalGlob(url)
  const { origin, pathname, hash, protocol } = parsed
  const start = origin === 'null' ? literalGlob(protocol) : origin
  const [route = '', ...query] = hash.split('?')
  return `${start}${segments(pathname)}{,?**}${segments(route)}${query.length > 0 ? '{,?**}' : ''}`
}

const segments = (path: string) =>
  path
    .split('/')
    .map((name) => (variable.test(name) ? '*' : literalGlob(name)))
    .join('/')
