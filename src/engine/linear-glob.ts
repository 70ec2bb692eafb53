/** Globs that match in linear time, for untrusted patterns and texts. */
import picomatch from 'picomatch'
import { RE2JS } from 're2js'
import { BaxError } from '../core/errors/errors.ts'

/**
 * Compiles a glob. picomatch converts it to a regular expression, which RE2 runs, since a backtracking engine takes
 * exponential time on `*a*a*a*a*`. Its lookaheads are removed: they exclude hidden names and `..`, and an empty match
 * of a trailing star, so `a/*` matches `a/` too. With `bash`, `*` matches slashes, as for URLs; with `posix`, classes
 * such as `[[:alpha:]]` are supported.
 * @throws BaxError `invalid_request` that names the field of the glob.
 */
export function linearGlob(
  glob: string,
  field: string,
  { bash = false, posix = false }: { bash?: boolean; posix?: boolean } = {},
): (text: string) => boolean {
  const { source } = picomatch.makeRe(glob, { dot: true, noextglob: true, nonegate: true, bash, posix })
  const plain = source.replaceAll(lookahead, '').replaceAll(/\\([^\0-\x7f])/gu, '$1') // oxlint-disable-line no-control-regex
  const re = compileRe2(plain.replaceAll(anyText, '.*'), RE2JS.DOTALL, field)
  return (text) => re.matches(text)
}

/** Compiles a glob of URLs, in which `**` matches any text, also inside a segment: `**page=2**`. */
export function linearUrlGlob(glob: string, field: string): (text: string) => boolean {
  const isEnd = (char: string | undefined) => char === undefined || char === '/'
  const marked = glob.replaceAll(/\*{2,}/g, (stars, at: number) =>
    isEnd(glob[at - 1]) && isEnd(glob[at + stars.length]) ? stars : anyText,
  )
  return linearGlob(marked, field)
}

/** Placeholder for any text, since a glob only has it as a whole segment; from Unicode's private characters. */
const anyText = '\u{F0000}'

/** `(?=…)` and `(?!…)` with up to two levels of nested parentheses. */
const lookahead = /\(\?[=!](?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g

/** Compiles a regular expression for RE2. @throws BaxError `invalid_request` that names the field. */
export function compileRe2(source: string, flags: number, field: string): RE2JS {
  try {
    return RE2JS.compile(source, flags)
  } catch (error) {
    const reason = (error as Error).message.replace(/^error parsing regexp: /, '')
    throw new BaxError('invalid_request', `${field} is not a valid pattern: ${reason}`, {
      cause: error,
      details: [{ path: field, message: reason }],
      hint: 'regular expressions are RE2: no lookaround, no backreferences',
    })
  }
}
