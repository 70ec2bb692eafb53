/** Keys that identify blocks across the pages of a site: by their path of elements, and by path and text. */
import { classes, type ElementNode } from '../../tree.ts'
import type { Box, Segments } from '../blocks.ts'
import { combineHashes, hashText } from './hash.ts'

export interface BlockKeys {
  /** Per block: the key of its path, which blocks with the same role on pages of one template share. */
  readonly paths: Uint32Array
  /** Per block: the key of its path and text. */
  readonly texts: Uint32Array
}

/** Returns the keys of the blocks of a page; keys of different sites differ. */
export function keysOf({ blocks, boxes }: Segments, site: string): BlockKeys {
  const keys = new Map<Box, number>()
  const names = new Map<string, number>()
  const root = hashText(site)
  for (const box of boxes)
    keys.set(box, combineHashes(box.parent ? keys.get(box.parent)! : root, nameKeyOf(box.element, names)))
  const paths = new Uint32Array(blocks.length)
  const texts = new Uint32Array(blocks.length)
  for (const [at, { box, lead, linked, text }] of blocks.entries()) {
    const key = keys.get(box)!
    const path = linked && lead ? combineHashes(key, nameKeyOf(lead, names)) : key
    paths[at] = path
    texts[at] = hashText(text, path)
  }
  return { paths, texts }
}

/** Returns the key of the tag and classes of an element, without classes with digits, which may number pages. */
function nameKeyOf(element: ElementNode, known: Map<string, number>): number {
  const { tag, attributes } = element
  // The body of a page often has classes for the page itself.
  const name = attributes['class'] === undefined || tag === 'body' ? tag : `${tag} ${attributes['class']}`
  let key = known.get(name)
  if (key === undefined) {
    const stable = tag === 'body' ? [] : classes(element).filter((word) => /^\D+$/.test(word))
    known.set(name, (key = hashText([tag, ...stable].join(' '))))
  }
  return key
}
