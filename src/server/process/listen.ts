/** Serves an app on a TCP port or a unix socket. */
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { chmod } from 'node:fs/promises'
import type { Duplex } from 'node:stream'
import type { TlsOptions } from 'node:tls'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import { BaxError } from '../../core/errors/errors.ts'
import { newId } from '../../core/ids.ts'
import { limits } from '../../core/limits/limits.ts'
import type { TlsIdentity } from '../access/tls-files.ts'
import { rejectSocket } from '../websocket/reject.ts'
import { acceptSockets, type SocketOptions } from '../websocket/sockets.ts'
import { discardUnread } from './unread-bodies.ts'

export interface TcpAddress {
  readonly host: string
  readonly port: number
  /** Serves HTTPS with this certificate. */
  readonly tls?: TlsIdentity
  /** Without a certificate: serves members of the fleet only, see `access/fleet-channel.ts`. */
  readonly channel?: TlsOptions | undefined
}

export type Address = { readonly socket: string } | TcpAddress

export type ConnectionLimits = { readonly [Name in keyof typeof limits.connection]: number }

export interface Listener {
  /** `http://127.0.0.1:4100`, `https://…` or `unix:/path`. */
  readonly address: string
  /** Stops accepting, lets open requests finish for `graceMs`, then drops them. */
  close(graceMs?: number): Promise<void>
}

/** Starts the HTTP server. @throws BaxError `engine_failed` if the port is in use or the socket cannot be created */
export async function listen(
  app: Pick<Hono, 'fetch'>,
  where: Address,
  sockets?: SocketOptions,
  connectionLimits: ConnectionLimits = limits.connection,
): Promise<Listener> {
  const tls = 'port' in where ? (where.tls ?? where.channel) : undefined
  const options = optionsOf(connectionLimits)
  const handle = getRequestListener(app.fetch, { autoCleanupIncoming: false })
  const respond: RequestListener = (incoming, outgoing) => {
    discardUnread(incoming, outgoing, connectionLimits)
    void handle(incoming, outgoing)
  }
  const server = tls
    ? createSecureServer({ ...options, ...tls, handshakeTimeout: connectionLimits.headersMs }, respond)
    : createServer(options, respond)
  server.maxConnections = connectionLimits.most
  server.on('clientError', rejectRequest)
  const endSockets = sockets && acceptSockets(server, sockets)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, where)))
    if ('socket' in where) server.listen(where.socket, resolve)
    else server.listen(where.port, where.host, resolve)
  })
  // A named pipe of Windows has no mode; its default lets only its owner and administrators in.
  if ('socket' in where && process.platform !== 'win32') await chmod(where.socket, 0o600)
  return { address: addressOf(server, where), close: (graceMs = 0) => stop(server, graceMs, endSockets) }
}

/** Slow or hanging clients must not occupy a connection forever; long calls have their own timeouts. */
const optionsOf = ({ headerBytes, headersMs, requestMs, checkMs, idleMs }: ConnectionLimits) => ({
  maxHeaderSize: headerBytes,
  headersTimeout: headersMs,
  requestTimeout: requestMs,
  connectionsCheckingInterval: checkMs,
  keepAliveTimeout: idleMs,
  // TCP keep-alive detects peers that vanished without closing, whose websockets would otherwise stay open.
  keepAlive: true,
  keepAliveInitialDelay: idleMs,
})

/** Malformed or slow requests receive the standard error response. */
function rejectRequest({ code = '' }: NodeJS.ErrnoException, socket: Duplex): void {
  // Without a handshake there is no way to respond.
  if (!socket.writable || code === 'ECONNRESET' || /^ERR_(?:SSL|TLS)/.test(code)) return void socket.destroy()
  rejectSocket(socket, badRequests[code] ?? malformed, newId('req'))
}

const malformed = new BaxError('invalid_request', 'malformed HTTP/1.1 request')
const badRequests: Record<string, BaxError> = {
  HPE_HEADER_OVERFLOW: new BaxError(
    'payload_too_large',
    `URL and headers are larger than ${limits.connection.headerBytes / 1024} KiB`,
  ),
  ERR_HTTP_REQUEST_TIMEOUT: new BaxError('timeout', 'timed out waiting for the request'),
}

function addressOf(server: Server, where: Address): string {
  if ('socket' in where) return `unix:${where.socket}`
  const bound = server.address() as { address: string; port: number; family: string }
  const host = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address
  return `${where.tls ? 'https' : 'http'}://${host}:${bound.port}`
}

function listenError(cause: NodeJS.ErrnoException, where: Address): BaxError {
  const { code = '', message } = cause
  const name = 'socket' in where ? where.socket : `${where.host}:${where.port}`
  const known: Record<string, [message: string, hint: string]> = {
    EADDRINUSE: [
      `${name} is in use by another program`,
      'choose another port with --port, or stop the program that uses it',
    ],
    EACCES: [`not allowed to listen on ${name}`, 'choose a port above 1023 with --port'],
  }
  const [text, hint] = known[code] ?? [`cannot listen on ${name}: ${code || message}`]
  return new BaxError('engine_failed', text, { cause, ...(hint && { hint }) })
}

async function stop(server: Server, graceMs: number, endSockets = () => {}): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const end = () => {
    server.closeAllConnections()
    endSockets()
  }
  const timer = setTimeout(end, graceMs)
  await closed
  clearTimeout(timer)
}
