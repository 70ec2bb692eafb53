/** Assigns a unique path to every page of a mirror, also on case-insensitive file systems. */
import { hashOf, pathOf } from './page-path.ts'

export class Names {
  /** URLs by their folded path. */
  readonly #owners = new Map<string, string>()
  /** Folded paths that several pages share. */
  readonly #shared = new Set<string>()

  /** Returns a path without extension for a page; a path that is taken gets a hash of the URL. */
  take(url: string): string {
    const plain = pathOf(url)
    const owner = this.#owners.get(folded(plain))
    if (owner === url) return plain
    if (owner === undefined) {
      this.#owners.set(folded(plain), url)
      return plain
    }
    this.#shared.add(folded(plain))
    return this.#withHash(plain, url)
  }

  /**
   * Returns the final path of a page, once all are known. Pages with the same path all get a hash, so that names do not
   * depend on their order.
   */
  final(url: string): string {
    const plain = pathOf(url)
    return this.#shared.has(folded(plain)) ? this.#withHash(plain, url) : plain
  }

  /** Appends as much of the hash as needed: a site may have a page whose name equals another one with its hash. */
  #withHash(plain: string, url: string): string {
    for (let length = 8; ; length += 8) {
      const path = `${plain}-${hashOf(url, length)}`
      const owner = this.#owners.get(folded(path))
      if (owner !== undefined && owner !== url) continue
      this.#owners.set(folded(path), url)
      return path
    }
  }
}

const folded = (path: string): string => path.toUpperCase().toLowerCase().normalize('NFC')
