/** Upgrades of requests to websockets, by the list of sockets; every check comes before the upgrade. */
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { z } from 'zod'
import type { Engine } from '../../core/engine.ts'
import { asBaxError, BaxError } from '../../core/errors/errors.ts'
import { forCallers } from '../../core/errors/system-errors.ts'
import { newId } from '../../core/ids.ts'
import { keyPrefix } from '../../core/access/keys.ts'
import { limits } from '../../core/limits/limits.ts'
import { closeCodes } from '../../core/net/link.ts'
import { route } from '../../core/operation/operation.ts'
import type { SocketCall, SocketOperation } from '../../core/operation/socket.ts'
import { decodedPart } from '../../core/net/urls.ts'
import { sockets } from '../../operations/index.ts'
import type { Drain } from '../process/drain.ts'
import { admit, checkScope, type Gate, shownIn } from '../access/gate.ts'
import { readInput } from '../request/input.ts'
import { BodyRoom } from '../access/load.ts'
import { OpenEnds } from './open-streams.ts'
import type { Rates } from '../access/rate.ts'
import { rejectSocket } from './reject.ts'
import type { RequestEar } from '../request/requests.ts'
import { lostLink, receivingLink, upgraderOf } from './upgrade.ts'

export interface SocketOptions {
  readonly engine: Engine
  readonly gate: Gate
  /** Whoever reaches this listener is the machine's own user. */
  readonly own: boolean
  /** Refuses what is new when the server is about to end. */
  readonly drain?: Drain
  /** Bounds how often callers knock; with it come the bounds of a server on what they have open. */
  readonly rates?: Rates
  /** Hears of every websocket when it is over. */
  readonly ear?: RequestEar
}

/** A caller at the door, and what became of it. */
interface Knock {
  readonly requestId: string
  operation: string
  status: number
  keyId: string | null
}

/** Lets a server answer upgrades; returns a function that closes all of its websockets and pending upgrades. */
export function acceptSockets(server: Server, options: SocketOptions): () => void {
  const upgraders = new Map(all.map(([name, operation]) => [name, upgraderOf(operation, options.own)]))
  const room = new BodyRoom(options.rates ? limits.overload.bodyBytes : Infinity)
  const ends = options.rates && new OpenEnds('websockets')
  // The HTTP server does not track upgraded connections: its `closeAllConnections` leaves them open.
  const upgraded = new Set<Duplex>()
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgraded.add(socket)
    socket.once('close', () => upgraded.delete(socket))
    // A caller that goes away in the middle has nobody to tell.
    socket.on('error', () => socket.destroy())
    const knock: Knock = { requestId: newId('req'), operation: 'unknown', status: 101, keyId: null }
    if (options.ear) tellOf(request, knock, options.ear)
    begin(request, { ...options, ends }, knock).then(
      ({ take, caller, signal }) => {
        let isOpen = false
        upgraders.get(knock.operation)!.handleUpgrade(request, socket, head, (open) => {
          isOpen = true
          const link = receivingLink(open, socket, room.open(caller))
          take(link)
          const lost = () => link.close(closeCodes.revoked, 'the key is good no longer')
          options.engine.keys.whenLost(caller.keyId, lost, signal)
        })
        // Who went away meanwhile, or asked for no websocket, has made something ready that waits for its link.
        if (!isOpen) take(lostLink)
      },
      (thrown: unknown) => {
        const error = asBaxError(thrown)
        knock.status = error.status
        rejectSocket(socket, options.own ? error : forCallers(error), knock.requestId)
      },
    )
  })
  return () => {
    for (const socket of upgraded) socket.destroy()
  }
}

const all = Object.entries(sockets as unknown as Record<string, SocketOperation>)

function tellOf({ method = '', url = '/', socket }: IncomingMessage, knock: Knock, ear: RequestEar): void {
  const start = performance.now()
  const before = socket.bytesWritten
  ear.open()
  socket.once('close', () => {
    const path = url.replace(/[?#].*$/, '')
    const ms = performance.now() - start
    ear.done({ ...knock, method, path, ms, bytes: socket.bytesWritten - before, cut: false })
  })
}

interface Door extends SocketOptions {
  /** Counts the websockets that are open. */
  readonly ends?: OpenEnds | undefined
}

async function begin(request: IncomingMessage, { engine, gate, own, drain, rates, ends }: Door, knock: Knock) {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value))
  const url = addressOf(request)
  const spoken = spokenIn(headers)
  // Web clients cannot set headers: what they show as a subprotocol counts as if it were one.
  if (spoken !== undefined && !headers.has('authorization')) headers.set('authorization', `Bearer ${spoken}`)
  const found = all.flatMap(([name, operation]) => {
    const fields = fieldsOf(route(operation.http).path, url.pathname)
    return fields ? [{ name, operation, fields }] : []
  })
  knock.operation = found[0]?.name ?? knock.operation
  const caller = admit({ headers, url: url.href }, gate, found.map(({ operation }) => operation)) // prettier-ignore
  knock.keyId = caller.keyId
  drain?.refuseNew()
  rates?.admit(caller)
  const shown = shownIn(headers)
  const token = shown === undefined || shown.startsWith(keyPrefix) ? null : shown
  const letGo = ends?.take(caller, url.searchParams.get('token') ?? token)
  const ended = new AbortController()
  request.socket.once('close', () => {
    letGo?.()
    ended.abort()
  })
  for (const { operation, fields } of found) {
    checkScope(caller, operation)
    const asked = new Request(url, { headers })
    const { input } = await readInput(asked, operation.input, fields)
    const baseUrl = `http://${request.headers.host ?? 'localhost'}`
    const call: SocketCall = {
      caller,
      signal: ended.signal,
      baseUrl,
      socketBaseUrl: baseUrl,
      requestId: knock.requestId,
      token,
      own,
    }
    return { take: await operation.open(engine, input as z.output<z.ZodObject>, call), caller, signal: ended.signal }
  }
  throw new BaxError('route_not_found', `no websocket at ${url.pathname}`)
}

function spokenIn(headers: Headers): string | undefined {
  const offered = (headers.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim())
  return offered.find((name) => name.startsWith('bax.bearer.'))?.slice('bax.bearer.'.length)
}

/** @throws BaxError `route_not_found` for what is no address at all. */
function addressOf({ url = '/' }: IncomingMessage): URL {
  if (URL.canParse(url, 'http://localhost')) return new URL(url, 'http://localhost')
  throw new BaxError('route_not_found', 'no websocket at this address')
}

/** The fields of a path, or undefined when it is not of this template. */
function fieldsOf(template: string, path: string): Record<string, string> | undefined {
  const [parts, given] = [template.split('/'), path.split('/')]
  if (parts.length !== given.length) return undefined
  const fields: Record<string, string> = {}
  for (const [at, part] of parts.entries()) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    if (name !== undefined) fields[name] = decodedPart(given[at]!)
    else if (part !== given[at]) return undefined
  }
  return fields
}
