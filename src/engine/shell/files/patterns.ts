/** Compiles globs and queries to matchers that take linear time for any input. */
import { RE2JS } from 're2js'
import { compileRe2, linearGlob } from '../../linear-glob.ts'

/** Returns a matcher of paths below the searched folder, which never contain `..` or empty names. */
export const globMatcher = (pattern: string): ((path: string) => boolean) =>
  linearGlob(pattern, 'pattern', { posix: true })

/** Finds the first match in a line, in UTF-16 units from 0; undefined without a match. */
export type LineMatcher = (line: string) => { readonly start: number; readonly end: number } | undefined

export function lineMatcher(
  query: string,
  { regex, caseSensitive }: { regex: boolean; caseSensitive: boolean },
): LineMatcher {
  if (!regex && caseSensitive) {
    return (line) => {
      const start = line.indexOf(query)
      return start === -1 ? undefined : { start, end: start + query.length }
    }
  }
  const source = regex ? query : RE2JS.quote(query)
  const re = compileRe2(source, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE, 'query')
  return (line) => {
    // Most lines do not match, and `test` is cheaper.
    if (!re.test(line)) return undefined
    const matcher = re.matcher(line)
    return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined
  }
}
