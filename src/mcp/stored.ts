/** Images and documents of a connection, kept in memory so that clients can read them as resources. */
import { limits } from '../core/limits/limits.ts'

export interface StoredItem {
  readonly name: string
  readonly mimeType: string
  /** Base64. */
  readonly data: string
}

/** Keeps the newest items within the limits. */
export class StoredContent {
  readonly #items = new Map<string, StoredItem>()
  #count = 0
  #bytes = 0

  /** Stores an item; returns its URI. */
  add(kind: string, mimeType: string, data: string): string {
    this.#count += 1
    const name = `${kind}-${this.#count}.${mimeType.split('/')[1]}`
    const uri = `bax://stored/${name}`
    this.#items.set(uri, { name, mimeType, data })
    this.#bytes += data.length
    for (const [oldest, item] of this.#items) {
      if (this.#items.size <= limits.mcp.stored && this.#bytes <= limits.mcp.storedBytes) break
      if (oldest === uri) break
      this.#items.delete(oldest)
      this.#bytes -= item.data.length
    }
    return uri
  }

  get(uri: string): StoredItem | undefined {
    return this.#items.get(uri)
  }

  list(): { readonly uri: string; readonly name: string; readonly mimeType: string }[] {
    return [...this.#items].map(([uri, { name, mimeType }]) => ({ uri, name, mimeType }))
  }

  clear(): void {
    this.#items.clear()
    this.#bytes = 0
  }
}
