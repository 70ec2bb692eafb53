/** Shapes of a single HTTP request with the cookies of a session or a profile. */
import { z } from 'zod'
import { limits } from '../../limits/limits.ts'
import { duration, integer, urlText } from '../fields.ts'
import { identityFields, readSession } from './identity.ts'

const { request: most } = limits
const { profile, save_profile, headers, cookies, user_agent, sign, skip_tls_verification } = identityFields

export const requestInput = z.object({
  url: urlText.describe('URL to request'),
  method: z
    .string()
    .regex(/^[A-Za-z]{1,20}$/, 'is not a method such as GET or POST')
    .refine((name) => !/^(?:connect|trace)$/i.test(name), 'must not be CONNECT or TRACE')
    .overwrite((name) => name.toUpperCase())
    .optional()
    .describe('HTTP method, GET when omitted, or POST with a body'),
  session_id: readSession,
  profile: profile.describe('Saved profile whose cookies are used instead, by its id or name'),
  save_profile,
  headers: headers.describe('Request headers, sent to the host of the URL and its subdomains only'),
  cookies: cookies.describe(
    'Further cookies: a list, or the text of a Cookie header, of a Netscape or JSON file, or of a copied curl command',
  ),
  user_agent: user_agent.describe('User agent, that of the session when omitted'),
  sign,
  skip_tls_verification,
  body: z.string().max(most.bodyBytes).optional().meta({ offTerminal: true }).describe('Body, sent as UTF-8 text'),
  body_base64: z
    .base64()
    .max(Math.ceil(most.bodyBytes / 3) * 4)
    .optional()
    .meta({ offTerminal: true })
    .describe('Body of any bytes, encoded in base64'),
  body_json: z.unknown().optional().meta({ offTerminal: true }).describe('Value that is sent as JSON'),
  max_redirects: integer(0, most.maxRedirects)
    .default(most.redirects)
    .describe('Redirects to follow; 0 returns the redirect itself'),
  timeout_ms: duration(1, most.maxTimeoutMs)
    .default(most.timeoutMs)
    .describe('Timeout for the response with all redirects, in milliseconds'),
  max_bytes: integer(1, most.maxResponseBytes)
    .default(most.responseBytes)
    .describe('Maximum size of the response, in bytes'),
})

export const requestAnswer = z.object({
  success: z.literal(true),
  url: z.string().describe('URL of the response, after redirects'),
  status: z.int(),
  headers: z
    .record(z.string(), z.string())
    .describe(
      'Response headers, with names in lower case; several values are joined with ", ", of set-cookie with "\\n"',
    ),
  redirects: z.array(z.object({ url: z.string(), status: z.int() })).describe('Redirects that led to the response'),
  size: z.int().describe('Size of the body in bytes, decompressed'),
  body: z.string().optional().describe('Body, if it is UTF-8 text'),
  body_base64: z.string().optional().describe('Body of other bytes, encoded in base64'),
  warning: z.string().optional(),
})

export type RequestInput = z.output<typeof requestInput>
export type RequestAnswer = z.output<typeof requestAnswer>
