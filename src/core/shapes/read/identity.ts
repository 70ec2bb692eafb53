/** The identity of a read: who visits a page. All operations that read pages share these fields. */
import { z } from 'zod'
import { type IdentityName, proxyKinds } from '../../identity.ts'
import { limits } from '../../limits/limits.ts'
import { noted } from '../../operation/input/notes.ts'
import { notProxyUrl, parseProxyUrl } from '../../net/proxy-url.ts'
import { flag, identifier, number, printable, urlText } from '../fields.ts'
import { isLanguageTag, isTimeZone, placeOf, timeZonesOf } from '../regions.ts'
import { profileId, proxy as proxyWithSettings, sessionInput, skipTlsVerification } from '../session.ts'

const { headers: most, headerChars } = limits.network

/** Headers of a connection or of the body, which the engine sets itself. */
const ownHeader =
  /^(?:accept-encoding|connection|content-length|expect|host|keep-alive|proxy-.*|set-cookie|te|trailer|transfer-encoding|upgrade)$/i

const headers = z
  .record(z.string().max(limits.input.nameChars, { abort: true }), z.string().max(headerChars, { abort: true }))
  .superRefine((map, context) => {
    const names = Object.keys(map)
    if (names.length > most) context.addIssue({ code: 'custom', message: `must have at most ${most} headers` })
    for (const name of names) {
      const fail = (message: string) => context.addIssue({ code: 'custom', path: [name], message })
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) fail('is not the name of a header')
      else if (ownHeader.test(name)) fail('is set by the engine')
      // The value is not repeated: it may be a secret.
      if (!/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(map[name]!))
        fail('must not contain control characters, nor characters beyond Latin-1')
    }
  })

const cookieField = printable(limits.input.labelChars * 4)

const cookie = z.object({
  name: cookieField.min(1),
  value: cookieField,
  domain: printable(255)
    .optional()
    .describe('Domain, with a leading dot to include subdomains; the host of the URL when omitted'),
  path: printable(4096).startsWith('/').optional(),
  expires: z.number().nullable().optional().describe('Unix time in seconds'),
  http_only: z.boolean().optional(),
  secure: z.boolean().optional(),
  same_site: z.enum(['Strict', 'Lax', 'None']).optional(),
})

/** Text of a Cookie header, or of a file of cookies. */
const cookieText = z.string().min(1).max(limits.identity.cookieChars)

// The value is not repeated: it may contain a password.
const proxyUrl = urlText.refine((text) => parseProxyUrl(text) !== undefined, notProxyUrl)

const proxy = z.union([proxyUrl, proxyWithSettings.extend({ server: proxyUrl })])

const place = z.object({
  country: z
    .string()
    .regex(/^[a-z]{2}$/i, { error: 'must be a country code such as AT', abort: true })
    .refine((code) => timeZonesOf(code).length > 0, 'is not the code of a country')
    .optional()
    .describe('ISO 3166-1 code, e.g. AT'),
  languages: z
    .array(z.string().refine(isLanguageTag, 'is not a BCP 47 language tag'))
    .min(1)
    .max(limits.identity.languages)
    .optional()
    .describe('BCP 47 language tags, the preferred one first; those of the country when omitted'),
})

const location = noted(place, ({ country }) => {
  if (country === undefined) return undefined
  const zone = placeOf({ country }).timezone === undefined ? 'not the time zone, since there are several, ' : ''
  return `location.country sets languages, but ${zone}not where requests leave from: that is the network of the engine or its proxy`
})

const { user_agent, locale, timezone } = sessionInput.shape

export const identityFields = {
  profile: profileId
    .optional()
    .describe('Saved profile whose cookies and local storage the page is read with, by its id or name'),
  save_profile: flag('Save the cookies that the site has changed to the profile'),
  headers: headers
    .optional()
    .meta({ offTerminal: true })
    .describe('Request headers, sent to the host of the URL and its subdomains only, also after redirects'),
  cookies: z
    .union([cookieText, z.array(cookie).max(limits.identity.cookies)])
    .optional()
    .meta({ offTerminal: true })
    .describe(
      'Cookies: a list, or the text of a Cookie header, of a Netscape or JSON file, or of a copied curl command',
    ),
  user_agent: user_agent.describe('User agent of fetches and of the browser'),
  locale: locale
    .unwrap()
    .refine(isLanguageTag, 'is not a BCP 47 language tag')
    .optional()
    .describe('BCP 47 language tag that pages are requested in, e.g. de-DE'),
  timezone: timezone
    .unwrap()
    .refine(isTimeZone, 'is not an IANA time zone')
    .optional()
    .describe('IANA time zone of the browser, e.g. Europe/Berlin'),
  geolocation: z
    .object({
      latitude: number(-90, 90),
      longitude: number(-180, 180),
      accuracy: number(0, 1e7).optional().describe('In meters, 0 when omitted'),
    })
    .optional()
    .meta({ spelling: { form: 'LATITUDE,LONGITUDE', fields: ['latitude', 'longitude'], separator: ',' } })
    .describe('Position that scripts of the page can read'),
  location: location
    .optional()
    .meta({ offTerminal: true })
    .describe('Country and languages as in Firecrawl: they set locale and timezone, unless given'),
  mobile: flag('Read the page as a phone'),
  proxy: noted(z.union([z.enum(proxyKinds), proxy, z.array(proxy).min(1).max(limits.identity.proxies)]), (value) =>
    value === 'stealth' || value === 'enhanced'
      ? `proxy "${value}" is not available: pages are read through the connection of the engine`
      : undefined,
  )
    .optional()
    .meta({ offTerminal: true })
    .describe(
      'Proxy to read pages through: its URL, or an object with server, bypass, username and password; or a list, of which each page uses the next one and failing ones are left out. The kinds of Firecrawl mean the own connection of the engine',
    ),
  sign: flag('Sign requests as the bot of this installation (Web Bot Auth), with its key (see `bax key bot`)'),
  skip_tls_verification: skipTlsVerification,
} satisfies Record<IdentityName, z.ZodType>

/** Session of a read that ends before its response. */
export const readSession = identifier
  .optional()
  .describe('Session whose cookies, user agent, proxy and allowed domains are used; it keeps the cookies it receives')

const identityInput = z.object(identityFields)

export type IdentityInput = z.output<typeof identityInput>
export type IdentityCookies = NonNullable<IdentityInput['cookies']>
export type ReadProxy = z.output<typeof proxy>

/** An encrypted identity, as it is stored with a crawl. */
export type SealedIdentity = { readonly sealed: 'aes-256-gcm' } & Readonly<
  Record<'salt' | 'iv' | 'tag' | 'data', string>
> & {
    /** Whether a site may recognize the caller. */
    readonly credentials?: boolean
    /** Whether sites are read without verifying their certificates. */
    readonly unverified?: boolean
  }
