/** Records why connections through the proxy failed, since the browser only learns that they did. */
import { BaxError } from '../../core/errors/errors.ts'
import { evictOldest } from '../evict-oldest.ts'
import { limits } from '../../core/limits/limits.ts'
import { bareHost } from './policy.ts'
import { parseUrl } from '../../core/net/parse-url.ts'
import { proxyHint } from './proxy-failure.ts'

/** Chromium's errors for failed direct connections. */
const names: Readonly<Record<string, string>> = {
  url_blocked: 'ERR_BLOCKED_BY_CLIENT',
  ENOTFOUND: 'ERR_NAME_NOT_RESOLVED',
  EAI_AGAIN: 'ERR_NAME_NOT_RESOLVED',
  EAI_FAIL: 'ERR_NAME_NOT_RESOLVED',
  EAI_NODATA: 'ERR_NAME_NOT_RESOLVED',
  ECONNREFUSED: 'ERR_CONNECTION_REFUSED',
  ECONNRESET: 'ERR_CONNECTION_RESET',
  ETIMEDOUT: 'ERR_CONNECTION_TIMED_OUT',
  EHOSTUNREACH: 'ERR_ADDRESS_UNREACHABLE',
  ENETUNREACH: 'ERR_ADDRESS_UNREACHABLE',
  EADDRNOTAVAIL: 'ERR_ADDRESS_UNREACHABLE',
}

/** Chromium's errors for a failed connection through a proxy. */
const byProxy = /ERR_(?:SOCKS_CONNECTION_FAILED|TUNNEL_CONNECTION_FAILED|EMPTY_RESPONSE|CONNECTION_RESET)\b/

export const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'ws:': 80, 'https:': 443, 'wss:': 443 }

export class Failures {
  readonly #latest = new Map<string, string>()

  /**
   * Records the result of the latest connection to a host and port; `error` is missing on success. For a failed proxy of
   * a session it has a sentence about that one, in `proxy`.
   */
  record(host: string, port: number, error?: unknown): void {
    const key = `${host.toLowerCase()} ${port}`
    if (error === undefined) {
      if (this.#latest.size > 0) this.#latest.delete(key)
      return
    }
    this.#latest.delete(key)
    this.#latest.set(key, nameOf(error))
    evictOldest(this.#latest, limits.egress.failures)
  }

  /** Replaces the proxy error in the text of a failed request (`net::ERR_…`) by the reason. */
  explain(text: string, url: string): string {
    const target = byProxy.test(text) ? parseUrl(url) : undefined
    if (!target) return text
    const { protocol, hostname, port } = target
    const host = bareHost(hostname).toLowerCase()
    const reason = this.#latest.get(`${host} ${port || defaultPorts[protocol]}`)
    return reason ? text.replace(byProxy, reason) : text
  }
}

function nameOf(error: unknown): string {
  const { proxy } = error as { proxy?: string }
  return proxy === undefined ? (names[codeOf(error)] ?? 'ERR_CONNECTION_FAILED') : proxyFailure(proxy)
}

/** Returns the error of Chromium for a failed proxy, with a sentence about it. */
const proxyFailure = (sentence: string): string => `ERR_PROXY_CONNECTION_FAILED (${sentence})`

/** Returns the error of a failed proxy in the text of a browser; undefined for other errors. */
export function proxyErrorIn(text: string, cause?: unknown): BaxError | undefined {
  const [found, sentence = 'the proxy could not be reached'] =
    /ERR_PROXY_CONNECTION_FAILED(?: \((the proxy [^)]+)\))?/.exec(text) ?? []
  if (found === undefined) return undefined
  return new BaxError('proxy_failed', sentence, { cause, hint: proxyHint(sentence) })
}

/** Returns the error code, of the first address if several were tried. */
function codeOf(error: unknown): string {
  const { code, errors } = error as { code?: string; errors?: readonly { code?: string }[] }
  return errors?.[0]?.code ?? code ?? ''
}
