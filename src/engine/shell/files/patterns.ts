/** Globs and queries that take linear time, whatever was asked and whatever the files hold. */
import { RE2JS } from 're2js'
import { compiled, linearGlob } from '../../linear-glob.ts'

/** Whether a path below the searched folder is meant; a walk gives no `..` and no empty names. */
export const globMatcher = (pattern: string): ((path: string) => boolean) =>
  linearGlob(pattern, 'pattern', { posix: true })

/** The first place in a line that a query means, from 0 in UTF-16 units; -1 for none. */
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
  const re = compiled(source, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE, 'query')
  return (line) => {
    // Most lines do not match, and this asks for less.
    if (!re.test(line)) return undefined
    const matcher = re.matcher(line)
    return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined
  }
}
