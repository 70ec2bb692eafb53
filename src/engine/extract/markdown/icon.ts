/** Text alternatives of icons, which are drawings or empty elements with a label. */
import { attribute, childElements, type ElementNode, rawText, visibleText } from '../tree.ts'

const iconTags = /^(?:svg|i|span|em|b|div)$/

/** Returns the label of an element, such as that of a mark in a table; else ''. */
export function labelOf(element: ElementNode): string {
  const title = element.tag === 'svg' ? childElements(element).find(({ tag }) => tag === 'title') : undefined
  const label = attribute(element, 'aria-label') || (title ? rawText(title) : attribute(element, 'title'))
  return label.replaceAll(/\s+/g, ' ').trim()
}

/** Returns the label of an icon, which stands for text in a cell; undefined for other elements. */
export function iconLabel(element: ElementNode): string | undefined {
  const { attributes, tag } = element
  if (!iconTags.test(tag) || attributes['aria-hidden'] === 'true') return undefined
  if (tag !== 'svg' && (element.children.length > 3 || visibleText(element, 1) !== '')) return undefined
  return labelOf(element) || undefined
}
