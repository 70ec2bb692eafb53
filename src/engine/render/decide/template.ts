/** What pages that are made alike have in common. */
import { hashOf } from '../../../core/text/hash.ts'
import { attribute, childElements, type ElementNode, elementsOf, rawText } from '../../extract/tree.ts'

/** Elements of the body that say how a page is laid out; further ones are its content. */
const layout = 12

/** A name for the scripts and the layout of a page, on whatever level; undefined for one without scripts, which is what it is. */
export function templateOf(root: ElementNode): string | undefined {
  const scripts = new Set<string>()
  let body: ElementNode | undefined
  for (const element of elementsOf(root)) {
    if (element.tag === 'body') body ??= element
    if (element.tag !== 'script' || /json/.test(attribute(element, 'type'))) continue
    const source = attribute(element, 'src')
      .replace(/[?#].*$/, '')
      .replace(/^(?:\.{1,2}\/)+/, '')
    if (source !== '' || rawText(element).trim() !== '') scripts.add(source || 'inline')
  }
  if (scripts.size === 0) return undefined
  const parts = body
    ? childElements(body)
        .slice(0, layout)
        .map(({ tag }) => tag)
    : []
  return hashOf(`${[...scripts].sort().join(' ')}|${parts.join(' ')}`).toString(36)
}
