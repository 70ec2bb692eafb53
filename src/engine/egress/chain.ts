/** One session's way out through a proxy of its own: the same rule stands before it, and its password stays here. */
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { type PrepareRequestFunctionOpts, type PrepareRequestFunctionResult, RequestError, Server } from 'proxy-chain'
import { BaxError } from '../../core/errors/errors.ts'
import { bypasses } from './bypass.ts'
import type { Egress, ProxyInput } from './egress.ts'
import { bareHost } from './policy.ts'
import { proxyAddress } from './proxy-address.ts'
import { ownAddress } from './proxy.ts'

export class Chain {
  readonly #server: Server
  readonly #host: string
  readonly #secret: { readonly username: string; readonly password: string } | undefined
  #closing: Promise<void> | undefined
  #onClosed = () => {}

  private constructor(input: ProxyInput, upstream: URL, egress: Egress) {
    this.#host = ownAddress()
    // Whoever finds the port must not come by the proxy that the session's password opens.
    const hasPassword = upstream.username !== '' || upstream.password !== ''
    const secret = hasPassword ? { username: 'bax', password: randomBytes(18).toString('base64url') } : undefined
    this.#secret = secret
    this.#server = new Server({
      host: this.#host,
      port: 0,
      prepareRequestFunction: async (asked) => {
        if (secret && (asked.username !== secret.username || asked.password !== secret.password)) {
          return { requestAuthentication: true }
        }
        return prepare(asked, { input, upstream, egress })
      },
    })
  }

  /** @throws BaxError `url_blocked` when the proxy may not be reached, `invalid_request` when its name is not known. */
  static async open(input: ProxyInput, egress: Egress): Promise<Chain> {
    const chain = new Chain(input, await upstreamOf(input, egress), egress)
    await chain.#server.listen()
    return chain
  }

  /** As Playwright's contexts take a proxy. */
  get proxy(): { readonly server: string; readonly username?: string; readonly password?: string } {
    const { port } = this.#server.server.address() as AddressInfo
    return { server: `http://${this.#host}:${port}`, ...this.#secret }
  }

  onClosed(listener: () => void): void {
    this.#onClosed = listener
  }

  /** Ends every connection. */
  close(): Promise<void> {
    return (this.#closing ??= this.#server.close(true).then(() => this.#onClosed()))
  }
}

/** The proxy with its password, at the address that was checked where its name is not needed for its certificate. */
async function upstreamOf({ server, username, password }: ProxyInput, egress: Egress): Promise<URL> {
  const url = proxyAddress(server)
  const host = bareHost(url.hostname)
  egress.policy.checkTarget(host, Number(url.port))
  try {
    const [first] = await egress.names.resolve(host)
    if (url.protocol !== 'https:') url.hostname = first!.family === 6 ? `[${first!.address}]` : first!.address
  } catch (cause) {
    if (cause instanceof BaxError) throw cause
    const message = 'is at a host whose name cannot be resolved'
    throw new BaxError('invalid_request', `proxy.server ${message}`, { cause, details: [{ path: 'proxy.server', message }] }) // prettier-ignore
  }
  if (username !== undefined) url.username = encodeURIComponent(username)
  if (password !== undefined) url.password = encodeURIComponent(password)
  return url
}

interface Means {
  readonly input: ProxyInput
  readonly upstream: URL
  readonly egress: Egress
}

async function prepare(asked: PrepareRequestFunctionOpts, means: Means): Promise<PrepareRequestFunctionResult> {
  const { input, upstream, egress } = means
  const host = bareHost(asked.hostname)
  const { port, request } = asked
  const direct = input.bypass !== undefined && bypasses(input.bypass, host, port)
  try {
    egress.policy.checkTarget(host, port)
    // What nobody here can resolve, the proxy may.
    await egress.names.resolve(host).catch((error: unknown) => {
      if (direct || error instanceof BaxError) throw error
    })
    egress.failures.note(host, port)
  } catch (error) {
    egress.failures.note(host, port, error)
    // An answer would look like the site's own; a lost connection is a request that failed.
    if (request.method !== 'CONNECT') request.socket.destroy()
    throw new RequestError('URL blocked', 403)
  }
  return { upstreamProxyUrl: direct ? null : upstream.href, dnsLookup: egress.names.lookup as never }
}
