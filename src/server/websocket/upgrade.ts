/** Websockets of the server, with limits on message size, number of JSON values, and buffered memory. */
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { asBaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { closeCodes, type Link } from '../../core/net/link.ts'
import type { SocketOperation } from '../../core/operation/operation.ts'
import { websocketLink } from '../../core/net/websocket-link.ts'
import { exceededLimit } from '../../core/operation/json-extent.ts'
import type { BodyReservation } from '../access/load.ts'

/** Creates the websocket server of an operation. `own`: a local listener, where compression does not pay off. */
export function createUpgrader(
  { protocol, anyProtocol, messageBytes, compressed }: SocketOperation,
  own: boolean,
): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    // Also applies to the decompressed size.
    maxPayload: messageBytes,
    perMessageDeflate: compressed && !own && deflateOptions,
    handleProtocols: (offered) => {
      if (anyProtocol) return [...offered][0] ?? false
      return protocol !== undefined && offered.has(protocol) ? protocol : false
    },
  })
}

const deflateOptions = {
  threshold: 10 * 1024,
  zlibDeflateOptions: { level: 3 },
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
}

/** Returns the link of a websocket on `socket`. Incomplete messages are counted in `memory`. */
export function receivingLink(open: WebSocket, socket: Duplex, memory: BodyReservation): Link {
  countIncomplete(open, socket, memory)
  const link = websocketLink(open)
  const { values } = limits.input
  const isTooLarge = (text: string) =>
    text.length > values && exceededLimit(Buffer.from(text), { depth: Infinity, values }) !== undefined
  return {
    ...link,
    get buffered() {
      return link.buffered
    },
    handle: (handlers) =>
      link.handle({
        ...handlers,
        onText: (text) => {
          if (isTooLarge(text)) link.close(closeCodes.protocol, `a message may have at most ${values} values`)
          else handlers.onText(text)
        },
      }),
  }
}

/** A link that reports a lost connection immediately. */
export const closedLink: Link = {
  buffered: 0,
  handle: ({ onClose }) => queueMicrotask(() => onClose(closeCodes.lost, '')),
  sendText: () => {},
  sendBytes: () => {},
  close: () => {},
  drop: () => {},
}

/** Counts received bytes until their message is complete, and closes websockets that exceed the caller's memory. */
function countIncomplete(open: WebSocket, socket: Duplex, memory: BodyReservation): void {
  socket.prependListener('data', (bytes: Buffer) => {
    try {
      memory.add(bytes.length)
    } catch (error) {
      open.close(closeCodes.slow, asBaxError(error).message)
      open.terminate()
    }
  })
  open.on('message', () => memory.close())
  open.on('close', () => memory.close())
}
