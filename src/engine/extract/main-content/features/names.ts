/** Names that authors give to elements. */
import type { ElementNode } from '../../tree.ts'
import { wordsOfName } from './text-measure.ts'

const longest = 300

/** Classes, id and role of an element as words. */
export function nameWordsOf(element: ElementNode): string[] {
  const { attributes } = element
  const name = `${attributes['class'] ?? ''} ${attributes['id'] ?? ''} ${attributes['role'] ?? ''} ${attributes['itemprop'] ?? ''}`
  return name.length < 5 ? [] : wordsOfName(name.length > longest ? name.slice(0, longest) : name)
}
