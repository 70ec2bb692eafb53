/** Splits output into pieces that are text where possible; joined, they are the exact bytes. */
import { isUtf8 } from 'node:buffer'
import { limits } from '../../../core/limits/limits.ts'
import { asBuffer, type Encoding, incompleteTail, lengthOf } from './characters.ts'
import type { FrameLog } from './frame-log.ts'

export interface Piece {
  readonly data: string
  readonly encoding: Encoding
  /** Offset of its first byte in the stream. */
  readonly offset: number
}

const nothing = Buffer.alloc(0)

export class Pieces {
  #offset = 0
  #heldBack: Buffer = nothing
  /** Missing bytes of a character whose first bytes were flushed already. */
  #missing = 0

  /** Whether an incomplete character is held back. */
  get hasIncomplete(): boolean {
    return this.#heldBack.length > 0
  }

  /** Returns the pieces of a chunk; an incomplete character at its end is held back. */
  push(chunk: Uint8Array): Piece[] {
    if (this.#missing > 0 && chunk.length > 0) return this.#completeCharacter(asBuffer(chunk))
    const bytes = this.#heldBack.length > 0 ? Buffer.concat([this.#heldBack, chunk]) : asBuffer(chunk)
    const end = bytes.length - incompleteTail(bytes)
    // Copy it, to release the memory of the chunk.
    this.#heldBack = end < bytes.length ? Buffer.from(bytes.subarray(end)) : nothing
    return this.#split(bytes.subarray(0, end))
  }

  /** Returns the bytes held back. */
  flush(): Piece[] {
    const heldBack = this.#heldBack
    if (heldBack.length > 0) this.#missing = lengthOf(heldBack[0]!) - heldBack.length
    this.#heldBack = nothing
    return this.#split(heldBack)
  }

  /** Puts the rest of a flushed character into its own piece, so that the following bytes are text again. */
  #completeCharacter(bytes: Buffer): Piece[] {
    let rest = 0
    while (rest < this.#missing && rest < bytes.length && (bytes[rest]! & 0xc0) === 0x80) rest += 1
    // Any other byte means that the rest is missing.
    this.#missing = rest === bytes.length ? this.#missing - rest : 0
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

export type OutputType = 'stdout' | 'stderr' | 'pty'

/** Adds a stream of output to the frames of a log, at the pace of their readers; returns its number of bytes. */
export async function streamOutput(
  source: AsyncIterable<Uint8Array>,
  log: FrameLog,
  type: OutputType,
): Promise<number> {
  const pieces = new Pieces()
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  const addFrames = (found: ReturnType<Pieces['push']>) => {
    for (const piece of found) log.add(type, { ...piece }, piece.data.length)
  }
  try {
    for await (const chunk of source) {
      clearTimeout(timer)
      bytes += chunk.length
      addFrames(pieces.push(chunk))
      await log.room()
      // A program may write an incomplete character and then wait for input.
      if (pieces.hasIncomplete) timer = setTimeout(() => addFrames(pieces.flush()), limits.exec.tailMs)
    }
  } finally {
    clearTimeout(timer)
    addFrames(pieces.flush())
  }
  return bytes
}
