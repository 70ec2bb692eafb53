/** The difference between two versions of a page. */
import { attribute, type ElementNode, isElement, isSilent, oneLine, visibleText } from '../../extract/tree.ts'

/** Maximum number of texts to search for in the whole text, in addition to exact matches. */
const maxSearches = 500

/** Returns the texts and link URLs that are in `after` but not in `before`, in document order. */
export function newTexts(before: ElementNode, after: ElementNode): string[] {
  const known = new Set(textsOf(before))
  const whole = normalized(visibleText(before))
  let searchesLeft = maxSearches
  return textsOf(after).filter((text) => !known.has(text) && !(searchesLeft-- > 0 && whole.includes(text)))
}

function textsOf(element: ElementNode): string[] {
  const texts: string[] = []
  const visit = (current: ElementNode): void => {
    if (isSilent(current)) return
    const href = current.tag === 'a' ? attribute(current, 'href') : ''
    if (href !== '' && !href.startsWith('#')) texts.push(href)
    for (const child of current.children) {
      if (isElement(child)) visit(child)
      else if (child.text.trim() !== '') texts.push(normalized(child.text))
    }
  }
  visit(element)
  return texts
}

const normalized = (text: string): string => oneLine(text).trim()
