/** A cache of facts about short texts that occur repeatedly, on one page or on several. */
import { detached } from '../../../../core/text/detached.ts'
import { hashOf } from './lexicon.ts'

/** Maximum number of texts to remember. */
const maxKnown = 2000

export class Repeated<Facts> {
  readonly #create: (text: string) => Facts
  readonly #maxLength: number
  readonly #known = new Map<string, Facts>()
  /** Hashes of recent texts: only those seen again are remembered. */
  readonly #seen = new Uint32Array(4096)

  /** Remembers texts of up to `maxLength` characters. */
  constructor(create: (text: string) => Facts, maxLength: number) {
    this.#create = create
    this.#maxLength = maxLength
  }

  /** Returns the facts of a text. */
  of(text: string): Facts {
    if (text.length > this.#maxLength) return this.#create(text)
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const hash = hashOf(text)
    const slot = hash % this.#seen.length
    if (this.#seen[slot] !== hash) {
      this.#seen[slot] = hash
      return this.#create(text)
    }
    if (this.#known.size >= maxKnown) this.#known.clear()
    const copy = detached(text)
    const facts = this.#create(copy)
    this.#known.set(copy, facts)
    return facts
  }
}
