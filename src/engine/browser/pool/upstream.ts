/** The connection to a browser that we have started: the router over its pipe. */
import type { Readable, Writable } from 'node:stream'
import { limits } from '../../../core/limits/limits.ts'
import { answeredId, messageExcess, tooLargeAnswer } from '../../cdp/message-size.ts'
import { CdpRouter, type CdpWire } from '../../cdp/router.ts'
import { Flood, sessionIn, tailBytes } from '../tabs/flood.ts'

export { type CdpMessage, Channel } from '../../cdp/router.ts'

export class Upstream extends CdpRouter {
  readonly #pipe: Pipe

  constructor(input: Writable, output: Readable) {
    const pipe = new Pipe(input, output)
    super(pipe)
    this.#pipe = pipe
    // A page that is ended so is told of as crashed; the question itself has no answer.
    pipe.onEndless = (sessionId) => this.post({ method: 'Page.crash', sessionId }, () => {})
  }

  /** When anything was received last, by `performance.now()`. */
  get heardAt(): number {
    return this.#pipe.heardAt
  }
}

const { messageBytes } = limits.cdp

/** Where the number of an answer stands: Chromium writes it first. */
const headBytes = 200

/**
 * Messages end with a NUL; one may come in several chunks and a chunk may hold several. How long one gets is for a page to
 * say: of one that is too long only the ends are kept.
 */
class Pipe implements CdpWire {
  readonly #input: Writable
  readonly #output: Readable
  readonly #flood = new Flood((sessionId) => this.onEndless(sessionId))
  onEndless: (sessionId: string) => void = () => {}
  heardAt = performance.now()
  #partial: Buffer[] = []
  #partialBytes = 0

  constructor(input: Writable, output: Readable) {
    this.#input = input
    this.#output = output
  }

  send(text: string): void {
    this.#input.write(`${text}\0`)
  }

  handle({ onMessage, onClose }: Parameters<CdpWire['handle']>[0]): void {
    this.#input.on('error', () => onClose())
    this.#output
      .on('data', (chunk: Buffer) => this.#read(chunk, onMessage))
      .on('error', () => onClose())
      .on('close', () => onClose())
      .on('end', () => onClose())
  }

  #read(chunk: Buffer, onMessage: (text: string) => void): void {
    this.heardAt = performance.now()
    let start = 0
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      this.#keep(chunk.subarray(start, end))
      start = end + 1
      const heard = this.#whole()
      if (heard !== undefined) onMessage(heard)
    }
    this.#keep(chunk.subarray(start))
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return
    this.#partial.push(piece)
    this.#partialBytes += piece.length
    if (this.#partialBytes > messageBytes) this.#partial = endsOf(this.#partial)
  }

  /** The message whose last piece has come; undefined when it is left out. */
  #whole(): string | undefined {
    const pieces = this.#partial
    const isTooLong = this.#partialBytes > messageBytes
    this.#partial = []
    this.#partialBytes = 0
    if (isTooLong) return this.#refuse(pieces[0]!, pieces[1]!, `larger than ${messageBytes / 1024 / 1024} MiB`)
    const message = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    const excess = messageExcess(message)
    return excess === undefined ? this.#flood.heard(message) : this.#refuse(message, message, excess)
  }

  /** In place of an answer, that it was too long; a page that says so much by itself is ended, as one that says it in pieces. */
  #refuse(head: Buffer, tail: Buffer, excess: string): string | undefined {
    const id = answeredId(head)
    return id === undefined ? void this.onEndless(sessionIn(tail)) : tooLargeAnswer(id, excess)
  }
}

/** The beginning and the end of what came in pieces, none of them empty; copies, so that nothing else is held. */
const endsOf = (pieces: readonly Buffer[]): Buffer[] => [
  Buffer.from(Buffer.concat(pieces.slice(0, headBytes)).subarray(0, headBytes)),
  Buffer.from(Buffer.concat(pieces.slice(-tailBytes)).subarray(-tailBytes)),
]
