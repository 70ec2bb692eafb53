/**
 * Demultiplexes Docker's stream of stdout and stderr, whose pieces start with a header of eight bytes. The client's own
 * demultiplexer loses split pieces and lacks backpressure.
 */
import { ProtocolError } from './frames.ts'

const headSize = 8
/** The daemon sends pieces of 32 KiB; a much larger size is not a valid header. */
const maxPiece = 16 * 1024 * 1024

/** Returns a function that processes the next bytes, split anywhere. It throws ProtocolError for invalid data. */
export function demultiplex(receive: (stream: 'stdout' | 'stderr', bytes: Buffer) => void): (bytes: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0)
  let stream: 'stdout' | 'stderr' = 'stdout'
  let left = 0
  const readHead = (bytes: Buffer): Buffer => {
    const missing = headSize - pending.length
    const head = pending.length === 0 ? bytes : Buffer.concat([pending, bytes.subarray(0, missing)])
    if (head.length < headSize) {
      pending = head
      return bytes.subarray(missing)
    }
    const kind = head.readUInt32LE(0)
    // Stream 0 is stdin, which is never echoed.
    if (kind !== 1 && kind !== 2) throw new ProtocolError(`a piece of stream ${kind}`)
    stream = kind === 1 ? 'stdout' : 'stderr'
    left = head.readUInt32BE(4)
    if (left > maxPiece) throw new ProtocolError(`a piece of ${left} bytes`)
    pending = Buffer.alloc(0)
    return bytes.subarray(missing)
  }
  return (bytes) => {
    let rest = bytes
    while (rest.length > 0) {
      if (left === 0) rest = readHead(rest)
      else {
        const piece = rest.subarray(0, left)
        left -= piece.length
        rest = rest.subarray(piece.length)
        receive(stream, piece)
      }
    }
  }
}
