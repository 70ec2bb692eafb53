/** Text alternatives of icons, which are drawings, empty elements with a label, or letters of an icon font. */
import {
  attribute,
  childElements,
  type ElementNode,
  findElement,
  hasClass,
  hasText,
  rawText,
  visibleText,
} from '../tree.ts'
import { squeeze } from '../../../core/text/pieces.ts'

/** Elements that show icons; custom elements have a hyphen. */
const iconTags = /^(?:svg|i|span|em|b|div|[a-z][a-z\d]*-[a-z\d-]+)$/
/** Maximum length of the name of an icon, in characters. */
const maxLigature = 40
/** The name of a symbol that an icon font draws. */
const ligature = /^[a-z][a-z\d_]*$/
/** Icons that stand for the title of a note. */
const noteIcon = /^icon-(?:note|tip|important|caution|warning)$/

/** Returns the label of an element, such as that of a mark in a table; else ''. */
function labelOf(element: ElementNode): string {
  const title = element.tag === 'svg' ? childElements(element).find(({ tag }) => tag === 'title') : undefined
  const label = attribute(element, 'aria-label') || (title ? rawText(title) : attribute(element, 'title'))
  return squeeze(label)
}

/** Returns the label of a cell without text: its own, or that of the first element in it, such as a button; else ''. */
export function cellLabel(cell: ElementNode): string {
  const own = labelOf(cell)
  if (own !== '') return own
  const labelled = findElement(
    cell,
    (inner) => attribute(inner, 'aria-label') !== '' && !isHidden(inner),
    (inner) => !isHidden(inner),
  )
  return labelled ? labelOf(labelled) : ''
}

const isHidden = ({ attributes }: ElementNode): boolean =>
  attributes['hidden'] !== undefined || attributes['aria-hidden'] === 'true'

/** Returns the label of an icon, which stands for text in a cell; undefined for other elements. */
export function iconLabel(element: ElementNode): string | undefined {
  const { attributes, tag } = element
  if (!iconTags.test(tag) || isHidden(element)) return undefined
  if (tag === 'svg') return labelOf(element) || undefined
  if (element.children.length > 3) return undefined
  // Readers announce the label of an image instead of its content. Emoji stay.
  const isLigature = attributes['role'] === 'img' && ligature.test(visibleText(element, maxLigature))
  return !hasText(element) || isLigature ? labelOf(element) || undefined : undefined
}

/** Returns the title of the note that an icon stands for; undefined for other elements. */
export const noteLabel = (element: ElementNode): string | undefined =>
  hasClass(element, noteIcon) && !hasText(element) ? labelOf(element) || undefined : undefined
