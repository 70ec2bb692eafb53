/** Runs in the page: determines whether elements are usable, secret, focused, blocked or out of reach. */
import { bits } from './flag-bits.ts'
import { isListening } from '../listening.page.ts'

/** Property that Playwright sets on every element of its snapshot. */
export interface Seen extends Element {
  readonly _ariaRef?: { readonly ref: string; readonly role: string; readonly name: string }
}

/** Facts about the document, collected once for all elements. */
export interface DocumentFacts {
  readonly dialog: Element | undefined
  readonly anyInert: boolean
  /** Visible elements around editors without a box. */
  readonly editors: ReadonlySet<Element>
  /** Edges of what scrolling reaches, in the viewport's coordinates. */
  readonly reach: { readonly root: Element; readonly left: number; readonly top: number }
}

export const documentFactsOf = (elements: readonly Element[]): DocumentFacts => ({
  dialog: openDialog(elements),
  anyInert: elements.some((element) => element.hasAttribute('inert')),
  editors: new Set(elements.flatMap((element) => editorAround(element) ?? [])),
  reach: reachOf(document.scrollingElement ?? document.documentElement),
})

/** A document that is read from right to left can be scrolled to the left. */
const reachOf = (root: Element): DocumentFacts['reach'] => ({
  root,
  left: -Math.max(0, root.scrollWidth - innerWidth) - scrollX,
  top: -scrollY,
})

/** Returns the top modal dialog: the one with the focus, else the last visible one. Many pages have hidden dialogs. */
function openDialog(elements: readonly Element[]): Element | undefined {
  const isNative = (element: Element) => element instanceof HTMLDialogElement && element.matches(':modal')
  const open = elements.filter(
    (element) => (isNative(element) || element.getAttribute('aria-modal') === 'true') && isShown(element),
  )
  const native = open.filter(isNative)
  const candidates = native.length > 0 ? native : open.filter((dialog) => coversOthers(dialog, elements))
  return candidates.findLast((element) => contains(element, document.activeElement)) ?? candidates.at(-1)
}

const controls = 'a[href], button, input, select, textarea'
const maxControls = 50

/** Returns whether the pointer cannot reach most controls beside a dialog: some pages call panels modal that cover nothing. */
function coversOthers(dialog: Element, elements: readonly Element[]): boolean {
  let [reached, missed] = [0, 0]
  for (const element of elements) {
    if (!element.matches(controls) || contains(dialog, element)) continue
    const { x, y, width, height } = element.getBoundingClientRect()
    const [left, upper] = [x + width / 2, y + height / 2]
    if (width === 0 || height === 0 || left < 0 || upper < 0 || left > innerWidth || upper > innerHeight) continue
    const hit = (element.getRootNode() as Document | ShadowRoot).elementFromPoint(left, upper)
    if (hit && contains(element, hit)) reached += 1
    else missed += 1
    if (reached + missed === maxControls) break
  }
  return reached <= missed
}

/** Returns whether an element is inside another, including shadow roots. */
function contains(outer: Element, inner: Element | null): boolean {
  for (let at = inner; at;) {
    if (outer.contains(at)) return true
    const root: Node = at.getRootNode()
    at = root instanceof ShadowRoot ? root.host : null
  }
  return false
}

function isShown(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect()
  // A dialog without a box can have children with one.
  const hasBox = (width > 0 && height > 0) || [...element.children].some((child) => child.getClientRects().length > 0)
  const isHidden = element.closest('[aria-hidden="true"]') !== null
  return hasBox && !isHidden && element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
}

/** Returns the closest element with a box around an editor without one, which a script places at the caret. */
function editorAround(element: Element): Element | undefined {
  if (!('editContext' in element) || !element.editContext) return undefined
  for (let at: Element | null = element; at; at = at.parentElement) {
    const { width, height } = at.getBoundingClientRect()
    if (width > 0 && height > 0 && (at as Seen)._ariaRef) return at
  }
  return undefined
}

export function isUsable(element: Element): boolean {
  const html = element as HTMLElement
  if (element.hasAttribute('onclick') || (element.hasAttribute('draggable') && html.draggable)) return true
  if (element.hasAttribute('tabindex') && html.tabIndex >= 0) return true
  if (element.localName === 'summary' && element.matches('details > summary:first-of-type')) return true
  if (element.localName === 'label' && isFieldLabel(element)) return true
  return isListening(element) || isEditingHost(element)
}

/** Returns whether an element is the label of a field that pages hide, and show the label in its place. */
function isFieldLabel(element: Element): boolean {
  const field = element instanceof HTMLLabelElement ? element.control : null
  if (checkOf(element)) return true
  return field instanceof HTMLInputElement && field.type === 'file' && !isShown(field)
}

/** Returns the checkbox or radio button that a label is shown in place of: one without a reference of its own. */
export function checkOf(element: Element): HTMLInputElement | null {
  const field = element instanceof HTMLLabelElement ? element.control : null
  if (!(field instanceof HTMLInputElement) || (field as Seen)._ariaRef) return null
  return field.type === 'checkbox' || field.type === 'radio' ? field : null
}

export function isEditingHost(element: Element): boolean {
  if (element === document.body && document.designMode === 'on') return true
  return element.hasAttribute('contenteditable') && (element as HTMLElement).isContentEditable
}

export function flagsOf(element: Element, around: DocumentFacts, box: DOMRect): number {
  let flags = isUsable(element) ? bits.usable : 0
  if (element instanceof HTMLInputElement && element.type === 'password') flags |= bits.secret
  if (element === document.activeElement && element !== document.body) flags |= bits.focused
  if (around.dialog) {
    if (contains(around.dialog, element)) flags |= bits.modal
    else if (!contains(element, around.dialog)) flags |= bits.blocked
  }
  if (around.anyInert && element.closest('[inert]')) flags |= bits.blocked
  if (around.editors.has(element)) flags |= bits.usable | bits.editor
  if (isEditingHost(element)) flags |= bits.editor
  if (isDecoy(element)) flags |= bits.decoy
  if (isOutside(element, around, box)) flags |= bits.outside
  const check = checkOf(element)
  if (check?.checked) flags |= bits.checked
  if (check)
    flags |= check.type === 'radio' ? bits.radio : check.getAttribute('role') === 'switch' ? bits.switch : bits.checkbox
  return flags
}

/** Returns whether a field accepts neither text nor focus and is hidden: editors use such fields internally. */
const isDecoy = (element: Element): boolean =>
  (element instanceof HTMLTextAreaElement || element instanceof HTMLInputElement) &&
  element.readOnly &&
  element.tabIndex < 0 &&
  element.getAttribute('aria-hidden') === 'true'

/**
 * Returns whether no scrolling brings an element into view: it ends left of the document or above it, as hidden menus
 * do. Fields are hidden like this, too, but stay usable, by their visible labels.
 */
function isOutside(element: Element, { reach }: DocumentFacts, { right, bottom }: DOMRect): boolean {
  if (right >= reach.left && bottom >= reach.top) return false
  if (element.matches('input, select, textarea') || isEditingHost(element)) return false
  for (let at = element.parentElement; at && at !== reach.root; at = at.parentElement)
    if (at.scrollLeft !== 0 || at.scrollTop !== 0) return false
  return true
}
