/** Commands that read and change the cookies of a session. */
import type { BrowserContext, Cookie, Page } from 'playwright'
import { z } from 'zod'
import { defineCommand, extracted } from '../core/operation/command.ts'
import { BaxError } from '../core/errors/errors.ts'
import { cookieShape, toApiCookie } from './cookie-shape.ts'
import { extraction } from './fields.ts'
import { flag, printable } from '../core/shapes/fields.ts'
import { limits } from '../core/limits/limits.ts'
import { parseUrl } from '../core/net/parse-url.ts'

const name = printable(4096).min(1).describe('Name of the cookie')
const domain = printable(255).min(1)
const optionalDomain = domain
  .optional()
  .describe('Domain, with a leading dot to include subdomains; the domain of the page when omitted')
const path = printable(4096).startsWith('/').default('/').describe('Path prefix that the cookie is sent to')
const secure = flag('Sent over secure connections only')

export const set_cookie = defineCommand({
  kind: 'action',
  summary: 'Set a cookie',
  also: ['cookie set', 'cookies set'],
  example: ['theme dark', 'theme dark --domain example.com --secure --http-only'],
  data: z.object({
    name,
    value: printable(4096).describe('Value of the cookie'),
    domain: optionalDomain,
    path,
    secure,
    http_only: flag('Hidden from scripts of the page'),
    same_site: z
      .string()
      .regex(/^(?:strict|lax|none)$/i, 'must be Strict, Lax or None')
      .optional()
      .describe('Strict, Lax or None'),
  }),
  result: null,
  run: async ({ page, browserContext }, { http_only, same_site, domain, ...cookie }) => {
    const site = same_site && same_site.charAt(0).toUpperCase() + same_site.slice(1).toLowerCase()
    await add(browserContext, [
      {
        ...cookie,
        domain: domainOf(page, domain),
        httpOnly: http_only,
        ...(site && { sameSite: site as Cookie['sameSite'] }),
      },
    ])
  },
})

export const set_cookies = defineCommand({
  kind: 'action',
  summary: 'Set cookies from a Cookie header value',
  example: ["'theme=dark; lang=de'", "'theme=dark; lang=de' --domain example.com"],
  data: z.object({
    cookies: printable(limits.input.labelChars * 64)
      .min(1)
      .refine((text) => pairs(text).every(([name]) => name !== ''), 'must be name=value pairs separated by "; "')
      .describe('name=value pairs separated by "; "'),
    domain: optionalDomain,
    path,
    secure,
  }),
  result: z.object({ set: z.int().describe('Number of cookies set') }),
  run: async ({ page, browserContext }, { cookies, domain, ...rest }) => {
    const host = domainOf(page, domain)
    const list = pairs(cookies).map(([name, value]) => ({ name, value, domain: host, ...rest }))
    await add(browserContext, list)
    return { data: { set: list.length } }
  },
})

export const get_cookies = defineCommand({
  kind: 'extraction',
  summary: 'Get all cookies of the session',
  also: ['cookies', 'cookie list', 'cookie get'],
  example: ['', '-o cookies.json'],
  data: z.object({}),
  result: extraction(z.array(cookieShape), ['array']),
  run: async ({ browserContext }) => extracted((await browserContext.cookies()).map(toApiCookie)),
})

export const delete_cookie = defineCommand({
  kind: 'action',
  summary: 'Delete a cookie',
  also: ['cookie delete', 'cookies delete'],
  example: 'theme example.com',
  data: z.object({
    name,
    domain: domain.describe('Domain of the cookie, with or without a leading dot'),
  }),
  result: z.object({ deleted: z.int().describe('Deleted cookies with this name and domain, over all paths') }),
  run: async ({ browserContext }, { name, domain }) => {
    const all = await browserContext.cookies()
    const found = all.filter((cookie) => cookie.name === name && bare(cookie.domain) === bare(domain))
    for (const cookie of found) {
      await browserContext.clearCookies({ name, domain: cookie.domain, path: cookie.path })
    }
    return { data: { deleted: found.length } }
  },
})

export const clear_cookies = defineCommand({
  kind: 'action',
  summary: 'Delete all cookies of the session',
  also: ['cookies clear', 'cookie clear'],
  example: '',
  data: z.object({}),
  result: z.object({ deleted: z.int() }),
  run: async ({ browserContext }) => {
    const { length } = await browserContext.cookies()
    await browserContext.clearCookies()
    return { data: { deleted: length } }
  },
})

/** @throws BaxError `invalid_data` for a cookie that the browser rejects, such as an insecure `__Host-` one. */
async function add(context: BrowserContext, cookies: Parameters<BrowserContext['addCookies']>[0]): Promise<void> {
  try {
    await context.addCookies(cookies)
  } catch (error) {
    if (!(error instanceof Error && /Invalid cookie|Cookie should|setCookies/.test(error.message))) throw error
    const names = cookies.map(({ name }) => name).join(', ')
    throw new BaxError('invalid_data', `the browser rejects the cookie: ${names}`, {
      hint: 'check domain and path; cookies with SameSite=None or a __Host- or __Secure- name must be secure',
      cause: error,
    })
  }
}

const bare = (host: string) => host.replace(/^\./, '').toLowerCase()

/** Splits `name=value` pairs; a part without `=` gets an empty name. */
function pairs(text: string): [name: string, value: string][] {
  const parts = text
    .split(';')
    .map((part) => part.trim())
    .filter(Boolean)
  return parts.map((part) => {
    const at = part.indexOf('=')
    return at < 0 ? ['', part] : [part.slice(0, at).trim(), part.slice(at + 1).trim()]
  })
}

function domainOf(page: Page, domain: string | undefined): string {
  const host = domain ?? parseUrl(page.url())?.hostname ?? ''
  if (host === '') {
    throw new BaxError('invalid_data', `a cookie needs a domain: ${page.url()} has none`, {
      hint: 'give a domain, or open the page first',
    })
  }
  return host
}
