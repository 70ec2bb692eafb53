/** Websocket upgrades. All checks run before the upgrade. */
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { SocketCall } from '../../core/operation/call.ts'
import type { SocketOperation } from '../../core/operation/operation.ts'
import { pathMatcher, route } from '../../core/operation/route.ts'
import type { Engine } from '../../core/engine.ts'
import { asBaxError, BaxError } from '../../core/errors/errors.ts'
import { publicError } from '../../core/errors/system-errors.ts'
import { newId } from '../../core/ids.ts'
import { keyPrefix } from '../../core/access/keys.ts'
import { limits } from '../../core/limits/limits.ts'
import { closeCodes } from '../../core/net/link.ts'
import { sockets } from '../../operations/index.ts'
import type { Drain } from '../process/drain.ts'
import { identifyCaller, checkScope, type Gate, credentialOf } from '../access/gate.ts'
import { readInput } from '../request/input.ts'
import { BodyMemory, OpenStreams } from '../access/load.ts'
import type { RateLimiter } from '../access/rate.ts'
import { rejectSocket } from './reject.ts'
import type { RequestListener } from '../request/requests.ts'
import { closedLink, receivingLink, createUpgrader } from './upgrade.ts'

export interface SocketOptions {
  readonly engine: Engine
  readonly gate: Gate
  /** Whether only the machine's own user can connect to this listener. */
  readonly own: boolean
  /** Rejects new websockets while the server shuts down. */
  readonly drain?: Drain
  /** Limits upgrade requests. Also enables the limits on open websockets and buffered messages. */
  readonly rates?: RateLimiter
  readonly requestListener?: RequestListener
}

/** An upgrade request and its outcome. */
interface UpgradeRequest {
  readonly requestId: string
  operation: string
  status: number
  keyId: string | null
}

/** Accepts upgrades; returns a function that closes all websockets and pending upgrades. */
export function acceptSockets(server: Server, options: SocketOptions): () => void {
  const upgraders = new Map(
    socketOperations.map(({ name, operation }) => [name, createUpgrader(operation, options.own)]),
  )
  const memory = new BodyMemory(options.rates ? limits.overload.bodyBytes : Infinity)
  const openSockets = options.rates && new OpenStreams('websockets')
  // The HTTP server does not track upgraded connections: its `closeAllConnections` leaves them open.
  const upgraded = new Set<Duplex>()
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgraded.add(socket)
    socket.once('close', () => upgraded.delete(socket))
    // The client disconnected: nobody is left to report the error to.
    socket.on('error', () => socket.destroy())
    const upgrade: UpgradeRequest = { requestId: newId('req'), operation: 'unknown', status: 101, keyId: null }
    if (options.requestListener) reportClose(request, upgrade, options.requestListener)
    authorize(request, options, upgrade, openSockets).then(
      ({ take, caller, signal }) => {
        let isOpen = false
        upgraders.get(upgrade.operation)!.handleUpgrade(request, socket, head, (open) => {
          isOpen = true
          const link = receivingLink(open, socket, memory.open(caller))
          take(link)
          const lost = () => link.close(closeCodes.revoked, 'the key was revoked')
          options.engine.keys.whenLost(caller.keyId, lost, signal)
        })
        // The client disconnected or sent an invalid handshake. The operation still waits for its link: pass a closed one.
        if (!isOpen) take(closedLink)
      },
      (thrown: unknown) => {
        const error = asBaxError(thrown)
        upgrade.status = error.status
        rejectSocket(socket, options.own ? error : publicError(error), upgrade.requestId)
      },
    )
  })
  return () => {
    for (const socket of upgraded) socket.destroy()
  }
}

const socketOperations = Object.entries<SocketOperation>(sockets).map(([name, operation]) => ({
  name,
  operation,
  match: pathMatcher(route(operation.http).path),
}))

function reportClose(
  { method = '', url = '/', socket }: IncomingMessage,
  upgrade: UpgradeRequest,
  requestListener: RequestListener,
): void {
  const start = performance.now()
  const before = socket.bytesWritten
  requestListener.open()
  socket.once('close', () => {
    const path = url.replace(/[?#].*$/, '')
    const ms = performance.now() - start
    requestListener.done({ ...upgrade, method, path, ms, bytes: socket.bytesWritten - before, cut: false })
  })
}

async function authorize(
  request: IncomingMessage,
  { engine, gate, own, drain, rates }: SocketOptions,
  upgrade: UpgradeRequest,
  openSockets: OpenStreams | undefined,
) {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value))
  const url = urlOf(request)
  const bearer = bearerProtocol(headers)
  // Browsers cannot set headers on websockets: they send the key or token as a subprotocol instead.
  if (bearer !== undefined && !headers.has('authorization')) headers.set('authorization', `Bearer ${bearer}`)
  const found = socketOperations.flatMap(({ name, operation, match }) => {
    const fields = match(url.pathname)
    return fields ? [{ name, operation, fields }] : []
  })
  upgrade.operation = found[0]?.name ?? upgrade.operation
  const caller = identifyCaller({ headers, url: url.href }, gate, found.map(({ operation }) => operation)) // prettier-ignore
  upgrade.keyId = caller.keyId
  drain?.assertAccepting()
  rates?.take(caller)
  const credential = credentialOf(headers)
  const token = credential === undefined || credential.startsWith(keyPrefix) ? null : credential
  const release = openSockets?.take(caller, url.searchParams.get('token') ?? token)
  const ended = new AbortController()
  request.socket.once('close', () => {
    release?.()
    ended.abort()
  })
  const [match] = found
  if (!match) throw new BaxError('route_not_found', `no websocket at ${url.pathname}`)
  const { operation, fields } = match
  checkScope(caller, operation)
  const { input } = await readInput(new Request(url, { headers }), operation.input, fields)
  const { signal } = ended
  const { requestId } = upgrade
  const baseUrl = `http://${request.headers.host ?? 'localhost'}`
  const call: SocketCall = { caller, signal, baseUrl, socketBaseUrl: baseUrl, requestId, token, own }
  return { take: await operation.open(engine, input, call), caller, signal }
}

function bearerProtocol(headers: Headers): string | undefined {
  const protocols = (headers.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim())
  return protocols.find((name) => name.startsWith('bax.bearer.'))?.slice('bax.bearer.'.length)
}

/** @throws BaxError `route_not_found` for an invalid URL. */
function urlOf({ url = '/' }: IncomingMessage): URL {
  if (URL.canParse(url, 'http://localhost')) return new URL(url, 'http://localhost')
  throw new BaxError('route_not_found', 'invalid websocket URL')
}
