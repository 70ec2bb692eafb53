/** Cookies of one identity, which fetches and browsers share (RFC 6265). */
import { isIP } from 'node:net'
import { limits } from '../../../core/limits/limits.ts'
import type { StorageState } from '../../../core/stores.ts'
import type { ResponseHeaders } from '../../egress/response-headers.ts'

/** As Playwright writes it: domains with a leading dot include subdomains; `expires` is -1 for the session. */
export type JarCookie = StorageState['cookies'][number]

const { cookies: most, pairChars } = limits.identity

export class CookieJar {
  readonly #cookies = new Map<string, JarCookie>()
  /** Number of changes by sites, which a profile is saved after. */
  changes = 0

  constructor(cookies: readonly JarCookie[] = []) {
    this.add(cookies)
  }

  /** Adds cookies of the caller. */
  add(cookies: readonly JarCookie[]): void {
    for (const cookie of cookies) this.#put(cookie)
  }

  all(): JarCookie[] {
    return [...this.#cookies.values()].filter((cookie) => !hasExpired(cookie))
  }

  /** Returns the value of the header `Cookie` for a URL; empty without cookies. */
  headerFor(href: string): string {
    const url = new URL(href)
    const found = this.all().filter((cookie) => isSentTo(cookie, url))
    // Longer paths first.
    const sorted = found.toSorted((a, b) => b.path.length - a.path.length)
    return sorted.map(({ name, value }) => (name === '' ? value : `${name}=${value}`)).join('; ')
  }

  /** Keeps the cookies that the response of a URL sets. */
  receive(href: string, headers: ResponseHeaders): void {
    const url = new URL(href)
    for (const line of headers.all('set-cookie')) {
      const cookie = parseSetCookie(line, url)
      if (cookie) this.#change(cookie)
    }
  }

  /** Takes over what a browser has changed that began with the cookies `before`. */
  merge(before: readonly JarCookie[], after: readonly JarCookie[]): void {
    const known = new Map(before.map((cookie) => [keyOf(cookie), cookie]))
    const kept = new Set(after.map(keyOf))
    for (const cookie of after) {
      const old = known.get(keyOf(cookie))
      if (!old || old.value !== cookie.value || expiryOf(old) !== expiryOf(cookie)) this.#change(cookie)
    }
    for (const key of known.keys()) if (!kept.has(key) && this.#cookies.delete(key)) this.changes++
  }

  #change(cookie: JarCookie): void {
    this.changes++
    if (hasExpired(cookie)) this.#cookies.delete(keyOf(cookie))
    else this.#put(cookie)
  }

  #put(cookie: JarCookie): void {
    const key = keyOf(cookie)
    if (!this.#cookies.has(key) && this.#cookies.size >= most) {
      const [oldest] = this.#cookies.keys()
      this.#cookies.delete(oldest!)
    }
    this.#cookies.set(key, cookie)
  }
}

const keyOf = ({ name, domain, path }: JarCookie): string => `${name};${domain.toLowerCase()};${path}`

/** Browsers store times in microseconds, and round them. */
const expiryOf = ({ expires }: JarCookie): number => (expires < 0 ? -1 : Math.round(expires))

const hasExpired = ({ expires }: JarCookie): boolean => expires >= 0 && expires * 1000 <= Date.now()

const isLoopback = (host: string): boolean => /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(host)

function isSentTo({ domain, path, secure }: JarCookie, { hostname, pathname, protocol }: URL): boolean {
  const host = domain.toLowerCase().replace(/^\./, '')
  const isHost = hostname === host || (domain.startsWith('.') && isSubdomain(hostname, host))
  const isPath = pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)
  // Browsers trust connections to their own machine.
  return isHost && isPath && (!secure || protocol === 'https:' || isLoopback(hostname))
}

/** Whether a host is a subdomain of another one. */
export const isSubdomain = (hostname: string, of: string): boolean => isIP(of) === 0 && hostname.endsWith(`.${of}`)

const sameSites: Readonly<Record<string, JarCookie['sameSite']>> = { strict: 'Strict', lax: 'Lax', none: 'None' }

/** Returns the cookie of a header `Set-Cookie`; undefined for one that browsers ignore. */
function parseSetCookie(line: string, url: URL): JarCookie | undefined {
  const [pair = '', ...parts] = line.split(';')
  const { name, value } = parsePair(pair)
  if ((name === '' && value === '') || name.length + value.length > pairChars) return undefined
  const attributes = new Map(
    parts.map((part) => {
      const at = part.indexOf('=')
      const key = (at < 0 ? part : part.slice(0, at)).trim().toLowerCase()
      return [key, at < 0 ? '' : part.slice(at + 1).trim()] as const
    }),
  )
  const domain = domainOf(attributes.get('domain'), url)
  if (domain === undefined) return undefined
  const secure = attributes.has('secure')
  if (secure && url.protocol !== 'https:' && !isLoopback(url.hostname)) return undefined
  const path = attributes.get('path') ?? ''
  return {
    name,
    value,
    domain,
    path: path.startsWith('/') ? path : defaultPath(url),
    expires: expiresIn(attributes),
    httpOnly: attributes.has('httponly'),
    secure,
    sameSite: sameSites[attributes.get('samesite')?.toLowerCase() ?? ''] ?? 'Lax',
  }
}

/** Splits `name=value`; text without `=` is the value of a cookie without a name. */
export function parsePair(pair: string): { name: string; value: string } {
  const at = pair.indexOf('=')
  return at < 0
    ? { name: '', value: pair.trim() }
    : { name: pair.slice(0, at).trim(), value: pair.slice(at + 1).trim() }
}

/** Returns the domain of a cookie, with a leading dot if it includes subdomains; undefined for that of another site. */
function domainOf(given: string | undefined, { hostname }: URL): string | undefined {
  const domain = given?.toLowerCase().replace(/^\./, '') ?? ''
  if (domain === '') return hostname
  if (domain !== hostname && !isSubdomain(hostname, domain)) return undefined
  // The browser knows the list of public suffixes, such as co.uk, and refuses their cookies.
  if (domain.includes('.') && isIP(domain) === 0) return `.${domain}`
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
