/** Local proxy in front of another one: applies the egress policy, and keeps the password in the engine. */
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
import type { ProxyFor, UpstreamProxy } from './environment-proxies.ts'
import { parseUrl } from '../../core/net/parse-url.ts'
import { defaultPorts, type Failures } from './failures.ts'
import { bareHost } from './policy.ts'
import { admit } from './proxy.ts'
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
  /** Key that the connections count for. */
  readonly owner: { readonly from: Origin }
}

/** The proxies that a local one passes requests on to. */
export interface Upstream {
  readonly proxyFor: ProxyFor
  /** Whether the local proxy has a password, which only the browser knows. */
  readonly isSecret: boolean
  /** Whether the operator has configured them: the egress policy does not apply to those. */
  readonly ofOperator: boolean
}

/** Starts the proxy. */
export async function openChain(upstream: Upstream, context: ChainContext, onClosed: () => void): Promise<Chain> {
  const host = loopbackAddress()
  const secret = upstream.isSecret ? { username: 'bax', password: randomBytes(18).toString('base64url') } : undefined
  const options = {
    host,
    port: 0,
    prepareRequestFunction: async (request: PrepareRequestFunctionOpts) => {
      if (secret && (request.username !== secret.username || request.password !== secret.password)) {
        return { requestAuthentication: true }
      }
      return prepare(request, { ...context, upstream })
    },
  }
  const server = new ChainServer(options, (request, failure) =>
    recordFailure(request, failure, { ...upstream, failures: context.failures }),
  )
  server.server.prependListener('connection', (socket) => admit(socket, context.egress.connections, context.owner.from))
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
  { proxyFor, ofOperator, failures }: Pick<ChainContext, 'failures'> & Pick<Upstream, 'proxyFor' | 'ofOperator'>,
): void {
  const target = method === 'CONNECT' ? tunnelTarget(url) : parseUrl(url)
  if (!target) return
  const port = Number(target.port) || defaultPorts[target.protocol]!
  const proxy = proxyFor(target)
  // The name of a session's own proxy was resolved when it was opened.
  const error = !proxy || (code === 'ENOTFOUND' && !ofOperator) ? { code } : { proxy: `${proxy.name} ${reason}` }
  failures.record(bareHost(target.hostname), port, error)
}

/** Returns a URL for the target of a tunnel: WebSockets without TLS use tunnels, too. */
const tunnelTarget = (hostAndPort: string): URL | undefined =>
  parseUrl(`${hostAndPort.endsWith(':80') ? 'http' : 'https'}://${hostAndPort}`)

/**
 * Returns the session's own proxy, with the checked address unless TLS needs the name.
 * @throws BaxError `url_blocked` for a blocked proxy, `invalid_request` for an unknown host
 */
export async function sessionProxy(input: ProxyInput, egress: Egress, from: Origin): Promise<Upstream> {
  try {
    return await openUpstream(input, egress, { from })
  } catch (cause) {
    if (cause instanceof BaxError) throw cause
    const message = 'has a host name that cannot be resolved'
    throw new BaxError('invalid_request', `proxy.server ${message}`, {
      cause,
      details: [{ path: 'proxy.server', message }],
    })
  }
}

/** Returns a proxy of a caller. @throws BaxError `url_blocked`; the error of the resolver */
export async function openUpstream(
  { server, username, password, bypass }: ProxyInput,
  egress: Egress,
  { from, ...kept }: { readonly from: Origin } & Pick<UpstreamProxy, 'agents'>,
): Promise<Upstream> {
  const url = proxyAddress(server)
  const name = `the proxy ${url.protocol}//${url.host}`
  const host = bareHost(url.hostname)
  egress.policy.checkTarget(host, Number(url.port))
  const [first] = await egress.names.resolve(host, { from })
  if (first && url.protocol !== 'https:') url.hostname = first.family === 6 ? `[${first.address}]` : first.address
  if (username !== undefined) url.username = encodeURIComponent(username)
  if (password !== undefined) url.password = encodeURIComponent(password)
  // An https proxy keeps its name, which must not resolve to another address later.
  const proxy = { url: url.href, name, lookup: egress.names.lookupFor({ from }), ...kept }
  return {
    proxyFor: ({ hostname, port, protocol }) => {
      const isDirect =
        bypass !== undefined && bypasses(bypass, bareHost(hostname), Number(port) || defaultPorts[protocol]!)
      return isDirect ? undefined : proxy
    },
    // Other programs that find the port must not be able to use the session's proxy.
    isSecret: url.username !== '' || url.password !== '',
    ofOperator: false,
  }
}

async function prepare(
  options: PrepareRequestFunctionOpts,
  { upstream, egress, failures, allowed, owner: { from } }: ChainContext & { readonly upstream: Upstream },
): Promise<PrepareRequestFunctionResult> {
  const host = bareHost(options.hostname)
  const { port, request, isHttp } = options
  const target = isHttp ? parseUrl(request.url ?? '') : tunnelTarget(request.url ?? '')
  try {
    // A host that is no URL must not be connected to without the proxy.
    if (!target) throw new BaxError('url_blocked', 'URL blocked')
    allowed?.checkConnection(host, port)
    egress.policy.checkTarget(host, port)
    // The proxy may resolve names that this machine cannot.
    await egress.names.resolve(host, { from }).catch((error: unknown) => {
      if (!upstream.proxyFor(target) || error instanceof BaxError) throw error
    })
    failures.record(host, port)
  } catch (error) {
    failures.record(host, port, error)
    // A response would look like the site's own, so close the connection to fail the request.
    if (request.method !== 'CONNECT') request.socket.destroy()
    throw new RequestError('URL blocked', 403)
  }
  const proxy = upstream.proxyFor(target!)
  const dnsLookup = egress.names.lookupFor({ from }) as typeof lookup
  if (!proxy) return { upstreamProxyUrl: null, dnsLookup }
  // The library looks up names itself for the schemes socks4 and socks5.
  const upstreamProxyUrl = proxy.url.replace(/^socks4:/, 'socks4a:').replace(/^socks5:/, 'socks5h:')
  return { upstreamProxyUrl, ...(!upstream.ofOperator && { dnsLookup }) }
}
