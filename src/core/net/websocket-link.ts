/** A websocket of the `ws` package, of either side, as a link. */
import type { Link, LinkHandlers } from './link.ts'

/** The part of a `ws` WebSocket that a link needs; this floor knows no packages. */
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
/** Codes that a side may send; the others are made by the protocol itself. */
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
      // A close follows every error.
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
      // The reason of a close frame has 123 bytes at most.
      socket.close(sendable(code) ? code : 1000, Buffer.from(reason).subarray(0, 120).toString())
    },
    drop: () => socket.terminate(),
  }
}
