/** Connection to a launched browser: a CDP router over its pipe. */
import type { Readable, Writable } from 'node:stream'
import { limits } from '../../../core/limits/limits.ts'
import { answeredId, messageExcess, tooLargeAnswer } from '../../cdp/message-size.ts'
import { CdpRouter, type CdpWire } from '../../cdp/router.ts'
import { OutputLimit, sessionIn, tailBytes } from './output-limit.ts'

export { type CdpMessage, Channel } from '../../cdp/router.ts'

export class Upstream extends CdpRouter {
  readonly #pipe: Pipe

  constructor(input: Writable, output: Readable) {
    const pipe = new Pipe(input, output)
    super(pipe)
    this.#pipe = pipe
    // The crash of the page is reported as an event; the call itself gets no response.
    pipe.onEndless = (sessionId) => this.post({ method: 'Page.crash', sessionId }, () => {})
  }

  /** When anything was last received, by `performance.now()`. */
  get lastReceivedAt(): number {
    return this.#pipe.receivedAt
  }
}

const { messageBytes, messagesPerTurn } = limits.cdp

/** Bytes at the start of a message that contain its ID, which Chromium writes first. */
const headBytes = 200
/** Start of the event with the answer of a tool of a page. */
const toolAnswer = '{"method":"WebMCP.toolResponded"'

/**
 * Splits the pipe into messages, which end with a NUL and may span chunks. A page controls the length of its messages,
 * so only the ends of oversized ones are kept.
 */
class Pipe implements CdpWire {
  readonly #input: Writable
  readonly #output: Readable
  readonly #flood = new OutputLimit({
    onEndless: (sessionId) => this.onEndless(sessionId),
    onNotice: (text) => this.#onMessage(text),
  })
  onEndless: (sessionId: string) => void = () => {}
  receivedAt = performance.now()
  #partial: Buffer[] = []
  #partialBytes = 0
  #onMessage: (text: string) => void = () => {}
  #isDelivering = false
  /** Complete messages that were not delivered yet. */
  #ready: string[] = []

  constructor(input: Writable, output: Readable) {
    this.#input = input
    this.#output = output
  }

  /** Sends all messages of a tick in one write: each write wakes the browser, which costs more than the message. */
  send(text: string): void {
    if (!this.#input.writableCorked) {
      this.#input.cork()
      process.nextTick(() => this.#input.uncork())
    }
    this.#input.write(`${text}\0`)
  }

  handle({ onMessage, onClose }: Parameters<CdpWire['handle']>[0]): void {
    this.#onMessage = onMessage
    const close = () => {
      // Deliver the messages that arrived before the end.
      for (const text of this.#ready.splice(0)) onMessage(text)
      onClose()
    }
    this.#input.on('error', close)
    this.#output
      .on('data', (chunk: Buffer) => this.#read(chunk))
      .on('error', close)
      .on('close', close)
      .on('end', close)
  }

  #read(chunk: Buffer): void {
    this.receivedAt = performance.now()
    let start = 0
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      this.#keep(chunk.subarray(start, end))
      start = end + 1
      const text = this.#takeMessage()
      if (text !== undefined) this.#ready.push(text)
    }
    this.#keep(chunk.subarray(start))
    if (!this.#isDelivering) this.#deliver()
  }

  /**
   * Delivers a part of the messages, and the rest in later turns of the event loop, so that a browser with many messages
   * leaves time for others. It is not read meanwhile.
   */
  #deliver(): void {
    try {
      for (const text of this.#ready.splice(0, messagesPerTurn)) this.#onMessage(text)
    } finally {
      this.#continueLater()
    }
  }

  #continueLater(): void {
    const wasDelivering = this.#isDelivering
    this.#isDelivering = this.#ready.length > 0
    if (this.#isDelivering) setImmediate(() => this.#deliver())
    if (this.#isDelivering === wasDelivering) return
    if (this.#isDelivering) this.#output.pause()
    else this.#output.resume()
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return
    this.#partial.push(piece)
    this.#partialBytes += piece.length
    if (this.#partialBytes > messageBytes) this.#partial = endsOf(this.#partial)
  }

  /** Returns the complete message; undefined when it is dropped. */
  #takeMessage(): string | undefined {
    const pieces = this.#partial
    const isTooLong = this.#partialBytes > messageBytes
    this.#partial = []
    this.#partialBytes = 0
    if (isTooLong) return this.#refuse(pieces[0]!, pieces[1]!, `larger than ${messageBytes / 1024 / 1024} MiB`)
    const message = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    const excess = messageExcess(message)
    return excess === undefined ? this.#flood.filter(message) : this.#refuse(message, message, excess)
  }

  /**
   * Replaces an oversized response by an error; ends a page that sends an oversized event. An oversized answer of a tool
   * is dropped, since it was asked for: the response of the call has a part of it.
   */
  #refuse(head: Buffer, tail: Buffer, excess: string): string | undefined {
    const id = answeredId(head)
    if (id !== undefined) return tooLargeAnswer(id, excess)
    if (String(head.subarray(0, toolAnswer.length)) !== toolAnswer) this.onEndless(sessionIn(tail))
    return undefined
  }
}

/** Copies the beginning and the end of non-empty pieces, so that the rest can be garbage collected. */
const endsOf = (pieces: readonly Buffer[]): Buffer[] => [
  Buffer.from(Buffer.concat(pieces.slice(0, headBytes)).subarray(0, headBytes)),
  Buffer.from(Buffer.concat(pieces.slice(-tailBytes)).subarray(-tailBytes)),
]
