/** Shapes of the short texts that callers choose: what may be in them, wherever they end up. */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'

const { input } = limits

/** Control characters, line separators, and the marks that reverse the direction of text. */
const invisible = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069'
const printablePattern = new RegExp(`^[^${invisible}]*$`)
/** A URL may be pasted with the line breaks and tabs that the URL standard removes. */
const urlPattern = new RegExp(`^[^${invisible.replace('\\u001f', '\\u0008\\u000b\\u000c\\u000e-\\u001f')}]*$`)
const nulPattern = /^[^\0]*$/

/** One line of text: in a header, a list, a log or a message. May be empty. */
export const printable = (most: number) =>
  z.string().max(most).regex(printablePattern, 'must not hold control characters')

/** Text that becomes an argument, a variable or a path: it would end at a NUL. */
export const withoutNul = (schema: z.ZodString = z.string()) =>
  schema.regex(nulPattern, 'must not hold a NUL character')

/** A name for people. As a path segment of a URL, `.` and `..` would name something else. */
export const displayName = printable(100)
  .min(1)
  .regex(/^(?!\.{1,2}$)/, 'must not be . or ..')

/** An ID as bax made it, or a name given in its place. */
export const identifier = printable(input.nameChars).min(1)

/** A token, or a cursor: text that bax made and takes back. */
export const opaqueText = printable(input.tokenChars)

/** A URL as people type it; what it may lead to is checked where it is opened. */
export const urlText = z
  .string()
  .min(1)
  .max(input.urlChars, { abort: true })
  .regex(urlPattern, 'must not hold control characters')

/** A selector of an element. */
export const selectorText = z.string().min(1).max(input.selectorChars)
