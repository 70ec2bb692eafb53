/** The hosts that a session, scrape or crawl may connect to (`allowed_domains`). */
import { BaxError } from '../../core/errors/errors.ts'
import { type HostPattern, matchesHost, parseHostPattern } from '../../core/net/host-pattern.ts'
import { defaultPorts } from './failures.ts'

export class AllowedHosts {
  /** The patterns as they were written. */
  readonly texts: readonly string[]
  readonly #patterns: readonly HostPattern[]
  #onBlocked: (host: string, port: number) => void = () => {}

  /** @param texts Valid patterns. */
  constructor(texts: readonly string[]) {
    this.texts = texts
    this.#patterns = texts.flatMap((text) => parseHostPattern(text) ?? [])
  }

  /** Sets the listener for blocked connections. */
  onBlocked(listener: (host: string, port: number) => void): void {
    this.#onBlocked = listener
  }

  /** Checks a connection, and reports a blocked one. @throws BaxError `url_blocked` */
  checkConnection(host: string, port: number): void {
    if (this.#allowsHost(host, port)) return
    this.#onBlocked(host, port)
    throw this.#refusal(host)
  }

  /** Checks a URL that is about to be opened; only URLs with a host can be blocked. @throws BaxError `url_blocked` */
  checkUrl(url: URL): void {
    if (!this.allows(url)) throw this.#refusal(url.hostname)
  }

  /** Returns whether a URL has no host, or one that may be connected to. */
  allows({ protocol, hostname, port }: URL): boolean {
    const defaultPort = defaultPorts[protocol]
    return defaultPort === undefined || this.#allowsHost(hostname, Number(port) || defaultPort)
  }

  #allowsHost(host: string, port: number): boolean {
    return this.#patterns.some((pattern) => matchesHost(pattern, host, port))
  }

  #refusal(host: string): BaxError {
    const shown = this.texts.slice(0, shownPatterns).join(', ') + (this.texts.length > shownPatterns ? ', …' : '')
    return new BaxError('url_blocked', `URL blocked: ${host} is not in the allowed domains`, {
      hint: `the allowed domains are ${shown}`,
    })
  }
}

const shownPatterns = 10
