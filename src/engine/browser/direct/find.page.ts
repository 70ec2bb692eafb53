/** Finds the element of an action and checks its state, more strictly than Playwright. */
import type { PlainSelector } from './plain-selector.ts'
import type { DirectRequest } from './request.ts'

/** A case for Playwright. */
export class UnclearInPage extends Error {}

export interface Match {
  readonly element: Element
  readonly matches: number
}

/** Returns the first visible match, or the only one. */
export function find(selector: PlainSelector, { strict }: Pick<DirectRequest, 'strict'>): Match {
  const all = findAll(selector)
  if (!all) throw new UnclearInPage('it may be in a shadow tree')
  if (all.length === 0) throw new UnclearInPage('no match')
  if (all.length === 1) return { element: all[0]!, matches: 1 }
  if (strict) throw new UnclearInPage('several matches')
  const visible = all.find(isVisible)
  if (!visible) throw new UnclearInPage('no visible match')
  return { element: visible, matches: all.length }
}

/** Returns all matches; null when a shadow tree has matches, too. */
export const findAll = ({ css, last }: PlainSelector): Element[] | null =>
  matchesInShadow(document, last) ? null : [...document.querySelectorAll(css)]

/** Returns whether an open shadow tree has a match; selectors pierce such trees. */
function matchesInShadow(root: Document | ShadowRoot, css: string): boolean {
  for (const { shadowRoot } of root.querySelectorAll('*'))
    if (shadowRoot && (shadowRoot.querySelector(css) || matchesInShadow(shadowRoot, css))) return true
  return false
}

/** Checks the state that an action needs. */
export function checkState(element: Element, needs: DirectRequest['needs']): void {
  if (!element.isConnected) throw new UnclearInPage('detached')
  if (needs === 'present') return
  if (!isVisible(element)) throw new UnclearInPage('hidden')
  if (needs === 'visible') return
  const control = controlOf(element)
  for (const one of [element, control]) {
    if (one.matches(':disabled') || one.closest('[disabled], [aria-disabled="true" i], [inert]'))
      throw new UnclearInPage('disabled')
  }
  if (needs !== 'editable') return
  const isField =
    element instanceof HTMLInputElement ||
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement
  if (!isField || element.closest('[readonly], [aria-readonly="true" i]')) throw new UnclearInPage('not editable')
}

/** Like Playwright's check, except for elements without a box of their own. */
function isVisible(element: Element): boolean {
  const { display, visibility } = getComputedStyle(element)
  if (display === 'contents') throw new UnclearInPage('no box')
  if (!element.checkVisibility() || visibility !== 'visible') return false
  const { width, height } = element.getBoundingClientRect()
  return width > 0 && height > 0
}

const isField = (element: Element): boolean =>
  element.matches('input, textarea, select') || (element as HTMLElement).isContentEditable

/** Returns the element that takes a press on `element`: the link or button around it. */
export const pressedBy = (element: Element): Element =>
  isField(element) ? element : (element.closest('button, [role=button], a, [role=link]') ?? element)

/** Returns the control whose state counts: the button around an element, or the control of its label. */
export function controlOf(element: Element): Element {
  const near = isField(element)
    ? element
    : (element.closest('button, [role=button], [role=checkbox], [role=radio]') ?? element)
  const isControl = near.matches(
    'a, input, textarea, button, select, option, optgroup, [role=link], [role=button], [role=checkbox], [role=radio]',
  )
  if (isControl || (near as HTMLElement).isContentEditable) return near
  return near.closest('label')?.control ?? near
}
