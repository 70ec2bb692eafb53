/** Outlines of pages: the keys of their blocks, as compact text that travels and is stored with a page. */
import type { Block } from '../blocks.ts'
import type { BlockKeys } from './block-keys.ts'

/** A path of elements, and the keys of the different texts at it. */
interface OutlinedPath {
  readonly path: number
  /** Whether content has this path. */
  readonly isKept: boolean
  readonly texts: Int32Array
}

/** Outline and content key of a page, to compare other pages and later versions with it. */
export interface PageTrace {
  readonly outline: string
  /** Key of the Markdown of the content as selected without knowledge about other pages. */
  readonly content: number
}

/** Maximum number of blocks in an outline, half of them from the end of the page. */
const maxBlocks = 256

/**
 * Returns the outline of a page: a key of its content, then each path, twice the number of different texts at it (plus
 * one if it has content), and their keys. `kept` is the content as selected without knowledge about other pages.
 */
export function outlineOf({ paths, texts }: BlockKeys, kept: readonly Block[]): string {
  const byPath = new Map<number, Set<number>>()
  for (let at = 0; at < paths.length; at++) {
    if (at === maxBlocks / 2) at = Math.max(at, paths.length - maxBlocks / 2)
    const known = byPath.get(paths[at]!)
    if (known) known.add(texts[at]!)
    else byPath.set(paths[at]!, new Set([texts[at]!]))
  }
  let content = 0
  const keptPaths = new Set<number>()
  for (const { index } of kept) {
    content = (content + texts[index]!) | 0
    keptPaths.add(paths[index]!)
  }
  const words = [content]
  for (const [path, known] of byPath) words.push(path, known.size * 2 + (keptPaths.has(path) ? 1 : 0), ...known)
  return encodeWords(words)
}

export function readOutline(outline: string): { readonly content: number; readonly paths: readonly OutlinedPath[] } {
  const words = decodeWords(outline)
  const paths: OutlinedPath[] = []
  for (let at = 1; at < words.length;) {
    const count = words[at + 1]!
    const end = at + 2 + (count >> 1)
    paths.push({ path: words[at]!, isKept: count % 2 === 1, texts: words.subarray(at + 2, end) })
    at = end
  }
  return { content: words[0]!, paths }
}

export const encodeWords = (words: readonly number[]): string =>
  Buffer.from(new Int32Array(words).buffer).toString('base64')

export function decodeWords(text: string): Int32Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(text, 'base64')
  return new Int32Array(buffer.slice(byteOffset, byteOffset + byteLength))
}
