/** Standard output with backpressure, which detects when its reader has closed it. */
import type { Writable } from 'node:stream'
import type { Io } from '../io.ts'

/** Thrown after the reader has closed standard output, as `| head` does. */
export class ReaderGone extends Error {}

export class Reader {
  readonly #io: Io
  #gone = false
  #wake = () => {}

  constructor(io: Io) {
    this.#io = io
    const stream = io.stdout as Partial<Writable>
    // A broken pipe is reported only once, by an event.
    const gone = () => {
      this.#gone = true
      this.#wake()
    }
    stream.on?.('error', gone)
    stream.on?.('close', gone)
    stream.on?.('drain', () => this.#wake())
  }

  /** Prints, and waits until the output has drained. @throws ReaderGone */
  async print(text: string): Promise<void> {
    this.#io.stdout.write(text)
    await this.drained()
  }

  /** Waits until the output has drained. @throws ReaderGone */
  async drained(): Promise<void> {
    const stream = this.#io.stdout as Partial<Writable>
    if (stream.writableNeedDrain && !this.#gone) await new Promise<void>((resolve) => (this.#wake = resolve))
    if (this.#gone) throw new ReaderGone('standard output is closed')
  }
}
