/** Cookies of one identity, which fetches and browsers share (RFC 6265). */
import { limits } from '../../../core/limits/limits.ts'
import type { ResponseHeaders } from '../../egress/response-headers.ts'
import { isSubdomain, isTrusted, type JarCookie, parseSetCookie } from './set-cookie.ts'

const { cookies: most, lifetimeSecs } = limits.identity

/** Changes that sites have made, by the key of the cookie. */
export type CookieChanges = ReadonlyMap<string, CookieChange>

interface CookieChange {
  /** Undefined for a cookie that was deleted. */
  readonly cookie: JarCookie | undefined
  /** Value before the change; undefined for a new cookie. */
  readonly from: string | undefined
}

export class CookieJar {
  readonly #cookies = new Map<string, JarCookie>()
  /** Keys of the cookies that the caller has given. */
  readonly #given = new Set<string>()
  #changes = new Map<string, CookieChange>()

  constructor(cookies: readonly JarCookie[] = []) {
    for (const cookie of cookies) this.#put(cookie)
  }

  /** Adds cookies of the caller, each once: sites may have changed or deleted it since. */
  add(cookies: readonly JarCookie[]): void {
    const added = cookies.filter((cookie) => !this.#given.has(keyOf(cookie)))
    for (const cookie of added) {
      this.#given.add(keyOf(cookie))
      this.#put(cookie)
    }
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
      const cookie = parseSetCookie(fromBytes(line), url)
      if (cookie && (isTrusted(url) || !this.#isProtected(cookie))) this.#change(keyOf(cookie), cookie)
    }
  }

  /** Takes over what a browser has changed that began with the cookies `before`. */
  merge(before: readonly JarCookie[], after: readonly JarCookie[]): void {
    const known = new Map(before.map((cookie) => [keyOf(cookie), cookie]))
    const kept = new Set(after.map(keyOf))
    for (const cookie of after) {
      const old = known.get(keyOf(cookie))
      if (!old || old.value !== cookie.value || expiryOf(old) !== expiryOf(cookie)) this.#change(keyOf(cookie), cookie)
    }
    // Another read may have changed a cookie meanwhile that the page has deleted.
    for (const [key, { value }] of known)
      if (!kept.has(key) && this.#cookies.get(key)?.value === value) this.#change(key, undefined)
  }

  /** Returns what sites have changed since the last call. */
  takeChanges(): CookieChanges {
    const changes = this.#changes
    this.#changes = new Map()
    return changes
  }

  /** Returns changes that could not be saved to those that are taken next. */
  returnChanges(changes: CookieChanges): void {
    this.#changes = new Map([...changes, ...this.#changes])
  }

  #change(key: string, cookie: JarCookie | undefined): void {
    const old = this.#cookies.get(key)
    const isGone = !cookie || hasExpired(cookie)
    if (isGone ? !old : old && isSame(old, cookie)) return
    const { from } = this.#changes.get(key) ?? { from: old?.value }
    if (isGone) this.#cookies.delete(key)
    else this.#put(cookie)
    this.#changes.set(key, { cookie: this.#cookies.get(key), from })
  }

  #put(cookie: JarCookie): void {
    const key = keyOf(cookie)
    if (!this.#cookies.has(key) && this.#cookies.size >= most) {
      const [oldest] = this.#cookies.keys()
      this.#cookies.delete(oldest!)
    }
    // Browsers refuse a later expiry.
    const expires = Math.min(cookie.expires, Date.now() / 1000 + lifetimeSecs)
    this.#cookies.set(key, { ...cookie, expires })
  }

  /** Whether a cookie would replace or hide one of a secure connection. */
  #isProtected({ name, domain, path }: JarCookie): boolean {
    const host = hostOf(domain)
    const secure = this.all().filter((cookie) => cookie.secure && cookie.name === name)
    return secure.some((cookie) => {
      const other = hostOf(cookie.domain)
      const isNear = host === other || isSubdomain(host, other) || isSubdomain(other, host)
      return isNear && isBelow(path, cookie.path)
    })
  }
}

/** Returns the cookies of a profile after changes by sites: what others have saved meanwhile stays, unless it is older. */
export function withChanges(saved: readonly JarCookie[], changes: CookieChanges): JarCookie[] {
  const found = new Map(saved.map((cookie) => [keyOf(cookie), cookie]))
  for (const [key, { cookie, from }] of changes) {
    const current = found.get(key)
    // Others may have a new value in the place of one that this read has deleted or renewed.
    const isOld = current && current.value !== from && (cookie === undefined || cookie.value === from)
    if (isOld) continue
    found.delete(key)
    if (cookie && !hasExpired(cookie)) found.set(key, cookie)
  }
  return [...found.values()]
}

const keyOf = ({ name, domain, path }: JarCookie): string => `${name};${domain.toLowerCase()};${path}`

/** Returns the text of a header that Node has read as Latin-1. */
function fromBytes(header: string): string {
  const text = Buffer.from(header, 'latin1').toString('utf8')
  return text.includes('\ufffd') ? header : text
}

const isSame = (a: JarCookie, b: JarCookie): boolean =>
  a.value === b.value &&
  expiryOf(a) === expiryOf(b) &&
  a.secure === b.secure &&
  a.httpOnly === b.httpOnly &&
  a.sameSite === b.sameSite

/** Browsers store times in microseconds, and round them. */
const expiryOf = ({ expires }: JarCookie): number => (expires < 0 ? -1 : Math.round(expires))

const hasExpired = ({ expires }: JarCookie): boolean => expires >= 0 && expires * 1000 <= Date.now()

const hostOf = (domain: string): string => domain.toLowerCase().replace(/^\./, '')

const isBelow = (path: string, of: string): boolean => path === of || path.startsWith(of.endsWith('/') ? of : `${of}/`)

function isSentTo({ domain, path, secure }: JarCookie, url: URL): boolean {
  const host = hostOf(domain)
  const isHost = url.hostname === host || (domain.startsWith('.') && isSubdomain(url.hostname, host))
  return isHost && isBelow(url.pathname, path) && (!secure || isTrusted(url))
}
