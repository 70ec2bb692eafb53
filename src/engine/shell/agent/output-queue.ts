/** Queues bytes for one reader, and grants the sender more as it reads. */
import { outputWindow } from './frames.ts'

interface Sender {
  /** The reader has consumed this many bytes. */
  grant(bytes: number): void
  /** The reader discards the rest. */
  discard(): void
}

/** Granting after every piece would double the traffic of small pieces. */
const grantEvery = outputWindow / 4

export class OutputQueue implements AsyncIterable<Uint8Array> {
  readonly #sender: Sender
  readonly #pieces: Uint8Array[] = []
  #consumed = 0
  #ended = false
  #discarded = false
  #error: Error | null = null
  #waiting: (() => void) | null = null

  constructor(sender: Sender) {
    this.#sender = sender
  }

  push(piece: Uint8Array): void {
    if (this.#discarded) return
    this.#pieces.push(piece)
    this.#wake()
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  /** Rejects the reader after it has read what was received before. */
  fail(error: Error): void {
    if (this.#ended) return
    this.#error ??= error
    this.#wake()
  }

  /** Discards the rest and notifies the sender. */
  discard(): void {
    if (this.#discarded) return
    this.#discarded = true
    this.#pieces.length = 0
    if (!this.#ended && !this.#error) this.#sender.discard()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const piece = this.#pieces.shift()
        if (piece) {
          this.#count(piece.length)
          yield piece
        } else if (this.#ended) return
        else if (this.#error) throw this.#error
        else await new Promise<void>((resolve) => (this.#waiting = resolve))
      }
    } finally {
      this.discard()
    }
  }

  #count(bytes: number): void {
    this.#consumed += bytes
    if (this.#consumed < grantEvery || this.#ended) return
    this.#sender.grant(this.#consumed)
    this.#consumed = 0
  }

  #wake(): void {
    this.#waiting?.()
    this.#waiting = null
  }
}
