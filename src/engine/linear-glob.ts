/** Globs that take time in proportion to the text, whoever wrote the one and the other. */
import picomatch from 'picomatch'
import { RE2JS } from 're2js'
import { BaxError } from '../core/errors/errors.ts'

export interface GlobRules {
  /** `*` stands for slashes too, as in addresses. */
  readonly bash?: boolean
  /** Classes as `[[:alpha:]]` are known. */
  readonly posix?: boolean
}

/**
 * Whether a text is meant by a glob. picomatch knows what one means; its regular expression is run by RE2, since a
 * backtracking one takes for ever on `*a*a*a*a*`. Its lookaheads are left out: they keep hidden names and `..` out, and
 * a star from standing for nothing at the very end (`a/*` means `a/` too).
 * @throws BaxError `invalid_request` that names the field where the glob stands.
 */
export function linearGlob(
  glob: string,
  field: string,
  { bash = false, posix = false }: GlobRules = {},
): (text: string) => boolean {
  const { source } = picomatch.makeRe(glob, { dot: true, noextglob: true, nonegate: true, bash, posix })
  const plain = source.replaceAll(lookahead, '').replaceAll(/\\([^\0-\x7f])/gu, '$1') // oxlint-disable-line no-control-regex
  const re = compiled(plain, RE2JS.DOTALL, field)
  return (text) => re.matches(text)
}

/** `(?=…)` and `(?!…)` with up to two levels of brackets in them. */
const lookahead = /\(\?[=!](?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g

/** @throws BaxError `invalid_request` that names the field. */
export function compiled(source: string, flags: number, field: string): RE2JS {
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
