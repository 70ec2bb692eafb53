/** Why connections through the proxy were not made: the browser itself is told no more than that they were not. */
import { limits } from '../../core/limits/limits.ts'

/** What the browser would call a failure if it had connected itself. */
export type NetError =
  | 'ERR_BLOCKED_BY_CLIENT'
  | 'ERR_NAME_NOT_RESOLVED'
  | 'ERR_CONNECTION_REFUSED'
  | 'ERR_CONNECTION_RESET'
  | 'ERR_CONNECTION_TIMED_OUT'
  | 'ERR_ADDRESS_UNREACHABLE'
  | 'ERR_CONNECTION_FAILED'

const names: Readonly<Record<string, NetError>> = {
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

/** Errors by which a browser tells that its proxy gave it no connection. */
const byProxy = /ERR_(?:SOCKS_CONNECTION_FAILED|TUNNEL_CONNECTION_FAILED|EMPTY_RESPONSE|CONNECTION_RESET)\b/

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'ws:': '80', 'https:': '443', 'wss:': '443' }

export class Failures {
  readonly #latest = new Map<string, NetError>()

  /** Notes how the last attempt on a host and port went; without an error it went well. */
  note(host: string, port: number, error?: unknown): void {
    const key = `${host.toLowerCase()} ${port}`
    if (error === undefined) {
      if (this.#latest.size > 0) this.#latest.delete(key)
      return
    }
    this.#latest.delete(key)
    this.#latest.set(key, names[codeOf(error)] ?? 'ERR_CONNECTION_FAILED')
    if (this.#latest.size > limits.egress.failures) this.#latest.delete(this.#latest.keys().next().value!)
  }

  /** The browser's text of a failed request (`net::ERR_…`) with the reason in place of the proxy's. */
  explain(text: string, url: string): string {
    if (!byProxy.test(text) || !URL.canParse(url)) return text
    const { protocol, hostname, port } = new URL(url)
    const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
    const reason = this.#latest.get(`${host} ${port || defaultPorts[protocol]}`)
    return reason ? text.replace(byProxy, reason) : text
  }
}

/** Of several addresses that were tried, the first one's. */
function codeOf(error: unknown): string {
  const { code, errors } = error as { code?: string; errors?: readonly { code?: string }[] }
  return errors?.[0]?.code ?? code ?? ''
}
