/** What a browser shows of a page that was not in its HTML. */
import { attribute, type ElementNode, isElement, isSilent, oneLine, visibleText } from '../../extract/tree.ts'

/** Texts looked for in the whole of the HTML's text, beside those that are found as they stand. */
const mostSearches = 500

/** Texts and addresses of links that are in `after` and not in `before`, in document order. */
export function newTexts(before: ElementNode, after: ElementNode): string[] {
  const known = new Set(textsOf(before))
  const whole = plain(visibleText(before))
  let left = mostSearches
  return textsOf(after).filter((text) => !known.has(text) && !(left-- > 0 && whole.includes(text)))
}

function textsOf(element: ElementNode): string[] {
  const texts: string[] = []
  const visit = (current: ElementNode): void => {
    if (isSilent(current)) return
    const address = current.tag === 'a' ? attribute(current, 'href') : ''
    if (address !== '' && !address.startsWith('#')) texts.push(address)
    for (const child of current.children) {
      if (isElement(child)) visit(child)
      else if (child.text.trim() !== '') texts.push(plain(child.text))
    }
  }
  visit(element)
  return texts
}

const plain = (text: string): string => oneLine(text).trim()
