/** WebSockets through a gateway: after the handshake with the worker, the bytes are passed on as they are. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { anonymousCaller, type Caller } from '../../core/access/caller.ts'
import { holderOf } from '../../core/access/quota.ts'
import type { Engine } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { WorkerAddress } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'
import type { SocketOperation } from '../../core/operation/operation.ts'
import type { Placement } from '../../core/operation/placement.ts'
import { sockets } from '../../operations/index.ts'
import { answerHeader, forwardedHeader } from '../access/signed-caller.ts'
import { isOnOne, noSlot, type Sent } from './dispatch.ts'
import type { Forwarder } from './forwarder.ts'
import { readable, upgradeHeaders } from './headers.ts'
import { endWhenRevoked } from './read-request.ts'
import { readAll } from './relayed-response.ts'

/** The worker's side of a websocket. */
export interface Tunnel {
  readonly response: IncomingMessage
  readonly socket: Duplex
  /** First bytes of the worker. */
  readonly head: Buffer
}

/** An upgrade request that has passed all checks. */
interface CheckedUpgrade {
  readonly operation: SocketOperation
  readonly input: Record<string, unknown>
  readonly caller: Caller
  /** Token from a header or a subprotocol; null with a key, or without either. */
  readonly token: string | null
  readonly requestId: string
  readonly engine: Engine
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

/** Connects to the worker. @throws BaxError that the worker responds with, `worker_lost`, `no_capacity` */
export async function openTunnel(
  forwarder: Forwarder,
  request: IncomingMessage,
  { operation, input, caller, token, requestId, engine, signal }: CheckedUpgrade,
): Promise<Tunnel> {
  const { signer, directory } = forwarder.options
  const target = request.url ?? '/'
  const connect = async (worker: WorkerAddress, reservation?: string): Promise<Sent<Tunnel | BaxError>> => {
    const facts = { caller, requestId, ...(reservation !== undefined && { reservation }) }
    const plain = upgradeHeaders(request.headers)
    const signature = signer.sign({ method: 'GET', target, worker: worker.id, headers: readable(plain) }, facts)
    const headers = { ...plain, [forwardedHeader]: signature.header }
    const sent = { method: 'GET', target, headers, signature, signal }
    const opened = await forwarder.trusting(worker, forwarder.requests.upgrade(worker, sent))
    if ('head' in opened) {
      // The object is bound once the client has introduced itself.
      if (reservation !== undefined)
        opened.socket.once('close', () => void directory.release(reservation).catch(() => {}))
      return { as: 'done', value: opened }
    }
    const refused = await forwarder.refusalOf(opened, worker)
    if (refused) return { as: 'refused', ...refused }
    const value = BaxError.fromBody(JSON.parse(String(await readAll(opened))))
    return { as: 'failed', value, status: value.status }
  }
  const hasToken = operation.token === true && (input['token'] !== undefined || caller === anonymousCaller)
  // The relays of a token are those of the key that made it.
  const owner =
    token !== null && operation.http === sockets.relayConnect.http ? await engine.relays.ownerOf(token) : undefined
  const done = await forwarder.dispatcher.dispatch(placementOf(operation, input), {
    fields: input,
    input: () => input,
    caller,
    holder: owner === undefined ? undefined : holderOf(owner),
    hasToken,
    run: connect,
  })
  if (done.on === 'full') throw noSlot(done.slot)
  if (done.on === 'gateway') throw new BaxError('unsupported', 'a gateway has no websockets of its own')
  if (done.value instanceof BaxError) throw done.value
  const { socket } = done.value
  endWhenRevoked(engine, caller, () => socket.destroy(), signal)
  return done.value
}

function placementOf({ runs }: SocketOperation, input: Record<string, unknown>) {
  const chosen: Placement =
    runs.on === 'object' && runs.absent && input[runs.field] === undefined ? runs.absent : (runs as Placement)
  return isOnOne(chosen) ? chosen : ({ on: 'gateway' } as const)
}

/** Sends the worker's handshake response to the client, and passes on the bytes in both directions. */
export function joinTunnel({ response, socket, head }: Tunnel, client: Duplex, clientHead: Buffer): void {
  const lines = [`HTTP/1.1 ${response.statusCode} ${response.statusMessage}`]
  for (let at = 0; at < response.rawHeaders.length; at += 2) {
    const name = response.rawHeaders[at]!
    // For this gateway alone.
    if (name.toLowerCase() !== answerHeader) lines.push(`${name}: ${response.rawHeaders[at + 1]}`)
  }
  client.write(`${lines.join('\r\n')}\r\n\r\n`)
  if (head.length > 0) client.write(head)
  if (clientHead.length > 0) socket.write(clientHead)
  // A side that is lost closes the other one.
  socket.on('error', () => client.destroy())
  socket.once('close', () => {
    client.end()
    setTimeout(() => client.destroy(), limits.connection.lingerMs).unref()
  })
  client.once('close', () => socket.destroy())
  client.pipe(socket)
  socket.pipe(client)
}
