/** Header fields from callers: names and values that the browser accepts, and none that it controls itself. */
import { z } from 'zod'
import { limits } from '../../core/limits/limits.ts'
import { parseUrl } from '../../core/net/parse-url.ts'

const { headers: most, headerChars } = limits.network

const headerName = z
  .string()
  .max(limits.input.nameChars, { abort: true })
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not the name of a header')

const headerValue = z
  .string()
  .max(headerChars, { abort: true })
  .regex(/^[\t\u0020-\u007e\u0080-\u00ff]*$/, 'must not contain control characters, nor characters beyond Latin-1')

const headerMap = z
  .record(headerName, headerValue)
  .refine((map) => Object.keys(map).length <= most, `must have at most ${most} headers`)

/** Request headers that the browser sets and ignores or refuses from others (Fetch, "forbidden request-header"). */
const controlled =
  /^(?:accept-charset|accept-encoding|access-control-request-.*|connection|content-length|cookie2?|date|dnt|expect|host|keep-alive|origin|proxy-.*|referer|sec-.*|set-cookie|te|trailer|transfer-encoding|upgrade|via)$/i

const refuse = (names: readonly string[], context: z.RefinementCtx) => {
  const found = names.find((name) => controlled.test(name))
  if (found === undefined) return
  const hint = /^cookie$/i.test(found) ? '; set cookies with set_cookie' : ''
  context.addIssue({ code: 'custom', message: `the browser controls the header ${found}${hint}` })
}

/** Request headers that a caller may set, by name. */
export const requestHeaders = headerMap.superRefine((map, context) => refuse(Object.keys(map), context))

/** Names of request headers that a caller may remove. */
export const removableHeaders = z
  .array(headerName)
  .max(most)
  .superRefine((names, context) => refuse(names, context))

/** Response headers that a caller may give. */
export const responseHeaders = headerMap.superRefine((map, context) => {
  for (const [name, value] of Object.entries(map)) {
    if (/^(?:content-length|transfer-encoding|connection)$/i.test(name))
      context.addIssue({ code: 'custom', message: `the engine sets the header ${name}` })
    if (/^location$/i.test(name) && !leadsToWeb(value))
      context.addIssue({
        code: 'custom',
        message: `location must be an http or https URL, not ${JSON.stringify(value)}`,
      })
  }
})

const leadsToWeb = (location: string): boolean => /^https?:$/.test(parseUrl(location, 'http://host')?.protocol ?? '')
