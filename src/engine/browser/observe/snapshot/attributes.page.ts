/** Runs in Playwright's isolated world, around a snapshot: changes attributes, so that it lists and names elements. */

import { hasControls } from '../listening.page.ts'

const controls = 'a[href], button, input, select, textarea, [tabindex], [contenteditable], [role]'

type Attributes = Readonly<Record<string, string | null>>

const key = Symbol.for('bax.hidden')
/** Elements with changed attributes; this file can run several times in a document. */
const registry = globalThis as { [key]?: Map<Element, Attributes> }

/** Changes attributes of an element for Playwright, in this world only, until `restoreAttributes`. */
function showWith(element: Element, changes: Attributes): void {
  const changed = (registry[key] ??= new Map())
  // Editors and canvases already have changed attributes.
  if (!changed.has(element) && Object.hasOwn(element, 'getAttribute')) return
  const all = { ...changed.get(element), ...changes }
  changed.set(element, all)
  const { getAttribute } = Element.prototype
  Object.defineProperty(element, 'getAttribute', {
    configurable: true,
    value: (name: string) => (Object.hasOwn(all, name) ? all[name] : getAttribute.call(element, name)),
  })
}

/**
 * Lets Playwright compute the names in parts with controls that a page hides from assistive technology only, while a
 * list or dialog is open. Hidden icons stay hidden.
 */
export function nameHidden(): void {
  for (const part of document.querySelectorAll('[aria-hidden="true" i]'))
    if (part.querySelector(controls)) showWith(part, { 'aria-hidden': null })
}

/** Placeholder for a missing name; removed from the snapshot like an icon. */
const noName = '\uE000'

/** Lets Playwright list a clickable element with `role=none`, or without a name. */
export function keepClickable(element: Element): void {
  const table = element.matches('li, td, th, tr') ? element.closest('ol, table, ul') : null
  if (hasNoRole(element) || (table && hasNoRole(table))) showWith(element, { role: 'generic' })
  if (isUnnamed(element)) showWith(element, { 'aria-label': noName })
}

const hasNoRole = (element: Element): boolean => /^\s*(?:none|presentation)\b/i.test(element.getAttribute('role') ?? '')

/** Returns whether an image, or an element without a role, has no name. Excludes drag handles, by their cursor. */
function isUnnamed(element: Element): boolean {
  if (!element.matches('a:not([href]), b, div, i, img, span, svg') || element.hasAttribute('role')) return false
  if (['alt', 'aria-label', 'aria-labelledby', 'title'].some((name) => element.getAttribute(name))) return false
  return !hasContent(element) && /^(?:auto|default)$/.test(getComputedStyle(element).cursor)
}

function hasContent(element: Element): boolean {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) if (/\S/.test((texts.currentNode as Text).data)) return true
  return element.shadowRoot !== null || hasControls(element) || element.querySelector(named) !== null
}

const named = '[alt]:not([alt=""]), [aria-label], [aria-labelledby], [title], [role]:not([role=img], [role=none])'

/** Restores the attributes: selectors by role do not match hidden elements. */
export function restoreAttributes(): void {
  for (const element of registry[key]?.keys() ?? []) delete (element as Partial<Element>).getAttribute
  delete registry[key]
}
