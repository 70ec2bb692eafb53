/** Outlines of pages: the keys of their blocks, as compact text that travels and is stored with a page. */
import type { Block } from '../blocks.ts'
import type { BlockKeys } from './block-keys.ts'

/** A path of elements, and the keys of the different texts at it. */
interface OutlinedPath {
  readonly path: number
  readonly texts: readonly number[]
}

/** What a crawl remembers of a page, to compare other pages and later versions with it. */
export interface PageTrace {
  readonly outline: string
  /** Key of the content as selected without knowledge about other pages. */
  readonly content: number
}

/** Maximum number of different blocks in an outline. */
const maxBlocks = 256

/**
 * Returns the outline of a page: a key of its content, then each path, the number of different texts at it, and their
 * keys. `kept` is the content as selected without knowledge about other pages.
 */
export function outlineOf({ paths, texts }: BlockKeys, kept: readonly Block[]): string {
  const byPath = new Map<number, Set<number>>()
  let left = maxBlocks
  for (let at = 0; at < paths.length && left > 0; at++) {
    let known = byPath.get(paths[at]!)
    if (!known) byPath.set(paths[at]!, (known = new Set()))
    const before = known.size
    if (known.add(texts[at]!).size > before) left--
  }
  let content = 0
  for (const { index } of kept) content = (content + texts[index]!) >>> 0
  const words = [content]
  for (const [path, known] of byPath) words.push(path, known.size, ...known)
  return encodeWords(words)
}

export function readOutline(outline: string): { readonly content: number; readonly paths: readonly OutlinedPath[] } {
  const words = decodeWords(outline)
  const paths: OutlinedPath[] = []
  for (let at = 1; at < words.length; at += 2 + words[at + 1]!)
    paths.push({ path: words[at]!, texts: [...words.subarray(at + 2, at + 2 + words[at + 1]!)] })
  return { content: words[0]!, paths }
}

export const encodeWords = (words: readonly number[]): string =>
  Buffer.from(Uint32Array.from(words).buffer).toString('base64')

export function decodeWords(text: string): Uint32Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(text, 'base64')
  return new Uint32Array(buffer.slice(byteOffset, byteOffset + byteLength))
}
