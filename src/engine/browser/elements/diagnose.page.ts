/** Runs in the page after a failed action: determines why an element is not usable. */
import { controlOf } from '../direct/find.page.ts'
import { elementName, isShown, shownParent } from './describe.page.ts'

export interface ElementState {
  connected: boolean
  visible: boolean
  /** Why it is not visible, e.g. `display: none of div#menu`. */
  hiddenBy: string | null
  /** Element that covers its center. */
  coveredBy: string | null
  disabled: boolean
  readonly: boolean
  editable: boolean
  inViewport: boolean
  name: string
  /** Options of a select element, up to a limit. */
  options: string[] | null
}

const maxOptions = 20

export function stateOf(element: Element): ElementState {
  const visible = isShown(element)
  const disabled = isDisabled(element) || isDisabled(controlOf(element))
  const readonly = element.matches('[readonly], [aria-readonly=true]')
  return {
    connected: element.isConnected,
    visible,
    hiddenBy: visible ? null : hiddenBy(element),
    coveredBy: visible ? coveredBy(element) : null,
    disabled,
    readonly,
    editable: !disabled && !readonly && isField(element),
    inViewport: visible && centerOf(element) !== null,
    name: elementName(element),
    options:
      element instanceof HTMLSelectElement
        ? [...element.options]
            .slice(0, maxOptions)
            .map(({ value, label }) => (value === label ? value : `${value} (${label})`))
        : null,
  }
}

const isField = (element: Element) =>
  element.matches('input:not([type=button],[type=submit],[type=reset],[type=image]), textarea, select') ||
  (element instanceof HTMLElement && element.isContentEditable)

function isDisabled(element: Element): boolean {
  return element.matches(':disabled') || around(element).some((at) => at.getAttribute('aria-disabled') === 'true')
}

/** Returns an element and its ancestors in the flat tree. */
function around(element: Element): Element[] {
  const found: Element[] = []
  for (let at: Element | null = element; at; at = shownParent(at)) found.push(at)
  return found
}

/** Returns the rule that hides an element, and the element that has it. */
function hiddenBy(element: Element): string {
  let none: Element | null = null
  for (const at of around(element)) {
    if (getComputedStyle(at).display === 'none') none = at
    const parent = shownParent(at)
    if (parent instanceof HTMLDetailsElement && !parent.open && at.localName !== 'summary')
      return `it is inside the closed ${elementName(parent)}`
  }
  if (none) return `display: none of ${none === element ? 'the element itself' : elementName(none)}`
  const { visibility } = getComputedStyle(element)
  if (visibility !== 'visible') return `visibility: ${visibility} of ${visibilityOwner(element)}`
  const { width, height } = element.getBoundingClientRect()
  return `its size is ${width}x${height}`
}

function visibilityOwner(element: Element): string {
  const { visibility } = getComputedStyle(element)
  const ancestors = around(element)
  const end = ancestors.findIndex((at) => getComputedStyle(at).visibility !== visibility)
  const owner = ancestors.at(end === -1 ? -1 : end - 1)!
  return owner === element ? 'the element itself' : elementName(owner)
}

function centerOf(element: Element): { x: number; y: number } | null {
  const { left, top, width, height } = element.getBoundingClientRect()
  const [x, y] = [left + width / 2, top + height / 2]
  return x >= 0 && y >= 0 && x < innerWidth && y < innerHeight ? { x, y } : null
}

/** Returns the element that would receive a click on the center of this one, if it is another one. */
function coveredBy(element: Element): string | null {
  const center = centerOf(element)
  if (!center) return null
  const hit = deepElementAt(document, center.x, center.y)
  if (hit && !isWithin(hit, element) && !isLabelOf(hit, element)) return elementName(hit)
  return frameCoveredBy(center)
}

/** Returns what covers a point of an element, such as a frame. */
export function coverAt(element: Element, { x, y }: { x: number; y: number }): string | null {
  const hit = deepElementAt(document, x, y)
  return hit && !isWithin(hit, element) ? elementName(hit) : null
}

/** Returns what covers a point of the enclosing frames, as far as their documents are accessible. */
function frameCoveredBy(center: { x: number; y: number }): string | null {
  let view: Window = window
  let { x, y } = center
  while (view !== view.parent) {
    const owner = ownerOf(view)
    if (!owner) return null
    const { left, top } = owner.getBoundingClientRect()
    const { paddingLeft, paddingTop } = getComputedStyle(owner)
    x += left + owner.clientLeft + Number.parseFloat(paddingLeft)
    y += top + owner.clientTop + Number.parseFloat(paddingTop)
    const hit = deepElementAt(owner.ownerDocument, x, y)
    if (hit && hit !== owner) return elementName(hit)
    view = view.parent
  }
  return null
}

/** Returns the frame element of a window; null when its document is cross-origin. */
function ownerOf(view: Window): Element | null {
  try {
    return view.frameElement
  } catch {
    return null
  }
}

function deepElementAt(root: Document | ShadowRoot, x: number, y: number): Element | null {
  const hit = root.elementFromPoint(x, y)
  if (!hit?.shadowRoot || hit.shadowRoot === root) return hit
  return deepElementAt(hit.shadowRoot, x, y) ?? hit
}

const isWithin = (inner: Element, outer: Element) => around(inner).includes(outer)

const isLabelOf = (hit: Element, element: Element) => hit.closest('label')?.control === element
