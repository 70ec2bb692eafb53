/** Matches hosts against `NO_PROXY`, as curl does: names with their subdomains, ports, addresses, ranges and `*`. */
import { BlockList, isIP } from 'node:net'
import { isLike } from './host-pattern.ts'

/** The entry that sends requests to this machine to the proxy, too. */
const alsoLoopback = '<-loopback>'

/** Returns whether a host is connected to directly. The host of an IPv6 URL is without brackets. */
export function isDirect(list: string, host: string, port: number): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  const entries = list
    .toLowerCase()
    .split(/[,\s]+/)
    .filter(Boolean)
  if (isLoopback(name) && !entries.includes(alsoLoopback)) return true
  return entries.some((entry) => matches(entry, name, port))
}

function matches(entry: string, host: string, port: number): boolean {
  if (entry === '*') return true
  const { name, only } = withoutPort(entry)
  if (only !== undefined && only !== port) return false
  const version = isIP(host)
  if (version !== 0) return isInRange(name, host, version)
  const domain = name.replace(/^\*?\./, '').replace(/\.$/, '')
  return domain !== '' && (host === domain || host.endsWith(`.${domain}`) || isLike(host, domain))
}

/** Splits `host:port`, `[::1]:port` and `10.0.0.0/8`; the colons of an IPv6 address are not those of a port. */
function withoutPort(entry: string): { name: string; only?: number } {
  const [, bracketed, bare, digits] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? []
  const name = bracketed ?? bare
  if (name === undefined) return { name: entry }
  return { name, ...(digits !== undefined && { only: Number(digits) }) }
}

function isInRange(text: string, host: string, version: number): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const longest = version === 6 ? 128 : 32
  const prefix = bits === undefined ? longest : /^\d{1,3}$/.test(bits) ? Number(bits) : -1
  if (more.length > 0 || isIP(address) !== version || prefix < 0 || prefix > longest) return false
  const family = version === 6 ? 'ipv6' : 'ipv4'
  const range = new BlockList()
  range.addSubnet(address, prefix, family)
  return range.check(host, family)
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' ||
  host.endsWith('.localhost') ||
  (isIP(host) === 4 && host.startsWith('127.')) ||
  (isIP(host) === 6 && isInRange('::1', host, 6)) ||
  /^(?:0\.0\.0\.0|::ffff:7f[0-9a-f]{2}:[0-9a-f]+|::)$/.test(host)
