/** Bytes on their way to one reader, who grants the sender more as it reads. */
import { outputWindow } from './frames.ts'

interface Sender {
  /** The reader has taken this many bytes. */
  grant(bytes: number): void
  /** The reader wants no more. */
  discard(): void
}

/** Granting for every piece would double the traffic of small ones. */
const grantEvery = outputWindow / 4

export class OutputQueue implements AsyncIterable<Uint8Array> {
  readonly #sender: Sender
  readonly #pieces: Uint8Array[] = []
  #taken = 0
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

  /** What was received before is still read; then this is thrown. */
  fail(error: Error): void {
    if (this.#ended) return
    this.#error ??= error
    this.#wake()
  }

  /** Nobody will read: what comes is dropped, and the sender told. */
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
    this.#taken += bytes
    if (this.#taken < grantEvery || this.#ended) return
    this.#sender.grant(this.#taken)
    this.#taken = 0
  }

  #wake(): void {
    this.#waiting?.()
    this.#waiting = null
  }
}
