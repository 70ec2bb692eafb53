/** Whoever reads standard output: faster or slower than a site is crawled, or no more. */
import type { Writable } from 'node:stream'
import type { Io } from '../io.ts'

/** Nobody reads standard output any more, as after `| head`. */
export class ReaderGone extends Error {}

export class Reader {
  readonly #io: Io
  #gone = false
  #wake = () => {}

  constructor(io: Io) {
    this.#io = io
    const stream = io.stdout as Partial<Writable>
    // Node's own output forgets at once that its pipe is broken: what it says then has to be remembered.
    const gone = () => {
      this.#gone = true
      this.#wake()
    }
    stream.on?.('error', gone)
    stream.on?.('close', gone)
    stream.on?.('drain', () => this.#wake())
  }

  /** Prints, and waits until it has been taken. @throws ReaderGone when nobody takes it */
  async print(text: string): Promise<void> {
    this.#io.stdout.write(text)
    await this.caughtUp()
  }

  /** Waits until what was written has been taken. @throws ReaderGone when nobody takes it */
  async caughtUp(): Promise<void> {
    const stream = this.#io.stdout as Partial<Writable>
    if (stream.writableNeedDrain && !this.#gone) await new Promise<void>((resolve) => (this.#wake = resolve))
    if (this.#gone) throw new ReaderGone('standard output is closed')
  }
}
