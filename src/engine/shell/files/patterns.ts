/** Globs and queries that take linear time, whatever was asked and whatever the files hold. */
import picomatch from 'picomatch'
import { RE2JS } from 're2js'
import { BaxError } from '../../../core/errors.ts'

/**
 * Whether a path below the searched folder is meant.
 * picomatch knows what a glob means; its regular expression is run by RE2, since a backtracking one takes for ever on
 * `*a*a*a*a*`. Its lookaheads only keep hidden names and `..` out, which a walk does not give.
 */
export function globMatcher(pattern: string): (path: string) => boolean {
  const options = { dot: true, noextglob: true, nonegate: true, posix: true }
  const source = picomatch.makeRe(pattern, options).source
  const re = compile(
    source.replaceAll(lookahead, '').replaceAll(/\\([^\0-\x7f])/gu, '$1'), // oxlint-disable-line no-control-regex
    RE2JS.DOTALL,
    'pattern',
  )
  return (path) => re.matches(path)
}

/** `(?=…)` and `(?!…)` with up to two levels of brackets in them. */
const lookahead = /\(\?[=!](?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g

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
  const re = compile(regex ? query : RE2JS.quote(query), caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE, 'query')
  return (line) => {
    // Most lines do not match, and this asks for less.
    if (!re.test(line)) return undefined
    const matcher = re.matcher(line)
    return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined
  }
}

function compile(source: string, flags: number, field: string): RE2JS {
  try {
    return RE2JS.compile(source, flags)
  } catch (error) {
    const reason = (error as Error).message.replace(/^error parsing regexp: /, '')
    throw new BaxError('invalid_request', `${field} is not a pattern that can be searched for: ${reason}`, {
      cause: error,
      details: [{ path: field, message: reason }],
      hint: 'regular expressions are RE2: no lookaround, no backreferences',
    })
  }
}
