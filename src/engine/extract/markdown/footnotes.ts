/** Finds footnotes: notes at the end of a text, and the links that refer to them. */
import { decodeUrlPart } from '../../../core/net/urls.ts'
import { childElements, type ElementNode, elementsOf, findElement, hasClass, isElement, visibleText } from '../tree.ts'

const noteList = /^(?:footnotes?(?:-list|_list)?|endnotes?|references|reflist|footnote-definitions?)$/i
const backText = /^(?:\s|↩|↑|\^|⤴|⏎|↵|\u{fe0e}|\u200b)*$/u

export type Footnotes = ReturnType<typeof findFootnotes>

/** Finds notes in lists of notes that a link in the text refers to. */
export function findFootnotes(root: ElementNode) {
  const notes = collectNotes(root)
  const labels = new Map<string, string>()
  const inNotes = new Set<ElementNode>()
  for (const item of notes.values()) for (const inside of elementsOf(item)) inNotes.add(inside)
  const target = (link: ElementNode): string | undefined => {
    const href = link.attributes['href']
    const at = href?.indexOf('#') ?? -1
    if (at < 0 || inNotes.has(link)) return undefined
    const id = decodeUrlPart(href!.slice(at + 1))
    return notes.has(id) ? id : undefined
  }
  if (notes.size > 0) {
    for (const element of elementsOf(root)) {
      if (element.tag !== 'a') continue
      const id = target(element)
      if (id !== undefined && !labels.has(id) && isMark(element)) labels.set(id, String(labels.size + 1))
    }
  }
  const items = new Map([...notes].map(([id, item]) => [item, labels.get(id)]))
  return {
    /** Returns `[^1]` when the link refers to a footnote. */
    reference(link: ElementNode): string | undefined {
      const id = target(link)
      const label = id === undefined || !isMark(link) ? undefined : labels.get(id)
      return label && `[^${label}]`
    },
    /** Returns `[^1]: ` when the list item is a footnote. */
    definition(item: ElementNode): string | undefined {
      const label = items.get(item)
      return label && `[^${label}]: `
    },
    /** Whether the link leads from a footnote back to its reference. */
    isBackLink: (link: ElementNode): boolean => inNotes.has(link) && isBack(link),
  }
}

const isList = (element: ElementNode): boolean =>
  hasClass(element, noteList) ||
  element.attributes['data-footnotes'] !== undefined ||
  (element.attributes['role'] !== undefined && /^doc-(?:endnotes|footnotes?)$/.test(element.attributes['role']))

/** Returns the elements that match and are not inside another match, in document order. */
function outermost(
  element: ElementNode,
  matches: (element: ElementNode) => boolean,
  found: ElementNode[] = [],
): ElementNode[] {
  if (matches(element)) found.push(element)
  else for (const child of element.children) if (isElement(child)) outermost(child, matches, found)
  return found
}

/** Returns the items of lists of notes, by their id. */
function collectNotes(root: ElementNode): Map<string, ElementNode> {
  const notes = new Map<string, ElementNode>()
  for (const list of outermost(root, isList)) {
    for (const item of elementsOf(list, (element) => element.tag !== 'li')) {
      if (item.tag !== 'li') continue
      const id = item.attributes['id'] ?? findElement(item, ({ attributes }) => attributes['id'] !== undefined)?.attributes['id'] // prettier-ignore
      if (id !== undefined && !notes.has(id)) notes.set(id, item)
    }
  }
  return notes
}

/** Whether the text of a link is short enough for a footnote reference: `1`, `[2]`, `a`, `*`. */
function isMark(link: ElementNode): boolean {
  return /^\[?\s*(?:\d{1,4}|[a-z]{1,2}|[*†‡§¹²³⁴-⁹]|note \d{1,3})\s*\]?$/iu.test(visibleText(link, 16))
}

function isBack(link: ElementNode): boolean {
  if (!link.attributes['href']?.includes('#')) return false
  if (hasClass(link, /back-?ref|backlink|footnote-back|reversefootnote/i)) return true
  const hasImage = childElements(link).some((child) => isElement(child) && child.tag === 'img')
  return !hasImage && backText.test(visibleText(link, 8))
}
