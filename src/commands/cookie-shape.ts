/** A cookie as the API represents it. */
import type { Cookie } from 'playwright'
import { z } from 'zod'

export const cookieShape = z.object({
  name: z.string(),
  value: z.string(),
  domain: z.string(),
  path: z.string(),
  expires: z.number().nullable().describe('Unix time in seconds; null for a session cookie'),
  http_only: z.boolean(),
  secure: z.boolean(),
  same_site: z.enum(['Strict', 'Lax', 'None']),
})

/** Converts a cookie of Playwright to the field names of the API. */
export const toApiCookie = ({ httpOnly, sameSite, expires, ...cookie }: Cookie): z.output<typeof cookieShape> => ({
  name: cookie.name,
  value: cookie.value,
  domain: cookie.domain,
  path: cookie.path,
  expires: expires < 0 ? null : expires,
  http_only: httpOnly,
  secure: cookie.secure,
  same_site: sameSite,
})
