/** Bytes to a program's input or a file, as many at once as the agent has granted. */
import { chunk, inputWindow } from './frames.ts'

export class InputQueue {
  readonly #send: (bytes: Uint8Array) => void
  readonly #finish: () => void
  #granted: number = inputWindow
  #closed = false
  #waiting: (() => void) | null = null
  /** Writers take turns. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(send: (bytes: Uint8Array) => void, finish: () => void) {
    this.#send = send
    this.#finish = finish
  }

  /** True when all is on its way, false when nobody takes it any more. */
  write(data: Uint8Array): Promise<boolean> {
    return this.#inTurn(() => this.#write(data))
  }

  /** Ends the input, after what is being written. */
  end(): void {
    void this.#inTurn(async () => {
      if (!this.#closed) this.#finish()
      this.#closed = true
    })
  }

  grant(bytes: number): void {
    this.#granted += bytes
    this.#wake()
  }

  /** Nobody takes any more. */
  close(): void {
    this.#closed = true
    this.#wake()
  }

  async #write(data: Uint8Array): Promise<boolean> {
    for (let at = 0; at < data.length;) {
      if (this.#closed) return false
      const size = Math.min(chunk, this.#granted, data.length - at)
      if (size <= 0) {
        await new Promise<void>((resolve) => (this.#waiting = resolve))
        continue
      }
      this.#granted -= size
      this.#send(data.subarray(at, at + size))
      at += size
    }
    return !this.#closed
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn
    return turn
  }

  #wake(): void {
    this.#waiting?.()
    this.#waiting = null
  }
}
