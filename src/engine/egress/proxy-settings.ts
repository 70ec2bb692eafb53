/** Settings of a session's own proxy: its address, and its bypass list (`.example.com, intra, *.test:8080, <local>`). */
import { BaxError } from '../../core/errors/errors.ts'
import { isLike } from '../../core/net/host-pattern.ts'
import { notProxyUrl, parseProxyUrl } from '../../core/net/proxy-url.ts'

/** Parses the URL of a proxy; the default scheme is `http`. @throws BaxError `invalid_request` */
export function proxyAddress(server: string): URL {
  const url = parseProxyUrl(server)
  if (url) return url
  throw new BaxError('invalid_request', `proxy.server ${notProxyUrl}`, {
    details: [{ path: 'proxy.server', message: notProxyUrl }],
  })
}

/** Returns whether a bypass list contains a host and port, by Chromium's rules. */
export function bypasses(list: string, host: string, port: number): boolean {
  return list.split(/[,;\s]+/).some((rule) => rule !== '' && matches(rule.toLowerCase(), host.toLowerCase(), port))
}

function matches(rule: string, host: string, port: number): boolean {
  if (rule === '<local>') return !host.includes('.') && !host.includes(':')
  const [, name = '', digits] = /^(?:[a-z]+:\/\/)?(.*?)(?::(\d+))?$/.exec(rule) ?? []
  if (digits !== undefined && Number(digits) !== port) return false
  return isLike(host, name.startsWith('.') ? `*${name}` : name)
}
