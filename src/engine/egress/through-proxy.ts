/** Connections of the engine's own requests through a proxy: HTTP as such, everything else through a tunnel. */
import http from 'node:http'
import https from 'node:https'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import { decodeUrlPart } from '../../core/net/urls.ts'
import type { UpstreamProxy } from './environment-proxies.ts'
import { proxyFailed, statusWords } from './proxy-failure.ts'
import { bareHost } from './policy.ts'

/** Options of Node's client for a request through a proxy. */
export interface Through {
  readonly agent: http.Agent
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the proxy answers the request itself, rather than connecting to the host. */
  readonly isForwarded: boolean
}

/** Agents by proxy and scheme of the target; their idle connections do not keep the process alive. */
const shared = new Map<string, http.Agent>()

/** Returns how to send a request for a URL; `fresh` avoids connections that were used before. */
export function through(proxy: UpstreamProxy, url: URL, { fresh }: { readonly fresh: boolean }): Through {
  const isSecure = url.protocol === 'https:'
  if (isSecure || isSocks(proxy)) return { agent: agentFor(proxy, isSecure, fresh), isForwarded: false }
  const authorization = authorizationOf(proxy)
  return {
    agent: agentFor(proxy, false, fresh),
    isForwarded: true,
    path: url.href,
    headers: { host: url.host, ...(authorization && { 'proxy-authorization': authorization }) },
  }
}

function agentFor(proxy: UpstreamProxy, isSecure: boolean, fresh: boolean): http.Agent {
  const make = (keepAlive: boolean) => {
    const options = { keepAlive, timeout: 0 }
    return isSecure ? new SecureAgent(proxy, options) : new PlainAgent(proxy, options)
  }
  if (fresh) return make(false)
  const key = `${isSecure} ${proxy.url}`
  const { agents = shared } = proxy
  const agent = agents.get(key) ?? make(true)
  agents.set(key, agent)
  return agent
}

/** Returns an agent for one WebSocket, which always needs a tunnel. */
export const tunnelAgent = (proxy: UpstreamProxy, { protocol }: URL): http.Agent =>
  protocol === 'wss:' ? new SecureAgent(proxy, {}) : new PlainAgent(proxy, {}, true)

type Target = Pick<http.ClientRequestArgs, 'host' | 'port'>

type OnCreated = NonNullable<Parameters<http.Agent['createConnection']>[1]>

/** Passes a connection on to Node, which waits for it when `createConnection` returns nothing. */
function pass(opened: Promise<Socket>, onCreated: OnCreated | undefined): undefined {
  opened.then(
    (socket) => onCreated?.(null, socket),
    (error: Error) => onCreated?.(error, undefined as never),
  )
}

class PlainAgent extends http.Agent {
  readonly #proxy: UpstreamProxy
  readonly #tunnels: boolean

  constructor(proxy: UpstreamProxy, options: http.AgentOptions, tunnels = isSocks(proxy)) {
    super(options)
    this.#proxy = proxy
    this.#tunnels = tunnels
  }

  override createConnection(target: http.ClientRequestArgs, onCreated?: OnCreated): undefined {
    return pass(this.#tunnels ? openTunnel(this.#proxy, target) : openProxy(this.#proxy), onCreated)
  }
}

class SecureAgent extends https.Agent {
  readonly #proxy: UpstreamProxy

  constructor(proxy: UpstreamProxy, options: https.AgentOptions) {
    super(options)
    this.#proxy = proxy
  }

  override createConnection(target: http.ClientRequestArgs, onCreated?: OnCreated): undefined {
    const opened = openTunnel(this.#proxy, target)
    return pass(
      opened.then((socket) => connectTls({ ...(target as object), socket })),
      onCreated,
    )
  }
}

const isSocks = ({ url }: UpstreamProxy): boolean => url.startsWith('socks')

function authorizationOf({ url }: UpstreamProxy): string | undefined {
  const { username, password } = new URL(url)
  if (username === '' && password === '') return undefined
  return `Basic ${Buffer.from(`${decodeUrlPart(username)}:${decodeUrlPart(password)}`).toString('base64')}`
}

const { dialMs: ms } = limits.egress

const refused: Readonly<Record<string, string>> = {
  ENOTFOUND: 'could not be resolved',
  EAI_AGAIN: 'could not be resolved',
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'closed the connection',
  EPIPE: 'closed the connection',
  ETIMEDOUT: 'did not answer',
}

/** The egress rule may block an address of the proxy. */
const failedBy = ({ name }: UpstreamProxy, error: NodeJS.ErrnoException) =>
  error instanceof BaxError ? error : proxyFailed(name, refused[error.code ?? ''] ?? 'could not be reached', error)

/** Connects to an HTTP proxy. @throws BaxError `proxy_failed` */
function openProxy(proxy: UpstreamProxy): Promise<Socket> {
  const { protocol, hostname, port } = new URL(proxy.url)
  const { lookup } = proxy
  const host = bareHost(hostname)
  const isSecure = protocol === 'https:'
  const options = { host, port: Number(port) || (isSecure ? 443 : 80), noDelay: true, ...(lookup && { lookup }) }
  const socket = isSecure
    ? connectTls({ ...options, ...(isIP(host) === 0 && { servername: host }) })
    : connectTcp(options)
  return inTime(proxy, socket, (resolve, reject) => {
    socket.once('error', (error) => reject(failedBy(proxy, error)))
    socket.once(isSecure ? 'secureConnect' : 'connect', () => resolve(socket))
  })
}

type Settle = (resolve: (socket: Socket) => void, reject: (error: Error) => void) => void

function inTime(proxy: UpstreamProxy, socket: Socket, settle: Settle): Promise<Socket> {
  const late = proxyFailed(proxy.name, 'did not answer')
  const opened = new Promise<Socket>(settle)
  return withDeadline(opened, { ms, error: () => late }).catch((error: Error) => {
    socket.destroy()
    throw error
  })
}

/** Opens a connection to a target through a proxy. @throws BaxError `proxy_failed` */
async function openTunnel(proxy: UpstreamProxy, { host, port }: Target): Promise<Socket> {
  if (isSocks(proxy)) return openSocks(proxy, String(host), Number(port))
  const socket = await openProxy(proxy)
  const name = `${isIP(String(host)) === 6 ? `[${host}]` : host}:${port}`
  const authorization = authorizationOf(proxy)
  const request = http.request({
    method: 'CONNECT',
    path: name,
    headers: { host: name, ...(authorization && { 'proxy-authorization': authorization }) },
    createConnection: () => socket,
  })
  return inTime(proxy, socket, (resolve, reject) => {
    const onStatus = ({ statusCode = 0 }: http.IncomingMessage) => {
      if (statusCode === 200) return resolve(socket)
      socket.destroy()
      reject(proxyFailed(proxy.name, statusWords(statusCode)))
    }
    request.once('connect', (response, _, head) => {
      if (head.length > 0) socket.unshift(head)
      onStatus(response)
    })
    request.once('response', onStatus)
    request.once('error', (error) => reject(failedBy(proxy, error)))
    request.end()
  })
}

async function openSocks(proxy: UpstreamProxy, host: string, port: number): Promise<Socket> {
  const { SocksClient } = await import('socks')
  const { protocol, hostname, port: proxyPort, username, password } = new URL(proxy.url)
  try {
    const { socket } = await SocksClient.createConnection({
      command: 'connect',
      destination: { host, port },
      timeout: ms,
      proxy: {
        host: bareHost(hostname),
        port: Number(proxyPort) || 1080,
        type: protocol === 'socks4:' ? 4 : 5,
        ...(username && { userId: decodeUrlPart(username) }),
        ...(password && { password: decodeUrlPart(password) }),
      },
    })
    return socket
  } catch (error) {
    const { message } = error as Error
    if (/authentication/i.test(message)) throw proxyFailed(proxy.name, statusWords(407), error)
    throw failedBy(proxy, error as Error)
  }
}
