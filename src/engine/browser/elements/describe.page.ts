/** Runs in the page: how elements are named in sentences and found again. */

/** `button#buy.primary "Buy now"`. */
export function elementName(element: Element): string {
  // Not `element.id`: a form answers that with its field of the name "id".
  const written = element.getAttribute('id')
  const id = written ? `#${written}` : ''
  const classes = [...element.classList].slice(0, 3).map((name) => `.${name}`).join('') // prettier-ignore
  const text = shortText(element, 40)
  return `${element.localName}${id}${classes}${text ? ` ${JSON.stringify(text)}` : ''}`
}

/** Visible text in one line, cut to a length. */
export function shortText(element: Element, length: number): string {
  const raw = element instanceof HTMLElement ? firstText(element, length) : (element.textContent ?? '')
  const text = raw.replaceAll(/\s+/g, ' ').trim()
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}

/** Text of an element without asking for its layout; reads no further into a big one than it needs. */
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

/** Parent in the tree as it is shown: out of a shadow root comes its host. */
export function shownParent(element: Element): Element | null {
  if (element.assignedSlot) return element.assignedSlot
  if (element.parentElement) return element.parentElement
  const root = element.getRootNode()
  return root instanceof ShadowRoot ? root.host : null
}

/** Every element below a root, open shadow roots included, up to a number. */
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

/** Whether an element can be seen: it has a size, and no rule of its ancestors hides it. */
export function isShown(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect()
  // checkVisibility knows closed details, whose content has a size.
  return width > 0 && height > 0 && getComputedStyle(element).visibility === 'visible' && element.checkVisibility()
}
