/** Text alternatives of icons, which are drawings or empty elements with a label. */
import { attribute, childElements, type ElementNode, rawText, visibleText } from '../tree.ts'

const iconTags = /^(?:svg|i|span|em|b|div)$/

/** Returns the label of an element, such as that of a mark in a table; else ''. */
export function labelOf(element: ElementNode): string {
  const title = element.tag === 'svg' ? childElements(element).find(({ tag }) => tag === 'title') : undefined
  const label = attribute(element, 'aria-label') || (title ? rawText(title) : attribute(element, 'title'))
  return label.replaceAll(/\s+/g, ' ').trim()
}

/**
 * Returns the label of an icon; undefined for other elements. Outside of tables, where icons stand for text, only images
 * by their role have one.
 */
export function iconLabel(element: ElementNode, isInCell: boolean): string | undefined {
  const { attributes, tag } = element
  if (!iconTags.test(tag) || attributes['aria-hidden'] === 'true') return undefined
  if (!isInCell && attributes['role'] !== 'img') return undefined
  if (tag !== 'svg' && (element.children.length > 3 || visibleText(element, 1) !== '')) return undefined
  return labelOf(element) || undefined
}
