/** Keys that identify blocks across the pages of a site: by their path of elements, and by path and text. */
import { detached } from '../../../../core/text/detached.ts'
import { classes, type ElementNode } from '../../tree.ts'
import type { Box, Segments } from '../blocks.ts'
import { combineHashes, hashText } from './hash.ts'

export interface BlockKeys {
  /** Per block: the key of its path, which blocks with the same role on pages of one template share. */
  readonly paths: Int32Array
  /** Per block: the key of its path and text. */
  readonly texts: Int32Array
}

/** Returns the keys of the blocks of a page; keys of different sites differ. */
export function keysOf({ blocks, boxes }: Segments, site: string): BlockKeys {
  const paths = new Int32Array(blocks.length)
  const visit = (box: Box, above: number): void => {
    const key = combineHashes(above, nameKeyOf(box.element))
    paths.fill(key, box.first, box.end)
    for (const inner of box.boxes) visit(inner, key)
  }
  if (boxes.length > 0) visit(boxes[0]!, hashText(site))
  const texts = new Int32Array(blocks.length)
  for (const [at, { lead, linked, text }] of blocks.entries()) {
    if (linked && lead) paths[at] = combineHashes(paths[at]!, nameKeyOf(lead))
    texts[at] = hashText(text, paths[at])
  }
  return { paths, texts }
}

/** Keys by the tag and classes of elements, of which most are on all pages of a site. */
const nameKeys = new Map<string, Map<string, number>>()
let nameCount = 0
const maxNames = 10_000
/** Maximum number of characters in remembered names. */
const maxLength = 200

/** Returns the key of the tag and classes of an element. */
function nameKeyOf(element: ElementNode): number {
  const { tag, attributes } = element
  // The root elements of a page often have classes for the page itself.
  const names = tag === 'html' || tag === 'body' ? '' : (attributes['class'] ?? '')
  const known = nameKeys.get(tag)?.get(names)
  if (known !== undefined) return known
  const key = newNameKey(element, names)
  if (tag.length + names.length <= maxLength) remember(tag, names, key)
  return key
}

/** Leaves out classes with digits, which may number pages. */
function newNameKey(element: ElementNode, names: string): number {
  const stable = names === '' ? [] : classes(element).filter((word) => !/\d/.test(word))
  return hashText([element.tag, ...stable].join(' '))
}

function remember(tag: string, names: string, key: number): void {
  if (++nameCount > maxNames) {
    nameKeys.clear()
    nameCount = 1
  }
  let keys = nameKeys.get(tag)
  if (!keys) nameKeys.set(detached(tag), (keys = new Map()))
  keys.set(detached(names), key)
}
