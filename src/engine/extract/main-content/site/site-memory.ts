/** Learns which texts repeat across the pages of a site, from the outlines of its pages. */
import { decodeWords, encodeWords, readOutline } from './outline.ts'

/** Minimum number of pages with a text. */
export const minPages = 5
/** Their minimum share of the pages with the path of the text: a text that other pages replace is content. */
const minShare = 0.9

/** Maximum numbers of paths and texts to count, and of texts in a summary. */
const maxCounted = 50_000
const maxRepeated = 2000

/** The texts that repeat, as stored and sent text; empty when nothing is known. */
export type SiteSummary = string

interface Count {
  pages: number
  readonly path: Path
}

/** A path of elements. */
interface Path {
  /** Number of pages with it. */
  pages: number
}

export class SiteMemory {
  #paths = new Map<number, Path>()
  /** Number of pages with a text, by its key. */
  #texts = new Map<number, Count>()
  /** Keys of the content of pages: a page at several URLs counts once. */
  #contents = new Set<number>()

  /** Counts the blocks of a page, unless a page with the same content was counted. */
  learn(outline: string): void {
    const { content, paths } = readOutline(outline)
    if (this.#contents.has(content)) return
    if (content !== 0) this.#contents.add(content)
    for (const { path: key, texts } of paths) {
      let path = this.#paths.get(key)
      if (!path) this.#paths.set(key, (path = { pages: 0 }))
      path.pages++
      for (const text of texts) {
        const count = this.#texts.get(text)
        if (count) count.pages++
        else this.#texts.set(text, { pages: 1, path })
      }
    }
  }

  /** Returns the texts that repeat so far. */
  summary(): SiteSummary {
    const repeated = [...this.#texts]
      .filter(([, { pages, path }]) => pages >= minPages && pages >= minShare * path.pages)
      .sort(([a, one], [b, other]) => other.pages - one.pages || a - b)
      .slice(0, maxRepeated)
    this.#limit()
    return encodeWords(repeated.map(([text]) => text))
  }

  /** Forgets the rarest texts of a large site, and then the paths without texts. */
  #limit(): void {
    for (let least = 2; this.#texts.size > maxCounted; least++)
      for (const [key, { pages }] of this.#texts) if (pages < least) this.#texts.delete(key)
    if (this.#paths.size > maxCounted) {
      const used = new Set([...this.#texts.values()].map(({ path }) => path))
      this.#paths = new Map([...this.#paths].filter(([, path]) => used.has(path)))
    }
    if (this.#contents.size > maxCounted) this.#contents = new Set()
  }
}

/** Returns whether the content of a page may be another one with this knowledge about other pages. */
export function mayChange(outline: string, summary: SiteSummary): boolean {
  const repeated = repeatedTexts(summary)
  if (repeated.size === 0) return false
  return readOutline(outline).paths.some(({ isKept, texts }) => isKept && texts.some((text) => repeated.has(text)))
}

let latest: { readonly summary: SiteSummary; readonly texts: ReadonlySet<number> } | undefined

/** Returns the keys of the repeated texts. Successive pages mostly have the same summary. */
export function repeatedTexts(summary: SiteSummary): ReadonlySet<number> {
  if (latest?.summary !== summary) latest = { summary, texts: new Set(decodeWords(summary)) }
  return latest.texts
}
