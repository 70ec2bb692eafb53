/** Page functions for actions. Selectors are CSS; open shadow roots are searched after the document. */
import type { Point } from '../../../core/operation/command.ts'

function find(selector: string, root: ParentNode = document): Element | null {
  const found = root.querySelector(selector)
  if (found) return found
  for (const element of root.querySelectorAll('*')) {
    const inner = element.shadowRoot && find(selector, element.shadowRoot)
    if (inner) return inner
  }
  return null
}

const isVisible = (element: Element): boolean => {
  const box = element.getBoundingClientRect()
  return box.width > 0 && box.height > 0 && getComputedStyle(element).visibility !== 'hidden'
}

/** Returns the state of the first match. @throws SyntaxError for an invalid selector. */
export function stateOf(selector: string): 'absent' | 'hidden' | 'visible' {
  const element = find(selector)
  return element ? (isVisible(element) ? 'visible' : 'hidden') : 'absent'
}

/** Scrolls the element into view; returns the centre of its first box. */
export function spotOf(selector: string): Point | null {
  const element = find(selector)
  if (!element) return null
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
  const box = element.getClientRects()[0] ?? element.getBoundingClientRect()
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}

export function focusElement(selector: string): boolean {
  const element = find(selector)
  if (!(element instanceof HTMLElement || element instanceof SVGElement)) return false
  element.focus()
  return true
}

export function scrollPage({ direction, amount }: { direction: string; amount?: number }): void {
  const isHorizontal = direction === 'left' || direction === 'right'
  const sign = direction === 'up' || direction === 'left' ? -1 : 1
  const distance = sign * (amount ?? (isHorizontal ? innerWidth : innerHeight))
  scrollBy({ left: isHorizontal ? distance : 0, top: isHorizontal ? 0 : distance, behavior: 'instant' })
}
