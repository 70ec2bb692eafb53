/** A key of the content of a page, which changes when its text, links or images do. */
import { type ElementNode, isElement } from '../../tree.ts'
import { addText, hashText } from './hash.ts'

/** Returns the key, continued from that of the content before. */
export function contentKey({ tag, attributes, children }: ElementNode, before = hashText('')): number {
  let key = addText(before, tag)
  const { href, src } = attributes
  if (href !== undefined) key = addText(key, href)
  if (src !== undefined) key = addText(key, src)
  for (const child of children) key = isElement(child) ? contentKey(child, key) : addText(key, child.text)
  // Where an element ends matters, too.
  return addText(key, '/')
}
