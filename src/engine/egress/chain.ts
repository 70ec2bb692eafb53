/** Local proxy in front of a session's own proxy: applies the egress policy, and keeps the password in the engine. */
import type { lookup } from 'node:dns'
import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type PrepareRequestFunctionOpts, type PrepareRequestFunctionResult, RequestError } from 'proxy-chain'
import { BaxError } from '../../core/errors/errors.ts'
import type { AllowedHosts } from './allowed-hosts.ts'
import { type ChainFailure, ChainServer } from './chain-server.ts'
import type { Origin } from '../../core/process/turns.ts'
import type { Egress, ProxyInput } from './egress.ts'
import { parseUrl } from '../../core/net/parse-url.ts'
import { defaultPorts, type Failures } from './failures.ts'
import { bareHost } from './policy.ts'
import { bypasses, proxyAddress } from './proxy-settings.ts'
import { loopbackAddress } from './proxy.ts'

export interface Chain {
  /** Proxy option for Playwright's contexts. */
  readonly proxy: { readonly server: string; readonly username?: string; readonly password?: string }
  /** Closes all connections. */
  close(): Promise<void>
}

export interface ChainContext {
  readonly egress: Egress
  readonly failures: Failures
  readonly allowed: AllowedHosts | undefined
  readonly from: Origin
}

/** Starts the proxy. @throws BaxError `url_blocked` for a blocked proxy, `invalid_request` for an unknown host. */
export async function openChain(
  input: ProxyInput,
  { egress, failures, allowed, from }: ChainContext,
  onClosed: () => void,
): Promise<Chain> {
  const upstream = await upstreamOf(input, egress, from)
  const host = loopbackAddress()
  // Other programs that find the port must not be able to use the session's proxy.
  const hasPassword = upstream.username !== '' || upstream.password !== ''
  const secret = hasPassword ? { username: 'bax', password: randomBytes(18).toString('base64url') } : undefined
  const options = {
    host,
    port: 0,
    prepareRequestFunction: async (request: PrepareRequestFunctionOpts) => {
      if (secret && (request.username !== secret.username || request.password !== secret.password)) {
        return { requestAuthentication: true }
      }
      return prepare(request, { input, upstream, egress, failures, allowed, from })
    },
  }
  const server = new ChainServer(options, (request, failure) => recordFailure(request, failure, { input, failures }))
  await server.listen()
  const { port } = server.server.address() as AddressInfo
  let closing: Promise<void> | undefined
  return {
    proxy: { server: `http://${host}:${port}`, ...secret },
    close: () => (closing ??= server.close(true).then(onClosed)),
  }
}

/** Records that the proxy, or the host of a direct connection, has failed. */
function recordFailure(
  { method, url = '' }: IncomingMessage,
  { code, reason }: ChainFailure,
  { input, failures }: Pick<ChainContext, 'failures'> & { input: ProxyInput },
): void {
  const target = parseUrl(method === 'CONNECT' ? `https://${url}` : url)
  if (!target) return
  const host = bareHost(target.hostname)
  const port = Number(target.port) || defaultPorts[target.protocol]!
  const { protocol, host: proxyHost } = proxyAddress(input.server)
  const isDirect = input.bypass !== undefined && bypasses(input.bypass, host, port)
  // The name of the proxy is resolved, so that of the host is not.
  failures.record(
    host,
    port,
    isDirect || code === 'ENOTFOUND' ? { code } : { proxy: `the proxy ${protocol}//${proxyHost} ${reason}` },
  )
}

/** Returns the URL of the proxy with its password, and with the checked address unless TLS needs the name. */
async function upstreamOf({ server, username, password }: ProxyInput, egress: Egress, from: Origin): Promise<URL> {
  const url = proxyAddress(server)
  const host = bareHost(url.hostname)
  egress.policy.checkTarget(host, Number(url.port))
  try {
    const [first] = await egress.names.resolve(host, { from })
    if (first && url.protocol !== 'https:') url.hostname = first.family === 6 ? `[${first.address}]` : first.address
  } catch (cause) {
    if (cause instanceof BaxError) throw cause
    const message = 'has a host name that cannot be resolved'
    throw new BaxError('invalid_request', `proxy.server ${message}`, { cause, details: [{ path: 'proxy.server', message }] }) // prettier-ignore
  }
  if (username !== undefined) url.username = encodeURIComponent(username)
  if (password !== undefined) url.password = encodeURIComponent(password)
  return url
}

async function prepare(
  options: PrepareRequestFunctionOpts,
  { input, upstream, egress, failures, allowed, from }: ChainContext & { input: ProxyInput; upstream: URL },
): Promise<PrepareRequestFunctionResult> {
  const host = bareHost(options.hostname)
  const { port, request } = options
  const direct = input.bypass !== undefined && bypasses(input.bypass, host, port)
  try {
    allowed?.checkConnection(host, port)
    egress.policy.checkTarget(host, port)
    // The proxy may resolve names that this machine cannot.
    await egress.names.resolve(host, { from }).catch((error: unknown) => {
      if (direct || error instanceof BaxError) throw error
    })
    failures.record(host, port)
  } catch (error) {
    failures.record(host, port, error)
    // A response would look like the site's own, so close the connection to fail the request.
    if (request.method !== 'CONNECT') request.socket.destroy()
    throw new RequestError('URL blocked', 403)
  }
  return {
    upstreamProxyUrl: direct ? null : upstream.href,
    dnsLookup: egress.names.lookupFor({ from }) as typeof lookup,
  }
}
