/** Splits the agent's stream into frames; output is passed on as it arrives, without reassembling it. */
import { FrameReader, fromAgent, maxFrame, ProtocolError } from './frames.ts'

export interface FrameSink {
  /** Complete frame of any type except output. */
  frame(type: number, id: number, body: FrameReader): void
  /** Piece of output: stream 1 is stdout or the content of a file, 2 is stderr. */
  output(id: number, stream: number, bytes: Buffer): void
}

const headSize = 9

export class FrameStream {
  readonly #sink: FrameSink
  /** Parts of an incomplete frame, and their total size. */
  #pending: Buffer[] = []
  #pendingSize = 0
  /** Output frame that is being passed on. */
  #output: { id: number; stream: number; left: number } | null = null

  constructor(sink: FrameSink) {
    this.#sink = sink
  }

  /** Processes the next bytes, split anywhere. @throws ProtocolError for invalid frames. */
  push(bytes: Buffer): void {
    let rest = bytes
    while (rest.length > 0) rest = this.#output ? this.#passOn(this.#output, rest) : this.#collect(rest)
  }

  #passOn(output: { id: number; stream: number; left: number }, bytes: Buffer): Buffer {
    const piece = bytes.subarray(0, output.left)
    output.left -= piece.length
    if (output.left === 0) this.#output = null
    if (piece.length > 0) this.#sink.output(output.id, output.stream, piece)
    return bytes.subarray(piece.length)
  }

  #collect(bytes: Buffer): Buffer {
    const previousSize = this.#pendingSize
    this.#pending.push(bytes)
    this.#pendingSize += bytes.length
    // The header, and for output also the stream number, must be complete first.
    if (this.#pendingSize < headSize) return nothing
    const start = previousSize < headSize + 1 ? this.#join() : this.#pending[0]!
    const length = start.readUInt32LE(0)
    const type = start.readUInt8(4)
    const id = start.readUInt32LE(5)
    if (length < headSize - 4 || length > maxFrame) throw new ProtocolError(`a frame of ${length} bytes`)
    if (type === fromAgent.output) return this.#beginOutput(start, length, id)
    const size = length + 4
    if (this.#pendingSize < size) return nothing
    const complete = this.#join()
    this.#drop()
    this.#sink.frame(type, id, new FrameReader(complete.subarray(headSize, size)))
    return complete.subarray(size)
  }

  #beginOutput(start: Buffer, length: number, id: number): Buffer {
    if (length < headSize - 3) throw new ProtocolError('output without the name of its stream')
    if (start.length <= headSize) return nothing
    const stream = start.readUInt8(headSize)
    if (stream !== 1 && stream !== 2) throw new ProtocolError(`output of a stream ${stream}`)
    this.#drop()
    this.#output = { id, stream, left: length - (headSize - 4) - 1 }
    if (this.#output.left === 0) this.#output = null
    return start.subarray(headSize + 1)
  }

  #join(): Buffer {
    if (this.#pending.length > 1) this.#pending = [Buffer.concat(this.#pending, this.#pendingSize)]
    return this.#pending[0]!
  }

  #drop(): void {
    this.#pending = []
    this.#pendingSize = 0
  }
}

const nothing = Buffer.alloc(0)
