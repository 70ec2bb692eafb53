/** Splits the running text of a page into passages, each with its heading. */
import { childElements, type ElementNode, isElement, isPhrasing, isSilent, visibleText } from '../tree.ts'

export interface Passage {
  /** The heading above. */
  readonly heading: string
  readonly text: string
}

const maxPassageLength = 5000

/** Whether an element is displayed on its own lines, or contains one that is. */
function isBlock(element: ElementNode): boolean {
  if (isSilent(element) || element.tag === 'br' || element.tag === 'img') return false
  return !isPhrasing(element) || childElements(element).some(isBlock)
}

/** Returns paragraphs and other innermost blocks in document order. */
export function passagesOf(root: ElementNode): Passage[] {
  const passages: Passage[] = []
  let heading = ''
  const add = (element: ElementNode) => {
    const text = visibleText(element, maxPassageLength)
    if (text !== '') passages.push({ heading, text })
  }
  const visit = (element: ElementNode): void => {
    if (isSilent(element) || /^(?:nav|footer)$/.test(element.tag)) return
    if (/^h[1-6]$/.test(element.tag)) {
      heading = visibleText(element, 200)
      return
    }
    const blocks = childElements(element).filter(isBlock)
    if (blocks.length === 0) return add(element)
    // Text between blocks is a separate passage.
    const loose = element.children.filter((child) => !isElement(child) || !isBlock(child))
    add({ tag: 'p', attributes: {}, children: loose })
    for (const child of blocks) visit(child)
  }
  visit(root)
  return passages
}
