/** A set of texts that keeps eight bytes of each: which addresses are known already. */
import { createHash } from 'node:crypto'

/**
 * Texts are told apart by 53 bits of their hash: among a million of them the chance that any two are taken for one
 * is one in twenty thousand.
 */
export class SeenSet {
  readonly #hashes = new Set<number>()

  get size(): number {
    return this.#hashes.size
  }

  has(text: string): boolean {
    return this.#hashes.has(hashOf(text))
  }

  /** Whether it was not there before. */
  add(text: string): boolean {
    const before = this.#hashes.size
    this.#hashes.add(hashOf(text))
    return this.#hashes.size > before
  }
}

/** A whole number below 2^53, the same for the same text everywhere. */
export function hashOf(text: string): number {
  const bytes = createHash('sha1').update(text).digest()
  return bytes.readUInt32BE(0) * 0x20_0000 + (bytes.readUInt32BE(4) >>> 11)
}
