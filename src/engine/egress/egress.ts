/** Everything that leaves the engine goes by this: the rule, the names, and the proxies that browsers go through. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { SessionInput } from '../../core/shapes/session.ts'
import type { Chain } from './chain.ts'
import { Failures } from './failures.ts'
import { Names } from './names.ts'
import { bareHost, Policy } from './policy.ts'
import { Proxy } from './proxy.ts'

export type ProxyInput = NonNullable<SessionInput['proxy']>

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'ws:': 80, 'https:': 443, 'wss:': 443 }

export class Egress {
  readonly policy: Policy
  readonly names: Names
  readonly failures = new Failures()
  readonly #chains = new Set<Chain>()
  #proxy: Promise<Proxy> | undefined

  constructor({ home, allowPrivate = [], lookup }: Pick<EngineConfig, 'home' | 'allowPrivate' | 'lookup'>) {
    this.policy = new Policy({ privateAllowed: home !== 'server', opened: allowPrivate })
    this.names = new Names(this.policy, lookup)
  }

  /**
   * Checks what an address says by itself: its scheme, its port, and its host where that is an address or a name of ill repute.
   * @throws BaxError `url_blocked`
   */
  checkLiteral({ hostname, port, protocol }: URL): void {
    if (!(protocol in defaultPorts)) throw this.policy.refuse('scheme')
    this.policy.checkTarget(bareHost(hostname), Number(port) || defaultPorts[protocol]!)
  }

  /**
   * Checks an address and looks its host up; a name that nobody knows is for whoever connects to find out.
   * @throws BaxError `url_blocked`
   */
  async check(address: string): Promise<void> {
    const url = new URL(address)
    this.checkLiteral(url)
    await this.checkHost(url)
  }

  /** The same without a look at scheme and port. @throws BaxError `url_blocked` */
  async checkHost(url: URL): Promise<void> {
    await this.names.resolve(bareHost(url.hostname)).catch((error: { code?: string }) => {
      if (error.code === 'url_blocked') throw error
    })
  }

  /** The switches that leave a browser no other way out than the proxy, which is started for the first of them. */
  async switches(): Promise<string[]> {
    const proxy = await (this.#proxy ??= Proxy.open(this))
    return [
      `--proxy-server=${proxy.url}`,
      // What is on this machine goes through it too.
      '--proxy-bypass-list=<-loopback>',
      // Names are the proxy's business: no look-up ahead of time, and nothing that could go past it.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.*',
      '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    ]
  }

  /**
   * A way out through somebody's proxy, for one session; to be closed with it.
   * @throws BaxError `url_blocked` when the proxy itself may not be reached, `invalid_request` when nobody knows its name.
   */
  async chain(proxy: ProxyInput): Promise<Chain> {
    const { Chain } = await import('./chain.ts')
    const chain = await Chain.open(proxy, this)
    this.#chains.add(chain)
    chain.onClosed(() => this.#chains.delete(chain))
    return chain
  }

  /** Ends every connection that browsers still have. */
  async close(): Promise<void> {
    // A proxy that did not start has nothing to close.
    const proxy = await this.#proxy?.catch(() => undefined)
    await Promise.all([proxy?.close(), ...[...this.#chains].map((chain) => chain.close())])
  }
}
