/** Queues the input of a program or file, limited by the credit of the agent. */
import { chunk, inputWindow } from './frames.ts'

export class InputQueue {
  readonly #send: (bytes: Uint8Array) => void
  readonly #finish: () => void
  #granted: number = inputWindow
  #closed = false
  #waiting: (() => void) | null = null
  /** Tail of the queue of writers. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(send: (bytes: Uint8Array) => void, finish: () => void) {
    this.#send = send
    this.#finish = finish
  }

  /** Resolves with true once everything is sent, or false when the input is closed. */
  write(data: Uint8Array): Promise<boolean> {
    return this.#enqueue(() => this.#write(data))
  }

  /** Ends the input after pending writes. */
  end(): void {
    void this.#enqueue(async () => {
      if (!this.#closed) this.#finish()
      this.#closed = true
    })
  }

  grant(bytes: number): void {
    this.#granted += bytes
    this.#wake()
  }

  /** Closes the input: it is no longer read. */
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

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn
    return turn
  }

  #wake(): void {
    this.#waiting?.()
    this.#waiting = null
  }
}
