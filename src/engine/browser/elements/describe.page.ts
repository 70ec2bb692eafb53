/** Runs in the page: describes elements for messages, and searches them. */
import { isHtml, isShadowRoot } from './node-kinds.page.ts'

/** Returns a description such as `button#buy.primary "Buy now"`. */
export function elementName(element: Element): string {
  // Not `element.id`: a form with a field named "id" returns that field.
  const written = element.getAttribute('id')
  const id = written ? `#${written}` : ''
  const classes = [...element.classList]
    .slice(0, 3)
    .map((name) => `.${name}`)
    .join('')
  const text = shortText(element, 40)
  return `${element.localName}${id}${classes}${text ? ` ${JSON.stringify(text)}` : ''}`
}

/** Returns the visible text in one line, truncated to a length. */
export function shortText(element: Element, length: number): string {
  const raw = isHtml(element) ? firstText(element, length) : (element.textContent ?? '')
  const text = raw.replaceAll(/\s+/g, ' ').trim()
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}

/** Reads the text of an element without computing its layout, and only as much as needed. */
function firstText(element: HTMLElement, length: number): string {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  let text = ''
  while (text.length < length * 4 && walker.nextNode()) {
    const parent = walker.currentNode.parentElement?.localName
    if (parent !== 'script' && parent !== 'style') text += ` ${walker.currentNode.textContent}`
    if (text.trim().length > length) break
  }
  return text
}

/** Returns the parent in the flat tree: the parent of a shadow root is its host. */
export function shownParent(element: Element): Element | null {
  if (element.assignedSlot) return element.assignedSlot
  if (element.parentElement) return element.parentElement
  const root = element.getRootNode()
  return isShadowRoot(root) ? root.host : null
}

/** Returns all elements below a root, including open shadow roots, up to `most`. */
export function allElements(root: Document | ShadowRoot | Element, most: number): Element[] {
  const found: Element[] = []
  const queue: (Document | ShadowRoot | Element)[] = [root]
  for (let at = 0; at < queue.length && found.length < most; at++) {
    for (const element of queue[at]!.querySelectorAll('*')) {
      if (found.length >= most) break
      found.push(element)
      if (element.shadowRoot) queue.push(element.shadowRoot)
    }
  }
  return found
}

/** Returns whether an element is visible: it has a size, and neither it nor an ancestor is hidden. */
export function isShown(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect()
  // `checkVisibility` detects closed `details` elements, whose content has a size.
  return width > 0 && height > 0 && getComputedStyle(element).visibility === 'visible' && element.checkVisibility()
}
