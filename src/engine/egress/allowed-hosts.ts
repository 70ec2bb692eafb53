/** The hosts that a session may connect to (`allowed_domains`). */
import { BaxError } from '../../core/errors/errors.ts'
import { type HostPattern, matchesHost, parseHostPattern } from '../../core/net/host-pattern.ts'
import { defaultPorts } from './failures.ts'

export class AllowedHosts {
  readonly #texts: readonly string[]
  readonly #patterns: readonly HostPattern[]
  #onBlocked: (host: string, port: number) => void = () => {}

  /** @param texts Valid patterns. */
  constructor(texts: readonly string[]) {
    this.#texts = texts
    this.#patterns = texts.flatMap((text) => parseHostPattern(text) ?? [])
  }

  /** Sets the listener for blocked connections. */
  onBlocked(listener: (host: string, port: number) => void): void {
    this.#onBlocked = listener
  }

  /** Checks a connection, and reports a blocked one. @throws BaxError `url_blocked` */
  checkConnection(host: string, port: number): void {
    if (this.#allows(host, port)) return
    this.#onBlocked(host, port)
    throw this.#refusal(host)
  }

  /** Checks a URL that is about to be opened; only URLs with a host can be blocked. @throws BaxError `url_blocked` */
  checkUrl(href: string): void {
    const { protocol, hostname, port } = new URL(href)
    const defaultPort = defaultPorts[protocol]
    if (defaultPort === undefined || this.#allows(hostname, Number(port) || defaultPort)) return
    throw this.#refusal(hostname)
  }

  #allows(host: string, port: number): boolean {
    return this.#patterns.some((pattern) => matchesHost(pattern, host, port))
  }

  #refusal(host: string): BaxError {
    const shown = this.#texts.slice(0, shownPatterns).join(', ') + (this.#texts.length > shownPatterns ? ', …' : '')
    return new BaxError('url_blocked', `URL blocked: ${host} is not in the allowed domains of the session`, {
      hint: `allowed are ${shown}; create a session with other allowed_domains`,
    })
  }
}

const shownPatterns = 10
