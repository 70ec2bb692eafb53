/** The connection to a browser that we have started: the router over its pipe. */
import type { Readable, Writable } from 'node:stream'
import { CdpRouter, type CdpWire } from '../cdp/router.ts'
import { Flood } from './flood.ts'

export { type CdpMessage, Channel } from '../cdp/router.ts'

export class Upstream extends CdpRouter {
  constructor(input: Writable, output: Readable) {
    const pipe = new Pipe(input, output)
    super(pipe)
    // A page that is ended so is told of as crashed; the question itself has no answer.
    pipe.onEndless = (sessionId) => this.post({ method: 'Page.crash', sessionId }, () => {})
  }
}

/** Messages end with a NUL; one may come in several chunks and a chunk may hold several. */
class Pipe implements CdpWire {
  readonly #input: Writable
  readonly #output: Readable
  readonly #flood = new Flood((sessionId) => this.onEndless(sessionId))
  onEndless: (sessionId: string) => void = () => {}
  #partial: Buffer[] = []

  constructor(input: Writable, output: Readable) {
    this.#input = input
    this.#output = output
  }

  send(text: string): void {
    this.#input.write(`${text}\0`)
  }

  handle({ onMessage, onClose }: Parameters<CdpWire['handle']>[0]): void {
    this.#input.on('error', onClose)
    this.#output
      .on('data', (chunk: Buffer) => this.#read(chunk, onMessage))
      .on('error', onClose)
      .on('close', onClose)
      .on('end', onClose)
  }

  #read(chunk: Buffer, onMessage: (text: string) => void): void {
    let start = 0
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      const last = chunk.subarray(start, end)
      const whole = this.#partial.length > 0 ? Buffer.concat([...this.#partial, last]) : last
      this.#partial = []
      start = end + 1
      const heard = this.#flood.heard(whole)
      if (heard !== undefined) onMessage(heard)
    }
    if (start < chunk.length) this.#partial.push(chunk.subarray(start))
  }
}
