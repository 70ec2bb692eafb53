/** Patterns of callers, which match in linear time. */
import { RE2JS } from 're2js'
import type { CommandContext } from '../../../core/operation/command.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { compileRe2, linearUrlGlob } from '../../linear-glob.ts'

/** Compiles a URL glob, in which only `**` matches slashes, or a regular expression. @throws BaxError `invalid_data` */
export const matcher: CommandContext['matcher'] = (pattern, field) => {
  try {
    if ('glob' in pattern) return urlGlob(pattern.glob, field)
    const re = compileRe2(pattern.regex, RE2JS.DOTALL, field)
    return (text) => re.matcher(text).find()
  } catch (error) {
    if (!(error instanceof BaxError)) throw error
    throw new BaxError('invalid_data', error.message, { ...(error.hint && { hint: error.hint }), cause: error })
  }
}

/** A question mark of a URL is no wildcard, and an origin also matches with its slash. */
function urlGlob(glob: string, field: string): (url: string) => boolean {
  const matches = linearUrlGlob(glob.replaceAll('?', '\\?'), field)
  return (url) => matches(url) || (url.endsWith('/') && matches(url.slice(0, -1)))
}
