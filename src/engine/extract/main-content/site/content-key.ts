/** A key of the content of a page, which changes when its text, links or images do. */
import { type ElementNode, isElement } from '../../tree.ts'
import { combineHashes, hashText } from './hash.ts'

export function contentKey(element: ElementNode): number {
  const { tag, attributes, children } = element
  let key = hashText(`${tag} ${attributes['href'] ?? ''} ${attributes['src'] ?? ''}`)
  for (const child of children) key = combineHashes(key, isElement(child) ? contentKey(child) : hashText(child.text))
  return key
}
