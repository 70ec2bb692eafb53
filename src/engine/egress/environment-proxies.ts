/** Chooses the proxy of the environment for a target. */
import type { Agent } from 'node:http'
import type { LookupFunction } from 'node:net'
import { type ProxySettings, shownProxy } from '../../core/config/proxy-settings.ts'
import { isDirect } from '../../core/net/no-proxy.ts'
import { defaultPorts } from './failures.ts'
import { bareHost } from './policy.ts'

/** A proxy that requests go through. */
export interface UpstreamProxy {
  /** URL with user name and password. */
  readonly url: string
  /** Name in errors, without the password. */
  readonly name: string
  /** Resolves its host; the resolver of the system by default. */
  readonly lookup?: LookupFunction
  /** Keeps its open connections; those of the operator's proxies are kept for all requests. */
  readonly agents?: Map<string, Agent>
}

/** Returns the proxy for a URL; undefined if its host is connected to directly. */
export type ProxyFor = (url: URL) => UpstreamProxy | undefined

export const environmentProxies =
  ({ http, https, except }: ProxySettings): ProxyFor =>
  ({ protocol, hostname, port }) => {
    const proxy = protocol === 'https:' || protocol === 'wss:' ? https : http
    if (!proxy || isDirect(except, bareHost(hostname), Number(port) || (defaultPorts[protocol] ?? 0))) return undefined
    return { url: proxy.url, name: `the proxy ${shownProxy(proxy.url)} of ${proxy.variable}` }
  }
