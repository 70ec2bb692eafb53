/** Runs in Playwright's isolated world: describes the elements that a person clicks and edits. */
import { isHtml, isInput } from '../elements/node-kinds.page.ts'
import { directToggle, isChecked } from '../script-recorder/toggles.page.ts'
import { foundOf, type FoundElement, type Injected } from './element-facts.page.ts'

/**
 * How keys change an element: a line of text beside which a page may show suggestions, lines of text, another value such
 * as a date, the chosen options, or not at all.
 */
export type Editing = 'line' | 'lines' | 'value' | 'options' | null

export interface PersonElement extends FoundElement {
  readonly editing: Editing
  /** Whether it is a checkbox, radio button or switch, whose value is `true` or `false`. */
  readonly isToggle: boolean
  readonly value: string | readonly string[]
}

/** Describes the element at a point; null for frames, drawings and empty parts of the page, where the place counts. */
export function factsAt(injected: Injected, { x, y }: { x: number; y: number }): PersonElement | null {
  const hit = elementAt(document, x, y)
  const element = hit?.closest('select') ?? shownToggle(hit) ?? hit
  return element && !element.matches('html, body, iframe, frame, canvas') ? personElement(injected, element) : null
}

/** Returns the visible control that a click on an element sets; none for a link or button in its label. */
function shownToggle(hit: Element | null): Element | undefined {
  const control = hit ? directToggle(hit) : undefined
  const isOther = control !== hit && hit?.closest('a[href], button, textarea') != null
  return control?.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !isOther ? control : undefined
}

function elementAt(root: Document | ShadowRoot, x: number, y: number): Element | null {
  const element = root.elementFromPoint(x, y)
  if (!element?.shadowRoot || element.shadowRoot === root) return element
  return elementAt(element.shadowRoot, x, y) ?? element
}

/** Elements whose content is not that of a field: other documents, code editors, and elements with a hidden tree. */
const withOwnContent = 'iframe, frame, object, embed, .CodeMirror *, .monaco-editor *'

/** Describes the element with the focus; null when its content cannot be read. */
export function factsOfFocus(injected: Injected): PersonElement | null {
  let active = document.activeElement ?? document.documentElement
  while (active.shadowRoot?.activeElement) active = active.shadowRoot.activeElement
  const isCustom = active.localName.includes('-') && !(isHtml(active) && active.isContentEditable)
  return isCustom || active.matches(withOwnContent) ? null : personElement(injected, active)
}

/** Returns what an element contains now; null when it is gone. */
export function contentOf(injected: Injected, selector: string): string | readonly string[] | null {
  const [element] = injected.querySelectorAll(injected.parseSelector(selector), document)
  return element ? valueOf(element) : null
}

function personElement(injected: Injected, element: Element): PersonElement {
  return {
    ...foundOf(injected, element),
    editing: editingOf(element),
    isToggle: isToggle(element),
    value: valueOf(element),
  }
}

const isToggle = (element: Element): boolean => directToggle(element) === element

const withoutKeys = /^(?:button|checkbox|color|file|hidden|image|radio|reset|submit)$/
const withValues = /^(?:date|datetime-local|month|number|range|time|week)$/

function editingOf(element: Element): Editing {
  if (element.localName === 'select') return 'options'
  if (element.localName === 'textarea' || (isHtml(element) && element.isContentEditable)) return 'lines'
  if (!isInput(element) || withoutKeys.test(element.type)) return null
  return withValues.test(element.type) ? 'value' : 'line'
}

function valueOf(element: Element): string | readonly string[] {
  if (isToggle(element)) return String(isChecked(element))
  if (element.localName === 'select')
    return [...(element as HTMLSelectElement).selectedOptions].map((option) => option.value)
  if (isHtml(element) && element.isContentEditable) return element.innerText
  return (element as Partial<HTMLInputElement>).value ?? ''
}
