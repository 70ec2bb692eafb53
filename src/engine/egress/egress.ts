/** Controls all outgoing connections of the engine: policy, name resolution, and the proxies of browsers. */
import type { EngineConfig } from '../../core/config/config.ts'
import { Counter } from '../../core/access/quota.ts'
import type { Origin, WorkOptions } from '../../core/process/turns.ts'
import type { SessionInput } from '../../core/shapes/session.ts'
import { AllowedHosts } from './allowed-hosts.ts'
import type { Chain, Upstream } from './chain.ts'
import { environmentProxies, type ProxyFor } from './environment-proxies.ts'
import { defaultPorts, Failures } from './failures.ts'
import { HostResolver } from './host-resolver.ts'
import { bareHost, Policy } from './policy.ts'
import { openProxy, type Proxy } from './proxy.ts'
import type { ResponseHeaders } from './response-headers.ts'

export type ProxyInput = NonNullable<SessionInput['proxy']>

/** Rules of the connections of one browser context. */
interface RouteOptions {
  readonly proxy?: ProxyInput | undefined
  /** Proxy of a read. */
  readonly upstream?: Upstream | undefined
  readonly allowed?: AllowedHosts | undefined
  /** Key that the connections belong to; `belongTo` sets it later. */
  readonly from?: Origin
}

/** The local proxy of one browser context. */
export interface Route extends Chain {
  /** Sets the key that further connections count for. */
  readonly belongTo: (from: Origin) => void
  /** Why its connections failed. */
  readonly failures: Failures
}

/** Headers and cookies of a caller, sent in addition to the engine's own headers or instead of them. */
export interface RequestIdentity {
  readonly userAgent: string | undefined
  readonly acceptLanguage: string | undefined
  /** Whether any certificate of a site is accepted. */
  readonly skipsTlsVerification: boolean
  /** Returns the headers of the caller for a URL, with names in lower case. */
  headersFor(href: string): Readonly<Record<string, string>>
  /** Returns the value of the header `Cookie` for a URL; empty without cookies. */
  cookiesFor(href: string): string
  /** Called with the headers of every response, also of redirects. */
  received(href: string, headers: ResponseHeaders): void
}

/** The proxy of one page, which is replaced when it fails. */
export interface ProxyTurn {
  /** Returns the proxy that requests of the page use now. @throws BaxError `proxy_failed`, `url_blocked` */
  current(): Promise<Upstream>
  /** Leaves out a proxy that has failed, so that the next one is used. @throws the error if there is none */
  replace(failed: Upstream, error: unknown): Promise<void>
}

/** Rules of the engine's own requests. */
export interface RequestRules extends Pick<Egress, 'checkLiteral' | 'names'> {
  /** Hosts that may be connected to; all when missing. */
  readonly allowed?: AllowedHosts
  /** Key that the requests count for. */
  readonly from?: Origin
  /** Returns the proxy for a URL; missing without proxies. */
  readonly proxyFor?: ProxyFor
  readonly identity?: RequestIdentity
  /** Proxy of the caller for a page, in place of those of the environment. */
  readonly turn?: ProxyTurn
}

export class Egress {
  readonly policy: Policy
  readonly names: HostResolver
  readonly failures = new Failures()
  /** Open connections of all browsers, by key. */
  readonly connections = new Counter<Origin>()
  /** Proxies of the environment; missing without any. */
  readonly proxyFor: ProxyFor | undefined
  readonly #routes = new Set<Pick<Route, 'close'>>()
  #proxy: Promise<Proxy> | undefined

  constructor({
    home,
    allowPrivate = [],
    lookup,
    proxies,
  }: Pick<EngineConfig, 'home' | 'allowPrivate' | 'lookup' | 'proxies'>) {
    this.policy = new Policy({ privateAllowed: home !== 'server', opened: allowPrivate })
    this.names = new HostResolver(this.policy, lookup)
    this.proxyFor = proxies && environmentProxies(proxies)
  }

  /**
   * Checks a URL without resolving its host: scheme, port, and the host if it is an IP address or a blocked name.
   * @throws BaxError `url_blocked`
   */
  checkLiteral({ hostname, port, protocol }: URL): void {
    const defaultPort = defaultPorts[protocol]
    if (defaultPort === undefined) throw this.policy.refuse('scheme')
    this.policy.checkTarget(bareHost(hostname), Number(port) || defaultPort)
  }

  /** Returns rules for requests of a key, which allow only these hosts, if any are given (`allowed_domains`). */
  rulesFor(from: Origin, hosts?: readonly string[]): RequestRules {
    const allowed = hosts && new AllowedHosts(hosts)
    const checkLiteral = (url: URL) => {
      allowed?.checkUrl(url)
      this.checkLiteral(url)
    }
    const { names, proxyFor } = this
    return { names, checkLiteral, from, ...(allowed && { allowed }), ...(proxyFor && { proxyFor }) }
  }

  /**
   * Checks a URL and the addresses of its host; a name that does not resolve passes, and fails on connecting.
   * @throws BaxError `url_blocked`; the reason of the signal
   */
  async check(href: string, work: WorkOptions): Promise<void> {
    const url = new URL(href)
    this.checkLiteral(url)
    await this.checkHost(url, work)
  }

  /**
   * Checks the addresses of a URL's host, but not scheme and port.
   * @throws BaxError `url_blocked`; the reason of the signal
   */
  async checkHost(url: URL, work: WorkOptions): Promise<void> {
    await this.names.resolve(bareHost(url.hostname), work).catch((error: { code?: string }) => {
      work.signal?.throwIfAborted()
      if (error.code === 'url_blocked') throw error
    })
  }

  /** Returns switches that route all connections of a browser through the proxy, which the first call starts. */
  async switches(): Promise<string[]> {
    const proxy = await (this.#proxy ??= openProxy(this))
    return [
      `--proxy-server=${proxy.url}`,
      // Connections to this machine use the proxy too.
      '--proxy-bypass-list=<-loopback>',
      // Only the proxy resolves names: no prefetching, and no connection that bypasses it.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.*',
      '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    ]
  }

  /**
   * Opens a local proxy for one browser context, in front of the session's own proxy or those of the environment, or
   * with its own rules; the caller closes it. Its connections are those of one key, so that a page uses only the share of its key.
   * @throws BaxError `url_blocked` when the session's proxy is blocked, `invalid_request` for an unknown host.
   */
  async route({ proxy, upstream, allowed, from = null }: RouteOptions = {}): Promise<Route> {
    // With rules or a proxy of its own, a host that this session cannot reach says nothing about other sessions.
    const failures = allowed || proxy || upstream ? new Failures() : this.failures
    const { proxyFor: environment } = this
    if (!proxy && !upstream && !environment) return this.#direct(failures, { allowed, from })
    const { openChain, sessionProxy } = await import('./chain.ts')
    const owner = { from }
    // Tabs of scrapes do not support logins at a proxy.
    const operators = environment && { proxyFor: environment, isSecret: false, ofOperator: true }
    const ofRead = upstream && { ...upstream, isSecret: false }
    const next = ofRead ?? (proxy ? await sessionProxy(proxy, this, from) : operators!)
    const chain = await openChain(next, { egress: this, failures, allowed, owner }, () => this.#routes.delete(chain))
    this.#routes.add(chain)
    return { ...chain, failures, belongTo: (key) => void (owner.from = key) }
  }

  async #direct(
    failures: Failures,
    { allowed, from }: { allowed: AllowedHosts | undefined; from: Origin },
  ): Promise<Route> {
    const { policy, names, connections } = this
    const proxy = await openProxy({ policy, names, failures, allowed, connections })
    proxy.belongTo(from)
    this.#routes.add(proxy)
    const close = () => proxy.close().finally(() => this.#routes.delete(proxy))
    return { proxy: { server: proxy.url }, failures, belongTo: proxy.belongTo, close }
  }

  /** Closes all connections of browsers. */
  async close(): Promise<void> {
    // A proxy that did not start has nothing to close.
    const proxy = await this.#proxy?.catch(() => undefined)
    await Promise.all([proxy?.close(), ...[...this.#routes].map((route) => route.close())])
  }
}
