/** Recognizes links that are not part of the text: from a heading to itself, from a signature to its source code. */
import { childElements, type ElementNode, hasClass, isElement, visibleText } from '../tree.ts'

/** Text that only screen readers read out, such as that of a link to the heading next to it. */
export const unseen = /^(?:sr-only|visually-?hidden|screen-reader-(?:text|only))$/i

/** Whether the text of a link is only for screen readers: "Link to this section". */
const isUnseen = (link: ElementNode): boolean =>
  link.children.every((child) =>
    isElement(child) ? hasClass(child, unseen) || isUnseen(child) : child.text.trim() === '',
  )

const notAnchorText = /[^#¶§🔗\s\u200b\ufeff]/u
const anchorClass = /(?:^|[-_])(?:anchor|hash-?link|header-?link|heading-?link|permalink)(?:[-_]|$)/i

/** Whether a link, which may be in a heading, only shows that its target can be linked. */
export function isAnchor(link: ElementNode, inHeading: boolean): boolean {
  if (!link.attributes['href']?.includes('#')) return false
  if (!notAnchorText.test(visibleText(link, 8)) && (inHeading || hasClass(link, anchorClass))) {
    if (inHeading || !childElements(link).some(({ tag }) => tag === 'img')) return true
  }
  return inHeading && isUnseen(link)
}

/** URL of lines of a file, or of the page of a file that documentation tools generate. */
const source = /#(?:l|line-?)?\d+(?:-l?\d+)?$|(?:^|\/)_modules\/|(?:^|\/)src\/[^?]*\.html/i
const sourceLabel = /^(?:(?:view |show )?(?:source|src)(?: code)?|\[(?:source|src)\])$/i
const sourceClass = /^(?:.+-)?(?:src|source)(?:-?link)?$/i
/** Length from which a text is no such label, in characters. */
const longLabel = 20

/** Whether a link, which may be in a heading, leads from a signature to its source code; sentences may have such links. */
export function isSourceLink(link: ElementNode, inHeading: boolean): boolean {
  if (!source.test(link.attributes['href'] ?? '')) return false
  const label = visibleText(link, longLabel)
  return sourceLabel.test(label) && (inHeading || label.startsWith('[') || hasClass(link, sourceClass))
}
