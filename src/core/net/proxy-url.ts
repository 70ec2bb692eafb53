/** URLs of proxies. */
import { parseUrl } from './parse-url.ts'

const schemes = new Set(['http:', 'https:', 'socks4:', 'socks5:'])

/** Parses the URL of a proxy, whose default scheme is `http`; returns undefined if it is invalid. */
export function parseProxyUrl(text: string): URL | undefined {
  const url = parseUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  return url && url.hostname !== '' && schemes.has(url.protocol) ? url : undefined
}

/** Error message for a URL that `parseProxyUrl` rejects, without its subject. */
export const notProxyUrl = 'is not an http, https, socks4 or socks5 URL'
