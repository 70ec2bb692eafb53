/** Identifies pages that are built from the same template. */
import { hashOf } from '../../../core/text/hash.ts'
import { attribute, childElements, type ElementNode, elementsOf, rawText } from '../../extract/tree.ts'

/** Number of body elements that define the layout; further ones are content. */
const layoutElements = 12

let last = { layout: '', template: '' }

/** Returns a hash of the scripts and the layout of a page; undefined without scripts, as such pages need no browser. */
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
  const elements = body ? childElements(body).slice(0, layoutElements) : []
  const layout = `${[...scripts].sort().join(' ')}|${elements.map(({ tag }) => tag).join(' ')}`
  // Consecutive pages of a crawl often have the same template.
  if (layout !== last.layout) last = { layout, template: hashOf(layout).toString(36) }
  return last.template
}
