/** Output as it comes, in pieces that are text where they can be; joined they are the exact bytes. */
import { isUtf8 } from 'node:buffer'
import { limits } from '../../../core/limits/limits.ts'
import { asBuffer, type Encoding, incompleteTail, lengthOf } from './characters.ts'

export interface Piece {
  readonly data: string
  readonly encoding: Encoding
  /** Place of its first byte in the stream. */
  readonly offset: number
}

const nothing = Buffer.alloc(0)

export class Pieces {
  #offset = 0
  #tail: Buffer = nothing
  /** Bytes that are still to come of a character whose beginning was not held back any longer. */
  #owed = 0

  /** Whether the beginning of a character waits for its rest. */
  get holds(): boolean {
    return this.#tail.length > 0
  }

  /** The pieces of what has come; the beginning of a character at the end is held back. */
  push(chunk: Uint8Array): Piece[] {
    if (this.#owed > 0 && chunk.length > 0) return this.#settle(asBuffer(chunk))
    const bytes = this.#tail.length > 0 ? Buffer.concat([this.#tail, chunk]) : asBuffer(chunk)
    const end = bytes.length - incompleteTail(bytes)
    // A copy: the rest of the chunk need not stay in memory for it.
    this.#tail = end < bytes.length ? Buffer.from(bytes.subarray(end)) : nothing
    return this.#split(bytes.subarray(0, end))
  }

  /** What was held back, as it is. */
  flush(): Piece[] {
    const tail = this.#tail
    if (tail.length > 0) this.#owed = lengthOf(tail[0]!) - tail.length
    this.#tail = nothing
    return this.#split(tail)
  }

  /** The rest of such a character is a piece of its own: what follows it is text again. */
  #settle(bytes: Buffer): Piece[] {
    let rest = 0
    while (rest < this.#owed && rest < bytes.length && (bytes[rest]! & 0xc0) === 0x80) rest += 1
    // Anything else than its rest says that there will be none.
    this.#owed = rest === bytes.length ? this.#owed - rest : 0
    return [...this.#split(bytes.subarray(0, rest)), ...(rest < bytes.length ? this.push(bytes.subarray(rest)) : [])]
  }

  #split(bytes: Buffer): Piece[] {
    const pieces: Piece[] = []
    for (let from = 0; from < bytes.length;) {
      let part = bytes.subarray(from, from + limits.exec.chunkBytes)
      if (from + part.length < bytes.length) part = part.subarray(0, part.length - incompleteTail(part))
      const encoding = isUtf8(part) ? 'utf8' : 'base64'
      pieces.push({ data: part.toString(encoding), encoding, offset: this.#offset })
      this.#offset += part.length
      from += part.length
    }
    return pieces
  }
}
