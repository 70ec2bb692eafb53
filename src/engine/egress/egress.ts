/** Controls all outgoing connections of the engine: policy, name resolution, and the proxies of browsers. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { SessionInput } from '../../core/shapes/session.ts'
import { AllowedHosts } from './allowed-hosts.ts'
import type { Chain } from './chain.ts'
import { defaultPorts, Failures } from './failures.ts'
import { HostResolver } from './host-resolver.ts'
import { bareHost, Policy } from './policy.ts'
import { openProxy, type Proxy } from './proxy.ts'

export type ProxyInput = NonNullable<SessionInput['proxy']>

/** Rules of one session's connections. */
interface RouteOptions {
  readonly proxy: ProxyInput | undefined
  readonly allowed: AllowedHosts | undefined
}

/** The local proxy of one session. */
export interface Route extends Chain {
  /** Why its connections failed. */
  readonly failures: Failures
}

/** Rules of the engine's own requests. */
export interface RequestRules extends Pick<Egress, 'checkLiteral' | 'names'> {
  /** Hosts that may be connected to; all when missing. */
  readonly allowed?: AllowedHosts
}

export class Egress {
  readonly policy: Policy
  readonly names: HostResolver
  readonly failures = new Failures()
  readonly #routes = new Set<Pick<Route, 'close'>>()
  #proxy: Promise<Proxy> | undefined

  constructor({ home, allowPrivate = [], lookup }: Pick<EngineConfig, 'home' | 'allowPrivate' | 'lookup'>) {
    this.policy = new Policy({ privateAllowed: home !== 'server', opened: allowPrivate })
    this.names = new HostResolver(this.policy, lookup)
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

  /** Returns rules that allow only these hosts, if any are given (`allowed_domains`). */
  limitedTo(hosts: readonly string[] | undefined): RequestRules {
    if (!hosts) return this
    const allowed = new AllowedHosts(hosts)
    const checkLiteral = (url: URL) => {
      allowed.checkUrl(url)
      this.checkLiteral(url)
    }
    return { allowed, names: this.names, checkLiteral }
  }

  /**
   * Checks a URL and the addresses of its host; a name that does not resolve passes, and fails on connecting.
   * @throws BaxError `url_blocked`
   */
  async check(href: string): Promise<void> {
    const url = new URL(href)
    this.checkLiteral(url)
    await this.checkHost(url)
  }

  /** Checks the addresses of a URL's host, but not scheme and port. @throws BaxError `url_blocked` */
  async checkHost(url: URL): Promise<void> {
    await this.names.resolve(bareHost(url.hostname)).catch((error: { code?: string }) => {
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
   * Opens a local proxy for one session, in front of the session's own proxy or with its own rules; the caller closes it.
   * @throws BaxError `url_blocked` when the session's proxy is blocked, `invalid_request` for an unknown host.
   */
  async route({ proxy, allowed }: RouteOptions): Promise<Route> {
    // With rules of its own, a host that this session cannot reach says nothing about other sessions.
    const failures = allowed ? new Failures() : this.failures
    if (!proxy) return this.#direct(failures, allowed)
    const { openChain } = await import('./chain.ts')
    const chain = await openChain(proxy, { egress: this, failures, allowed }, () => this.#routes.delete(chain))
    this.#routes.add(chain)
    return { ...chain, failures }
  }

  async #direct(failures: Failures, allowed: AllowedHosts | undefined): Promise<Route> {
    const { policy, names } = this
    const proxy = await openProxy({ policy, names, failures, allowed })
    this.#routes.add(proxy)
    const close = () => proxy.close().finally(() => this.#routes.delete(proxy))
    return { proxy: { server: proxy.url }, failures, close }
  }

  /** Closes all connections of browsers. */
  async close(): Promise<void> {
    // A proxy that did not start has nothing to close.
    const proxy = await this.#proxy?.catch(() => undefined)
    await Promise.all([proxy?.close(), ...[...this.#routes].map((route) => route.close())])
  }
}
