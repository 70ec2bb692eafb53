/** Gives every page of a mirror a path of its own, on file systems that do not tell `A` from `a` too. */
import { markOf, pathOf } from './page-path.ts'

export class Names {
  /** Folded path to the address that has it. */
  readonly #owners = new Map<string, string>()
  /** Folded paths that several pages wanted. */
  readonly #shared = new Set<string>()

  /** A path without ending for the page; one that is taken gets a mark of the address. */
  take(address: string): string {
    const plain = pathOf(address)
    const owner = this.#owners.get(folded(plain))
    if (owner === address) return plain
    if (owner === undefined) {
      this.#owners.set(folded(plain), address)
      return plain
    }
    this.#shared.add(folded(plain))
    return this.#marked(plain, address)
  }

  /**
   * The path that a page has when all are known: of pages that wanted the same one each gets its mark, so that names
   * do not depend on which came first.
   */
  final(address: string): string {
    const plain = pathOf(address)
    return this.#shared.has(folded(plain)) ? this.#marked(plain, address) : plain
  }

  /** With as much of the mark as makes it the page's own: a site can name a page like another one with its mark. */
  #marked(plain: string, address: string): string {
    for (let length = 8; ; length += 8) {
      const path = `${plain}-${markOf(address, length)}`
      const owner = this.#owners.get(folded(path))
      if (owner !== undefined && owner !== address) continue
      this.#owners.set(folded(path), address)
      return path
    }
  }
}

const folded = (path: string): string => path.toUpperCase().toLowerCase().normalize('NFC')
