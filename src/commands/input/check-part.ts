/** Runs in a page: finds what a person clicks to set a checkbox, radio button or switch that a style sheet replaces. */

interface Point {
  readonly x: number
  readonly y: number
}

/** The element to click, and the point in it. */
export interface CheckPart {
  readonly element: Element
  /** Relative to the top left corner of the element inside its border, in CSS pixels. */
  readonly position: Point
}

/** How a control can be set: `own` by a click on itself, `part` by one on a part; `set` when it has the state already. */
export type CheckWay = 'own' | 'part' | 'set' | 'disabled' | 'hidden'

/**
 * Returns how a control can be set, and the visible part that a person would click in place of a hidden control: its
 * label, or an element around it that has no other control, such as a star of a rating. Scrolls it into view.
 * `checked` is null for a click on the control itself, whatever its state.
 * Self-contained: only the text of the function reaches the page.
 */
export function checkPart(
  node: Element,
  checked: boolean | null,
): { readonly way: CheckWay; readonly part: CheckPart | null } {
  const control = checked !== null && node instanceof HTMLLabelElement && node.control ? node.control : node
  const isNative = control instanceof HTMLInputElement && (control.type === 'checkbox' || control.type === 'radio')
  // A radio button that is to be cleared is left to Playwright, which refuses it.
  if (!isNative || (checked === false && control.type === 'radio')) return { way: 'own', part: null }

  const root = node.getRootNode() as Document | ShadowRoot
  const hasBox = ({ width, height }: DOMRect) => width > 1 && height > 1
  const isVisible = (element: Element) => element.checkVisibility({ visibilityProperty: true })
  const takesPresses = 'a[href], button, input, select, textarea, summary, [role=button], [role=link], [tabindex]'
  /** Whether a click at a point of an element reaches it, and no link or other control inside it. */
  const reaches = (element: Element, { x, y }: Point) => {
    const hit = root.elementFromPoint(x, y)
    if (!hit || !element.contains(hit)) return false
    const taker = hit.closest(takesPresses)
    return taker === null || taker === control || !element.contains(taker) || taker === element
  }
  const middle = ({ x, y, width, height }: DOMRect): Point => ({ x: x + width / 2, y: y + height / 2 })
  const pointOf = (element: Element): Point | undefined => {
    if (!isVisible(element)) return undefined
    const range = document.createRange()
    range.selectNodeContents(element)
    const boxes = [element.getBoundingClientRect(), ...range.getClientRects()].filter(hasBox)
    for (const within of element.querySelectorAll('*'))
      if (hasBox(within.getBoundingClientRect())) boxes.push(within.getBoundingClientRect())
    return boxes.map(middle).find((point) => reaches(element, point))
  }
  const isInView = ({ x, y }: Point) => x >= 0 && y >= 0 && x <= innerWidth && y <= innerHeight
  const showMiddle = (element: Element): Point => {
    const at = () => middle(element.getBoundingClientRect())
    if (!isInView(at())) element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
    return at()
  }

  const isShown = isVisible(node) && hasBox(node.getBoundingClientRect())
  // Components draw a hidden control by the state that they keep, which is that for assistive technology.
  const kept = isShown ? null : control.getAttribute('aria-checked')
  if ((kept ?? String(control.checked)) === String(checked)) return { way: 'set', part: null }
  if (control.matches(':disabled') || control.closest('[inert]')) return { way: 'disabled', part: null }
  if (isShown && reaches(node, showMiddle(node))) return { way: 'own', part: null }
  const labels = [...(control.labels ?? [])]
  const around: Element[] = []
  for (let at = control.parentElement; at; at = at.parentElement) {
    const isSole = at.querySelectorAll(`${takesPresses}, [contenteditable]`).length === 1
    const { width, height } = at.getBoundingClientRect()
    // A click on a large outer element, such as a row, may have another effect.
    if (!isSole || (around.length > 0 && (width > 64 || height > 64))) break
    around.push(at)
  }
  for (const element of [node, ...labels, ...around]) {
    if (element === control) continue
    showMiddle(element)
    const point = pointOf(element)
    const { x, y } = element.getBoundingClientRect()
    const position = point && { x: point.x - x - element.clientLeft, y: point.y - y - element.clientTop }
    if (position) return { way: 'part', part: { element, position } }
  }
  // Playwright waits for what covers it, and explains failures.
  return { way: isShown ? 'own' : 'hidden', part: null }
}
