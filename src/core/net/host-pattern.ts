/** Patterns for hosts: `example.com`, `*.example.com`, which includes `example.com`, `127.0.0.1:8080`, `::1`. */
import { parseUrl } from './parse-url.ts'

export interface HostPattern {
  /** Lower case, internationalized names as punycode; may contain stars. */
  readonly host: string
  readonly port: number | undefined
}

/** Parses a pattern; undefined when it is none. */
export function parseHostPattern(text: string): HostPattern | undefined {
  const bare = /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(text) ? `[${text}]` : text
  const [, host, digits] = /^(\[[^\]]+\]|[^\s:/?#@[\]\\]+)(?::(\d{1,5}))?$/.exec(bare) ?? []
  const url = host === undefined ? undefined : parseUrl(`http://${host}`)
  if (!url) return undefined
  const port = digits === undefined ? undefined : Number(digits)
  if (port !== undefined && (port === 0 || port > 65_535)) return undefined
  return { host: plainHost(url.hostname), port }
}

/** Returns whether a host and port match a pattern. */
export function matchesHost(pattern: HostPattern, host: string, port: number): boolean {
  if (pattern.port !== undefined && pattern.port !== port) return false
  const plain = plainHost(host)
  // `10.0.*` is for addresses: anybody can register a name such as 10.0.example.com.
  if (/^[\d.*]*\d[\d.*]*$/.test(pattern.host) && !/^[\d.]+$/.test(plain)) return false
  return isLike(plain, pattern.host) || (pattern.host.startsWith('*.') && plain === pattern.host.slice(2))
}

/** Removes the brackets of an IPv6 address and the dot at the end of an absolute name. */
const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')

/** Matches a text against a pattern with stars in linear time, without backtracking. */
export function isLike(text: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const piece of others) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}
