/** HTTP requests with Node's http module, which loads in a tenth of the time of fetch. */
import type * as http from 'node:http'
import type { Readable } from 'node:stream'
import type { ProxyTurn, RequestRules } from './egress.ts'
import type { UpstreamProxy } from './environment-proxies.ts'
import { bareHost } from './policy.ts'
import { proxyFailed, statusWords } from './proxy-failure.ts'
import { ResponseHeaders } from './response-headers.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { explainFetch, isReset } from './fetch-errors.ts'

export interface HttpResponse {
  readonly status: number
  readonly headers: ResponseHeaders
  /** Body as sent, still compressed. */
  readonly body: Readable
}

/** Maximum size of response headers, in bytes, as in browsers; Node's default is too small for some sites. */
const headerBytes = 256 * 1024

/** Agents by the resolver of their connections, and by scheme. */
const agents = new WeakMap<RequestRules['names'], Map<string, http.Agent>>()

export interface RequestOptions {
  readonly headers: Record<string, string>
  readonly signal: AbortSignal
  readonly egress: RequestRules
  /** Whether the caller has named the URL, and errors can name its host. */
  readonly named?: boolean
  /** POST with a body and GET without one by default. */
  readonly method?: string
  readonly body?: string | Uint8Array | undefined
  /** Whether the request has a connection of its own and is never retried, because it may have an effect. */
  readonly once?: boolean
}

/**
 * Sends a request; resolves with the headers. A connection that is reset before the first byte of the response is
 * retried once, unless the request must be sent only `once`.
 * @throws BaxError `url_blocked`; the signal's reason; errors of Node's client as they are.
 */
async function get(url: URL, options: RequestOptions): Promise<HttpResponse> {
  const { egress } = options
  egress.checkLiteral(url)
  if (egress.turn) return getInTurn(egress.turn, url, options)
  const proxy = egress.proxyFor?.(url)
  return proxy ? getThrough(proxy, url, options) : getDirectly(url, options)
}

/** Sends a request through the proxy of a page, and through the next one if that fails. */
async function getInTurn(turn: ProxyTurn, url: URL, options: RequestOptions): Promise<HttpResponse> {
  for (;;) {
    const upstream = await turn.current()
    const proxy = upstream.proxyFor(url)
    if (!proxy) return getDirectly(url, options)
    try {
      return await getThrough(proxy, url, options)
    } catch (error) {
      options.signal.throwIfAborted()
      await turn.replace(upstream, error)
    }
  }
}

async function getDirectly(url: URL, options: RequestOptions): Promise<HttpResponse> {
  const client: Client = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
  const first = await send(client, url, options, { agent: !options.once && agentOf(client, url, options.egress) })
  if (!(first instanceof NoResponse)) return first
  if (options.once) throw first.error
  options.signal.throwIfAborted()
  // Servers may close several idle connections just as they are reused, so retry on a new one.
  const second = await send(client, url, options, { agent: false })
  if (second instanceof NoResponse) throw second.error
  return second
}

/** Sends a request through a proxy. @throws BaxError `proxy_failed` */
async function getThrough(proxy: UpstreamProxy, url: URL, options: RequestOptions): Promise<HttpResponse> {
  const { once = false, egress } = options
  const { names, from = null } = egress
  // The proxy may resolve names that this machine cannot.
  await names.resolve(bareHost(url.hostname), { from, signal: options.signal }).catch((error: unknown) => {
    options.signal.throwIfAborted()
    if (error instanceof BaxError) throw error
  })
  const { through } = await import('./through-proxy.ts')
  const client: Client = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
  const { isForwarded, ...kept } = through(proxy, url, { fresh: once })
  let answer = await send(client, url, options, kept)
  if (answer instanceof NoResponse && !once) {
    const { isForwarded: _, ...fresh } = through(proxy, url, { fresh: true })
    answer = await send(client, url, options, fresh)
  }
  if (answer instanceof NoResponse) throw isForwarded ? proxyFailed(proxy.name, 'closed the connection') : answer.error
  // Inside a tunnel, responses are those of the site.
  if (answer.status !== 407 || !isForwarded) return answer
  answer.body.destroy()
  throw proxyFailed(proxy.name, statusWords(407))
}

type Client = Pick<typeof http, 'Agent' | 'request'>

/** Sends a request as `get` does, and converts all errors. @throws BaxError, or the signal's reason */
export async function request(url: URL | string, options: RequestOptions): Promise<HttpResponse> {
  try {
    return await get(new URL(url), options)
  } catch (error) {
    options.signal.throwIfAborted()
    throw error instanceof BaxError
      ? error
      : explainFetch(error, undefined, options.named ? new URL(url).hostname : undefined)
  }
}

/** A connection that was closed before the first byte of the response. */
class NoResponse {
  readonly error: Error
  constructor(error: Error) {
    this.error = error
  }
}

function send(
  client: Client,
  url: URL,
  { headers: own, signal, egress, body, method = body === undefined ? 'GET' : 'POST' }: RequestOptions,
  { headers: more, ...route }: Pick<http.RequestOptions, 'agent' | 'path'> & Partial<Pick<RequestOptions, 'headers'>>,
): Promise<HttpResponse | NoResponse> {
  const lookup = egress.names.lookupFor({ from: egress.from ?? null, signal })
  return new Promise((resolve, reject) => {
    const headers = { ...own, ...more }
    // Agents keep connections with another value of this option apart.
    const tls = egress.identity?.skipsTlsVerification && { rejectUnauthorized: false }
    const options = { method, headers, signal, lookup, maxHeaderSize: headerBytes, ...tls, ...route }
    const request = client.request(url, options)
    let hasReceived = () => false
    request.on('socket', (socket) => {
      const before = socket.bytesRead
      hasReceived = () => socket.bytesRead > before
    })
    request.on('error', (error) => (isReset(error) && !hasReceived() ? resolve(new NoResponse(error)) : reject(error)))
    // Without a listener, Node closes the connection and emits nothing.
    request.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(new BaxError('connection_failed', 'the server switched to another protocol'))
    })
    request.on('response', (response) => {
      const { rawHeaders, statusCode } = response
      const pairs = Array.from(
        { length: rawHeaders.length / 2 },
        (_, at) => [rawHeaders[2 * at] ?? '', rawHeaders[2 * at + 1] ?? ''] as const,
      )
      resolve({ status: statusCode ?? 0, headers: new ResponseHeaders(pairs), body: response })
    })
    request.end(body)
  })
}

/** Returns a keep-alive agent; its idle connections do not keep the process alive. */
function agentOf(client: Client, { protocol }: URL, { names }: RequestRules): http.Agent {
  let byScheme = agents.get(names)
  if (!byScheme) agents.set(names, (byScheme = new Map()))
  let agent = byScheme.get(protocol)
  if (!agent) byScheme.set(protocol, (agent = new client.Agent({ keepAlive: true, timeout: 0 })))
  return agent
}

export const httpUserAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36'
