/** Proxies of the environment: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, as curl reads them. */
import { createHash } from 'node:crypto'
import { BaxError } from '../errors/errors.ts'
import { notProxyUrl, parseProxyUrl } from '../net/proxy-url.ts'
import { type Environment, isOn } from './setting.ts'

interface NamedProxy {
  /** URL with user name and password. */
  readonly url: string
  readonly variable: string
}

export interface ProxySettings {
  /** Proxies by the scheme of the target. */
  readonly http?: NamedProxy
  readonly https?: NamedProxy
  /** Hosts that are connected to directly: the value of `NO_PROXY`. */
  readonly except: string
}

/** Returns the proxies; undefined without any. @throws BaxError `invalid_request` with the name of the variable */
export function readProxies(env: Environment): ProxySettings | undefined {
  // This setting also ignores invalid values.
  if (isOn(env['BAX_NO_PROXY'])) return undefined
  const all = proxyIn(env, ['all_proxy', 'ALL_PROXY'])
  // A server that runs a program for a request puts the header `Proxy` of its client into HTTP_PROXY.
  const isForRequest = env['REQUEST_METHOD'] !== undefined
  const http = proxyIn(env, isForRequest ? ['http_proxy'] : ['http_proxy', 'HTTP_PROXY']) ?? all
  const https = proxyIn(env, ['https_proxy', 'HTTPS_PROXY']) ?? all
  if (!http && !https) return undefined
  return { ...(http && { http }), ...(https && { https }), except: env['no_proxy'] || env['NO_PROXY'] || '' }
}

/** Names of the variables. */
export const proxyVariables = /^(?:https?|all|no)_proxy$/i

/** Returns variables for other programs: some read only those in lower case, others only those in upper case. */
export function proxyEnvironment(proxies: ProxySettings | undefined): Record<string, string> {
  if (!proxies) return {}
  const { http, https, except } = proxies
  const pairs = Object.entries({ http_proxy: http?.url, https_proxy: https?.url, no_proxy: except || undefined })
  const given = pairs.filter((pair): pair is [string, string] => pair[1] !== undefined)
  return Object.fromEntries(
    given.flatMap(([name, value]) => [
      [name, value],
      [name.toUpperCase(), value],
    ]),
  )
}

/** Returns the proxy of the first variable that is not empty. */
function proxyIn(env: Environment, names: readonly string[]): NamedProxy | undefined {
  const variable = names.find((name) => env[name])
  if (variable === undefined) return undefined
  // The proxy resolves names with each of them.
  const url = parseProxyUrl(env[variable]!.replace(/^socks4a:/i, 'socks4:').replace(/^(?:socks5h|socks):/i, 'socks5:'))
  if (url) return { url: url.href, variable }
  // The value may contain a password.
  throw new BaxError('invalid_request', `${variable} ${notProxyUrl}`, {
    hint: `set it to a URL such as http://proxy:3128, or pass --no-proxy`,
  })
}

/** Returns the URL of a proxy without user name and password. */
export function shownProxy(url: string): string {
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}`
}

/** Identifies settings without showing them; undefined without proxies. */
export function proxiesDigest(proxies: ProxySettings | undefined): string | undefined {
  if (!proxies) return undefined
  const facts = JSON.stringify([proxies.http?.url, proxies.https?.url, proxies.except])
  return createHash('sha256').update(facts).digest('hex').slice(0, 16)
}
