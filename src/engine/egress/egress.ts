/** Controls all outgoing connections of the engine: policy, name resolution, and the proxies of browsers. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { SessionInput } from '../../core/shapes/session.ts'
import type { Chain } from './chain.ts'
import { defaultPorts, Failures } from './failures.ts'
import { HostResolver } from './host-resolver.ts'
import { bareHost, Policy } from './policy.ts'
import { openProxy, type Proxy } from './proxy.ts'

export type ProxyInput = NonNullable<SessionInput['proxy']>

export class Egress {
  readonly policy: Policy
  readonly names: HostResolver
  readonly failures = new Failures()
  readonly #chains = new Set<Chain>()
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
   * Opens a local proxy in front of a session's own proxy; the caller closes it.
   * @throws BaxError `url_blocked` when the session's proxy is blocked, `invalid_request` for an unknown host.
   */
  async chain(proxy: ProxyInput): Promise<Chain> {
    const { openChain } = await import('./chain.ts')
    const chain = await openChain(proxy, this, () => this.#chains.delete(chain))
    this.#chains.add(chain)
    return chain
  }

  /** Closes all connections of browsers. */
  async close(): Promise<void> {
    // A proxy that did not start has nothing to close.
    const proxy = await this.#proxy?.catch(() => undefined)
    await Promise.all([proxy?.close(), ...[...this.#chains].map((chain) => chain.close())])
  }
}
