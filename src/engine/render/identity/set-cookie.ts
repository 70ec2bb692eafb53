/** Parses headers `Set-Cookie`, and ignores the cookies that browsers ignore (RFC 6265bis). */
import { isIP } from 'node:net'
import { getPublicSuffix } from 'tldts'
import { limits } from '../../../core/limits/limits.ts'
import type { StorageState } from '../../../core/stores.ts'

/** As Playwright writes it: domains with a leading dot include subdomains; `expires` is -1 for the session. */
export type JarCookie = StorageState['cookies'][number]

const sameSites: Readonly<Record<string, JarCookie['sameSite']>> = { strict: 'Strict', lax: 'Lax', none: 'None' }

/** Returns the cookie of a header `Set-Cookie`; undefined for one that browsers ignore. */
export function parseSetCookie(line: string, url: URL): JarCookie | undefined {
  const [pair = '', ...parts] = line.split(';')
  const { name, value } = parsePair(pair)
  if ((name === '' && value === '') || name.length + value.length > limits.identity.pairChars) return undefined
  const attributes = new Map(
    parts.map((part) => {
      const at = part.indexOf('=')
      const key = (at < 0 ? part : part.slice(0, at)).trim().toLowerCase()
      return [key, at < 0 ? '' : part.slice(at + 1).trim()] as const
    }),
  )
  const domain = domainOf(attributes.get('domain'), url)
  const secure = attributes.has('secure')
  const sameSite = sameSites[attributes.get('samesite')?.toLowerCase() ?? ''] ?? 'Lax'
  if (domain === undefined || (secure ? !isTrusted(url) : sameSite === 'None')) return undefined
  const path = attributes.get('path') ?? ''
  const prefix = /^__(?:Secure|Host)-/i.exec(name || value)?.[0].toLowerCase()
  if (prefix !== undefined && (name === '' || !secure)) return undefined
  if (prefix === '__host-' && (path !== '/' || domain.startsWith('.'))) return undefined
  return {
    name,
    value,
    domain,
    path: path.startsWith('/') ? path : defaultPath(url),
    expires: expiresIn(attributes),
    httpOnly: attributes.has('httponly'),
    secure,
    sameSite,
  }
}

/** Splits `name=value`; text without `=` is the value of a cookie without a name. */
export function parsePair(pair: string): { name: string; value: string } {
  const at = pair.indexOf('=')
  return at < 0
    ? { name: '', value: pair.trim() }
    : { name: pair.slice(0, at).trim(), value: pair.slice(at + 1).trim() }
}

/** Whether a host is a subdomain of another one. */
export const isSubdomain = (hostname: string, of: string): boolean => isIP(of) === 0 && hostname.endsWith(`.${of}`)

/** Whether cookies for secure connections are sent: browsers also trust connections to their own machine. */
export const isTrusted = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)

/** Returns the domain of a cookie, with a leading dot if it includes subdomains; undefined for one that it cannot have. */
function domainOf(given: string | undefined, { hostname }: URL): string | undefined {
  const domain = given?.toLowerCase().replace(/^\./, '') ?? ''
  if (domain === '') return hostname
  if (domain !== hostname && !isSubdomain(hostname, domain)) return undefined
  // Anybody can have a host below a public suffix, such as co.uk or github.io.
  const isShared = getPublicSuffix(domain, { allowPrivateDomains: true }) === domain
  if (isIP(domain) === 0 && !isShared) return `.${domain}`
  return domain === hostname ? hostname : undefined
}

function defaultPath({ pathname }: URL): string {
  const at = pathname.lastIndexOf('/')
  return at <= 0 ? '/' : pathname.slice(0, at)
}

function expiresIn(attributes: ReadonlyMap<string, string>): number {
  const maxAge = attributes.get('max-age') ?? ''
  if (/^-?\d+$/.test(maxAge)) return Number(maxAge) <= 0 ? 0 : Date.now() / 1000 + Number(maxAge)
  const time = Date.parse(attributes.get('expires') ?? '')
  return Number.isNaN(time) ? -1 : Math.max(0, time / 1000)
}
