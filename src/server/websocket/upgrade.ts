/** What the server takes over a websocket: messages of a bounded length, of bounded content, within a bounded memory. */
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { asBaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { closeCodes, type Link } from '../../core/net/link.ts'
import type { SocketOperation } from '../../core/operation/socket.ts'
import { websocketLink } from '../../core/net/websocket-link.ts'
import { excessOf } from '../../core/operation/json-extent.ts'
import type { BodyHold } from '../access/load.ts'

/** Upgrades requests to the websockets of one operation. `own`: from this very machine, where compression costs more than it saves. */
export function upgraderOf({ protocol, messageBytes, compressed }: SocketOperation, own: boolean): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    // Counted after inflation too.
    maxPayload: messageBytes,
    perMessageDeflate:
      compressed && !own
        ? {
            threshold: 10 * 1024,
            zlibDeflateOptions: { level: 3 },
            serverNoContextTakeover: true,
            clientNoContextTakeover: true,
          }
        : false,
    handleProtocols: (offered) => (protocol !== undefined && offered.has(protocol) ? protocol : false),
  })
}

/** The link of a websocket that was opened on `socket`; what has come of a message that is not whole waits in `room`. */
export function receivingLink(open: WebSocket, socket: Duplex, room: BodyHold): Link {
  holdMessages(open, socket, room)
  const link = websocketLink(open)
  const { values } = limits.input
  const isTooMuch = (text: string) =>
    text.length > values && excessOf(Buffer.from(text), { depth: Infinity, values }) !== undefined
  return {
    get buffered() {
      return link.buffered
    },
    handle: (handlers) =>
      link.handle({
        onText: (text) => {
          if (isTooMuch(text)) link.close(closeCodes.protocol, `a message may have ${values} values`)
          else handlers.onText(text)
        },
        onBytes: (bytes) => handlers.onBytes(bytes),
        onClose: (code, reason) => handlers.onClose(code, reason),
      }),
    sendText: (text) => link.sendText(text),
    sendBytes: (bytes, onSent) => link.sendBytes(bytes, onSent),
    close: (code, reason) => link.close(code, reason),
    drop: () => link.drop(),
  }
}

/** A link that was never opened. */
export const lostLink: Link = {
  buffered: 0,
  handle: ({ onClose }) => queueMicrotask(() => onClose(closeCodes.lost, '')),
  sendText: () => {},
  sendBytes: () => {},
  close: () => {},
  drop: () => {},
}

/** Counts what comes until it is a message. A caller whose messages take more memory than there is for it is let go. */
function holdMessages(open: WebSocket, socket: Duplex, room: BodyHold): void {
  socket.prependListener('data', (bytes: Buffer) => {
    try {
      room.add(bytes.length)
    } catch (error) {
      open.close(closeCodes.slow, asBaxError(error).message)
      // What else comes is not waited for.
      open.terminate()
    }
  })
  open.on('message', () => room.close())
  open.on('close', () => room.close())
}
