/** Compiles the selectors of a request. */
import { BaxError } from '../../../../core/errors/errors.ts'
import { formatFieldError } from '../../../../core/errors/input-errors.ts'
import { Matcher } from './matcher.ts'

export interface SelectorQuery {
  readonly selector: string
  /** Path of the selector in the input, for errors. */
  readonly field: string
}

/** Compiles selectors, which are matched together. @throws BaxError `invalid_request` that names the invalid selector */
export function compileSelectors<Query extends SelectorQuery>(given: readonly Query[]) {
  const matcher = new Matcher()
  const queries = given.map((query) => {
    const { selector, field: path } = query
    try {
      return { ...query, matches: matcher.add(selector) }
    } catch (cause) {
      const reason = (cause as Error).message.replace(/, found $/, ', found the end')
      const why = cause instanceof RangeError ? 'it is nested too deeply' : reason
      const fault = { path, message: `${JSON.stringify(selector)} is not valid: ${why}` }
      throw new BaxError('invalid_request', formatFieldError(fault), { details: [fault], cause })
    }
  })
  return { matcher, queries }
}
