/** Encodes binary frames of the tunnel: a byte of flags, the channel number, a piece of a message (`spec: relay 8`). */
import { BaxError } from '../../../core/errors/errors.ts'

/** Maximum frame size including its header, in bytes. */
export const frameBytes = 64 * 1024
const headBytes = 5
const fin = 1

/** Maximum size of a piece in one frame, in bytes. */
export const pieceBytes = frameBytes - headBytes

/** Encodes a piece of a message; `last` marks the last one. */
export function encodeFrame({ channel, last, piece }: ReturnType<typeof decodeFrame>): Uint8Array {
  const bytes = Buffer.allocUnsafe(headBytes + piece.length)
  bytes[0] = last ? fin : 0
  bytes.writeUInt32BE(channel, 1)
  bytes.set(piece, headBytes)
  return bytes
}

/** @throws BaxError `invalid_data` for malformed frames. */
export function decodeFrame(bytes: Uint8Array): { channel: number; last: boolean; piece: Uint8Array } {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.length < headBytes || view.length > frameBytes) {
    throw new BaxError('invalid_data', `a tunnel frame has ${headBytes} to ${frameBytes} bytes, not ${view.length}`)
  }
  const flags = view[0]!
  if ((flags & ~fin) !== 0) throw new BaxError('invalid_data', `a tunnel frame has unknown flags (${flags})`)
  return { channel: view.readUInt32BE(1), last: (flags & fin) !== 0, piece: view.subarray(headBytes) }
}
