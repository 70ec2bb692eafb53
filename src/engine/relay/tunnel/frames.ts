/** Binary frames of the tunnel: one byte of flags, the channel's number, a piece of a message (`spec: relay 8`). */
import { BaxError } from '../../../core/errors/errors.ts'

/** Longest frame, its head included, in bytes. */
export const frameBytes = 64 * 1024
const headBytes = 5
const fin = 1

export interface TunnelFrame {
  readonly channel: number
  /** The last piece of its message. */
  readonly last: boolean
  readonly piece: Uint8Array
}

/** Bytes of a message that one frame holds. */
export const pieceBytes = frameBytes - headBytes

export function encodeFrame({ channel, last, piece }: TunnelFrame): Uint8Array {
  const bytes = Buffer.allocUnsafe(headBytes + piece.length)
  bytes[0] = last ? fin : 0
  bytes.writeUInt32BE(channel, 1)
  bytes.set(piece, headBytes)
  return bytes
}

/** @throws BaxError `invalid_data` for what is no frame. */
export function decodeFrame(bytes: Uint8Array): TunnelFrame {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.length < headBytes || view.length > frameBytes) {
    throw new BaxError('invalid_data', `a tunnel frame has ${headBytes} to ${frameBytes} bytes, not ${view.length}`)
  }
  const flags = view[0]!
  if ((flags & ~fin) !== 0) throw new BaxError('invalid_data', `a tunnel frame has unknown flags (${flags})`)
  return { channel: view.readUInt32BE(1), last: (flags & fin) !== 0, piece: view.subarray(headBytes) }
}
