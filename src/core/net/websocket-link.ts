/** Adapts a websocket of the `ws` package, client or server side, to a link. */
import type { Link, LinkHandlers } from './link.ts'

/** The part of a `ws` WebSocket that a link needs; this layer does not import the package. */
export interface SocketLike {
  readonly bufferedAmount: number
  readonly readyState: number
  send(data: string | Uint8Array, onSent?: (error?: Error) => void): void
  send(data: Uint8Array, options: { binary: boolean }): void
  close(code: number, reason: string): void
  terminate(): void
  on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): unknown
  on(event: 'close', listener: (code: number, reason: Buffer) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
}

const open = 1
/** Close codes that an endpoint may send; the others are reserved by the protocol. */
const sendable = (code: number) => code === 1000 || code === 1001 || (code >= 3000 && code <= 4999)

export function websocketLink(socket: SocketLike): Link {
  let ended = false
  return {
    get buffered() {
      return socket.bufferedAmount
    },
    handle({ onText, onBytes, onClose }: LinkHandlers) {
      socket.on('message', (data, isBinary) => (isBinary ? onBytes(data) : onText(data.toString())))
      socket.on('close', (code, reason) => {
        if (ended) return
        ended = true
        onClose(code, reason.toString())
      })
      // Every error is followed by a close.
      socket.on('error', () => {})
    },
    sendText(text) {
      if (socket.readyState !== open) return
      if (typeof text === 'string') socket.send(text)
      else socket.send(text, { binary: false })
    },
    sendBytes(bytes, onSent) {
      if (socket.readyState === open) socket.send(bytes, () => onSent())
    },
    close(code, reason) {
      // A close frame has room for a reason of at most 123 bytes.
      socket.close(sendable(code) ? code : 1000, Buffer.from(reason).subarray(0, 120).toString())
    },
    drop: () => socket.terminate(),
  }
}
