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
import type { RateLimits } from '../../core/stores.ts'
import { sockets } from '../../operations/index.ts'
import type { Drain } from '../process/drain.ts'
import { admit, checkScope, type Gate, credentialOf, refusalFor } from '../access/gate.ts'
import { answerHeader, forwardedHeader, type Refusal, refusedHeader } from '../access/signed-caller.ts'
import type { Forwarder } from '../gateway/forwarder.ts'
import { joinTunnel, openTunnel } from '../gateway/tunnel.ts'
import { readInput } from '../request/input.ts'
import { BodyMemory, OpenStreams } from '../access/load.ts'
import { countRequest } from '../access/rate.ts'
import { rejectSocket } from './reject.ts'
import type { RequestListener } from '../request/requests.ts'
import { closedLink, receivingLink, createUpgrader } from './upgrade.ts'
import { parseUrl } from '../../core/net/parse-url.ts'

export interface SocketOptions {
  readonly engine: Engine
  readonly gate: Gate
  /** Whether only the machine's own user can connect to this listener. */
  readonly own: boolean
  /** Rejects new websockets while the server shuts down. */
  readonly drain?: Drain
  /** Limits upgrade requests. Also enables the limits on open websockets and buffered messages. */
  readonly rates?: RateLimits
  readonly requestListener?: RequestListener
  /** Set on a gateway: connects clients to the workers. */
  readonly forwarder?: Forwarder | undefined
}

/** An upgrade request and its outcome. */
interface UpgradeRequest {
  requestId: string
  operation: string
  status: number
  keyId: string | null
  /** Why a worker has not run it, for its gateway. */
  refusal?: Refusal
}

/** Accepts upgrades; returns a function that closes all websockets and pending upgrades. */
export function acceptSockets(server: Server, options: SocketOptions): () => void {
  const upgraders = new Map(
    socketOperations.map(({ name, operation }) => [name, createUpgrader(operation, options.own)]),
  )
  for (const upgrader of upgraders.values())
    upgrader
      .on('headers', (lines, request) => {
        for (const [name, value] of Object.entries(proofOf(request, options.gate, 101))) lines.push(`${name}: ${value}`)
      })
      .on('wsClientError', (error, socket, request) => {
        const invalid = new BaxError('invalid_request', error.message)
        rejectSocket(socket, invalid, newId('req'), proofOf(request, options.gate, invalid.status))
      })
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
      ({ take, caller, signal, tunnel }) => {
        if (tunnel) return joinTunnel(tunnel, socket, head)
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
        const more = {
          ...(upgrade.refusal && { [refusedHeader]: upgrade.refusal }),
          ...proofOf(request, options.gate, error.status, upgrade.refusal),
        }
        rejectSocket(socket, options.own ? error : publicError(error), upgrade.requestId, more)
      },
    )
  })
  return () => {
    for (const socket of upgraded) socket.destroy()
  }
}

/** Returns the header that proves to a gateway that an answer is that of a worker. */
function proofOf(
  { headers }: IncomingMessage,
  { forwarded }: Gate,
  status: number,
  refusal?: Refusal,
): Record<string, string> {
  const signed = headers[forwardedHeader]
  const answer = forwarded?.answer(typeof signed === 'string' ? signed : null, status, { refusal })
  return answer === undefined ? {} : { [answerHeader]: answer }
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
  { engine, gate, own, drain, rates, forwarder }: SocketOptions,
  upgrade: UpgradeRequest,
  openSockets: OpenStreams | undefined,
) {
  const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  const line = { method: 'GET', target: request.url ?? '/', headers: new Headers(headers) }
  const url = urlOf(request)
  const found = socketOperations.flatMap(({ name, operation, match }) => {
    const fields = match(url.pathname)
    return fields ? [{ name, operation, fields }] : []
  })
  upgrade.operation = found[0]?.name ?? upgrade.operation
  const bearer = bearerProtocol(headers, found[0]?.operation.anyProtocol)
  // Browsers cannot set headers on websockets: they send the key or token as a subprotocol instead.
  if (bearer !== undefined && !headers.has('authorization')) headers.set('authorization', `Bearer ${bearer}`)
  const accesses = found.map(({ operation }) => operation)
  const {
    caller,
    requestId = upgrade.requestId,
    reservation,
  } = admitUpgrade(upgrade, { headers, url: url.href }, line, gate, accesses)
  upgrade.keyId = caller.keyId
  upgrade.requestId = requestId
  // Clients of existing objects of a worker can connect until these end.
  if (gate.forwarded && reservation !== undefined) upgrade.refusal = 'draining'
  if (!gate.forwarded || reservation !== undefined) drain?.assertAccepting()
  delete upgrade.refusal
  if (rates) await countRequest(rates, caller)
  const credential = credentialOf(headers)
  const token = credential === undefined || credential.startsWith(keyPrefix) ? null : credential
  const release = openSockets?.take(caller, url.searchParams.get('token') ?? token)
  const ended = new AbortController()
  const end = () => {
    release?.()
    ended.abort()
  }
  request.socket.once('close', end)
  // It may have closed while the request was counted.
  if (request.socket.destroyed) end()
  const [match] = found
  if (!match) throw new BaxError('route_not_found', `no websocket at ${url.pathname}`)
  const { operation, fields } = match
  checkScope(caller, operation)
  const { input } = await readInput(new Request(url, { headers }), operation.input, fields)
  const { signal } = ended
  if (forwarder && operation.runs.on !== 'gateway') {
    const facts = { operation, input, caller, token, requestId, signal, engine }
    return { tunnel: await openTunnel(forwarder, request, facts), caller, signal }
  }
  const baseUrl = `http://${request.headers.host ?? 'localhost'}`
  const facts = { caller, signal, requestId, token, own, baseUrl, socketBaseUrl: baseUrl }
  const call: SocketCall = { ...facts, ...(reservation !== undefined && { reservation }) }
  return { take: await operation.open(engine, input, call), caller, signal }
}

function admitUpgrade(upgrade: UpgradeRequest, ...admission: Parameters<typeof admit>) {
  try {
    return admit(...admission)
  } catch (error) {
    if (admission[2].forwarded) upgrade.refusal = refusalFor(error)
    throw error
  }
}

/** Returns the key or token among the subprotocols; with `any`, the first one. */
function bearerProtocol(headers: Headers, any = false): string | undefined {
  const protocols = (headers.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim())
  const bearer = protocols.find((name) => name.startsWith('bax.bearer.'))?.slice('bax.bearer.'.length)
  return bearer ?? (any && protocols[0] ? protocols[0] : undefined)
}

/** @throws BaxError `route_not_found` for an invalid URL. */
function urlOf({ url = '/' }: IncomingMessage): URL {
  const parsed = parseUrl(url, 'http://localhost')
  if (parsed) return parsed
  throw new BaxError('route_not_found', 'invalid websocket URL')
}
