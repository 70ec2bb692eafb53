/** Connections of requests that are answered before their body has arrived. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { ConnectionLimits } from './listen.ts'

type Times = Pick<ConnectionLimits, 'lingerMs' | 'restMs'>

/**
 * Lets the client of an early response send the rest of its body, which is discarded. A connection that is closed with
 * unread input is reset, and the reset can overtake the response, or fail the client before it reads it. The connection
 * stays usable if the rest arrives within `restMs`, and the client does not pause for `lingerMs`.
 */
export function discardUnread(incoming: IncomingMessage, outgoing: ServerResponse, times: Times): void {
  const { socket } = incoming
  // Node calls this after a response with `connection: close`: the client then sees the end of the connection.
  socket.destroySoon = () => void (incoming.complete ? destroySoon.call(socket) : socket.end())
  outgoing.once('close', () => {
    if (incoming.complete) socket.destroySoon = destroySoon
    else if (!socket.destroyed && !incoming.destroyed) discardRest(incoming, socket, times)
  })
}

const { destroySoon } = Socket.prototype

/** Reads what remains; closes the connection in two steps, as the client may still be reading the response. */
function discardRest(incoming: IncomingMessage, socket: Socket, { lingerMs, restMs }: Times): void {
  const until = performance.now() + restMs
  let seen = socket.bytesRead
  const timer = setInterval(() => {
    if (incoming.complete && socket.writable) return clearInterval(timer)
    const isSending = socket.bytesRead > seen && performance.now() < until
    seen = socket.bytesRead
    if (isSending) return
    if (socket.writable) socket.end()
    else socket.destroy()
  }, lingerMs)
  socket.once('close', () => clearInterval(timer))
  incoming.resume()
}
