/** Recognizes presses whose release misses the element, because it has moved in between: it gets no click then. */

interface Press {
  readonly element: Element
  readonly x: number
  readonly y: number
  /** Whether the element was in its place when all listeners of the page had run, which then did not move it. */
  isKept: boolean
}

export interface PressWatch {
  /** Time of the latest press if it was lost, on the clock of `performance.now()`. */
  lostAt: number | undefined
}

/** Starts listening, once per document; returns what is known about its presses. */
export function watchPresses(): PressWatch {
  const watch: PressWatch = { lostAt: undefined }
  let press: Press | null = null
  const on = (type: string, listener: (event: MouseEvent) => void, of: EventTarget, capture: boolean) => {
    const trusted = (event: Event) => event.isTrusted && listener(event as MouseEvent)
    of.addEventListener(type, trusted, { capture, passive: true })
  }
  const start = (event: MouseEvent) => {
    // The second press of a double click does not replace the first, which may be lost.
    if (event.detail <= 1) watch.lostAt = undefined
    const [element] = event.composedPath()
    const isClick = event.button === 0 && element instanceof Element
    press = isClick ? { element: pressedPart(element), x: event.clientX, y: event.clientY, isKept: false } : null
  }
  const end = (event: MouseEvent) => {
    if (press && isLost(press, event)) watch.lostAt = performance.now()
    press = null
  }
  on('mousedown', start, document, true)
  on('mousedown', () => press && (press.isKept = isInPlace(press)), window, false)
  on('mouseup', end, document, true)
  return watch
}

const roles = ['button', 'link', 'option', 'checkbox', 'radio', 'switch', 'tab', 'treeitem']
const operable = `button, a, label, summary, ${roles.map((role) => `[role=${role}]`).join(', ')}, [role^=menuitem]`

/** Returns the element that a click is meant for: the operable one around the pressed one. */
const pressedPart = (element: Element): Element => element.closest(operable) ?? element

/** Whether an element is under the pointer; not one that is scaled down to a point. */
function isInPlace({ element, x, y }: Pick<Press, 'element' | 'x' | 'y'>): boolean {
  const { left, top, right, bottom } = element.getBoundingClientRect()
  return element.isConnected && x > left && x < right && y > top && y < bottom
}

function isLost(press: Press, event: MouseEvent): boolean {
  const { element, x, y, isKept } = press
  const path = event.composedPath()
  const isSamePoint = Math.abs(event.clientX - x) < 2 && Math.abs(event.clientY - y) < 2
  // An element that listeners of the press move or remove has reacted to it.
  if (!isKept || !isSamePoint || path.includes(element)) return false
  if (element.isConnected) {
    const ignores = getComputedStyle(element).pointerEvents === 'none'
    return element.getClientRects().length > 0 && (ignores || !isInPlace(press))
  }
  const [target] = path
  return target instanceof Element && pressedPart(target).isEqualNode(element)
}
