/**
 * Demultiplexes Docker's stream of stdout and stderr, whose pieces start with a header of eight bytes. The client's own
 * demultiplexer loses split pieces and lacks backpressure.
 */
import { ProtocolError } from './frames.ts'

const headSize = 8
/** The daemon sends pieces of 32 KiB; a much larger size is not a valid header. */
const maxPiece = 16 * 1024 * 1024

export class DockerStream {
  readonly #receive: (stream: 'stdout' | 'stderr', bytes: Buffer) => void
  #head: Buffer = Buffer.alloc(0)
  #stream: 'stdout' | 'stderr' = 'stdout'
  #left = 0

  constructor(receive: (stream: 'stdout' | 'stderr', bytes: Buffer) => void) {
    this.#receive = receive
  }

  /** Processes the next bytes, split anywhere. @throws ProtocolError for invalid data. */
  push(bytes: Buffer): void {
    let rest = bytes
    while (rest.length > 0) {
      if (this.#left === 0) rest = this.#readHead(rest)
      else {
        const piece = rest.subarray(0, this.#left)
        this.#left -= piece.length
        rest = rest.subarray(piece.length)
        this.#receive(this.#stream, piece)
      }
    }
  }

  #readHead(bytes: Buffer): Buffer {
    const missing = headSize - this.#head.length
    const head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes.subarray(0, missing)])
    if (head.length < headSize) {
      this.#head = head
      return bytes.subarray(missing)
    }
    const kind = head.readUInt32LE(0)
    // Stream 0 is stdin, which is never echoed.
    if (kind !== 1 && kind !== 2) throw new ProtocolError(`a piece of stream ${kind}`)
    this.#stream = kind === 1 ? 'stdout' : 'stderr'
    this.#left = head.readUInt32BE(4)
    if (this.#left > maxPiece) throw new ProtocolError(`a piece of ${this.#left} bytes`)
    this.#head = Buffer.alloc(0)
    return bytes.subarray(missing)
  }
}
