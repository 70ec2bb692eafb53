/** A set of texts that keeps eight bytes of each: which addresses are known already. */
import { hashOf } from '../../../core/text/hash.ts'

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
