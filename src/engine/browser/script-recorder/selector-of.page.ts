/** Runs in the page: finds the selectors of elements that Playwright's recorder does not report. */
import { isShadowRoot } from '../elements/node-kinds.page.ts'
import { withoutCounts } from './names/counts.page.ts'
import { selectorInRow } from './names/in-row.page.ts'
import { selectorMaker, withoutNumbers } from '../elements/selector.page.ts'

interface Console {
  selector?(element: Element): string
  $$?(selector: string): Element[]
}

/** Returns the object that the recorder adds to the page, unless the page has its own one. */
const consoleOf = () => (globalThis as { playwright?: Console }).playwright

/** Whether a selector tells what a person sees, instead of where it is. */
export const isMeaningful = (selector: string): boolean => selector.startsWith('internal:') && !position.test(selector)

/** Returns the selector that Playwright's recorder would choose: role and name, label, test ID, text, then CSS. */
export function selectorOf(element: Element): string {
  try {
    const selector = withoutTooltips(element, () => withAdopted(() => consoleOf()?.selector?.(element)))
    if (typeof selector === 'string' && selector !== '') return stableSelector(element, selector)
  } catch {
    // An object of the page.
  }
  return selectorMaker()(element)
}

/** Calls a function that accepts only instances of `Element`, also for an element that the page has moved into this frame. */
function withAdopted<T>(call: () => T): T {
  Object.defineProperty(Element, Symbol.hasInstance, {
    configurable: true,
    // Its subclasses, such as `HTMLInputElement`, inherit this.
    value(this: unknown, at: unknown) {
      return this === Element
        ? (at as Node | null)?.nodeType === 1
        : Function.prototype[Symbol.hasInstance].call(this, at)
    },
  })
  try {
    return call()
  } finally {
    delete (Element as { [Symbol.hasInstance]?: unknown })[Symbol.hasInstance]
  }
}

/** Calls a function that does not see the descriptions of an element by tooltips: they exist while the pointer is on it. */
function withoutTooltips<T>(element: Element, call: () => T): T {
  const described = '[aria-describedby]'
  if (!closest(element, described) && !element.querySelector(described)) return call()
  const own = Object.getOwnPropertyDescriptor(Element.prototype, 'getAttribute')!
  const { getAttribute } = Element.prototype
  const value = function (this: Element, name: string) {
    const is = getAttribute.call(this, name)
    return name === 'aria-describedby' && is && isTooltip(this, is) ? null : is
  }
  Object.defineProperty(Element.prototype, 'getAttribute', { ...own, value })
  try {
    return call()
  } finally {
    Object.defineProperty(Element.prototype, 'getAttribute', own)
  }
}

const isTooltip = (element: Element, ids: string): boolean => {
  const root = element.getRootNode() as Document | ShadowRoot
  return ids.split(/\s+/).some((id) => root.getElementById(id)?.matches('[role=tooltip]'))
}

const position = / >> nth=\d+$/

/**
 * Replaces a position, which also counts hidden copies that come and go, when only one of the elements is visible, or one
 * is in a row with a certain text.
 */
function withoutPosition(element: Element, selector: string): string {
  if (!position.test(selector)) return selector
  const visible = selector.replace(position, ' >> visible=true')
  if (findsOnly(element, visible)) return visible
  return selectorInRow(element, selector, (inRow) => findsOnly(element, inRow)) ?? selector
}

function findsOnly(element: Element, selector: string): boolean {
  const [first, second] = consoleOf()?.$$?.(selector) ?? []
  return first === element && !second
}

/** Returns a selector without positions, counts, and IDs that the page generates anew, if it then finds only the element. */
export function stableSelector(element: Element, selector: string): string {
  const isOnly = (stable: string) => findsOnly(element, stable)
  return withoutNumbers(withoutCounts(withoutPosition(element, selector), isOnly), isOnly)
}

/** Returns a selector of an editable element that does not contain its text, which is about to change. */
export function editableSelectorOf(element: HTMLElement): string {
  const isNamed = element.matches('[aria-label], [aria-labelledby], [data-testid]')
  return isNamed ? selectorOf(element) : selectorMaker()(element)
}

const quotedTexts = /"(?:\\.|[^"\\])*"/g

/**
 * Returns a selector of a field without its new value, which can be a part of the names of elements around it: a script
 * looks for them before it sets the value.
 */
export function withoutValue(field: HTMLInputElement, selector: string): string {
  const value = field.value.trim().replaceAll(/\s+/g, ' ').toLowerCase()
  const isNamed =
    value !== '' && selector.match(quotedTexts)?.some((text) => unquoted(text).toLowerCase().includes(value))
  if (!isNamed) return selector
  // Libraries such as React define this property on single fields.
  const own = Object.getOwnPropertyDescriptor(field, 'value')
  Object.defineProperty(field, 'value', { configurable: true, get: () => '' })
  try {
    return selectorOf(field)
  } finally {
    delete (field as Partial<HTMLInputElement>).value
    if (own) Object.defineProperty(field, 'value', own)
  }
}

function unquoted(text: string): string {
  try {
    return JSON.parse(text) as string
  } catch {
    // An attribute of CSS.
    return text
  }
}

/** Selectors of elements that have the focus without being controls: places, and texts that change. */
const fragile = /internal:(?:has-)?text=|>> nth=\d+$|^(?:body|html)$/

/** Whether a key goes to what has the focus, such as the body or an element around a canvas, rather than to a control. */
export const goesToFocus = (element: Element, selector: string): boolean =>
  !element.matches('input, textarea, select') && !(element as HTMLElement).isContentEditable && fragile.test(selector)

const partOfName = /(\[name=("(?:\\.|[^"\\])*"))i\]$/

/** Returns the name in a selector by role if it is the whole name of the element, and of no other with this role. */
export function exactNames(element: Element, selector: string): string[] {
  const [, , quoted] = partOfName.exec(selector) ?? []
  if (quoted === undefined) return []
  try {
    return findsOnly(element, selector.replace(partOfName, '$1s]')) ? [JSON.parse(quoted) as string] : []
  } catch {
    // An object of the page.
    return []
  }
}

const fields = 'input, textarea, select, [role=combobox], [role=spinbutton], [role=textbox]'
/** Elements around a field that libraries draw as its border, and how high they are. */
const maxLevels = 4
const maxPixels = 100
/** Elements that contain a control without being a part of it, such as the row that it selects. */
export const containers =
  'body, form, fieldset, td, th, tr, li, [role=row], [role=gridcell], [role=listitem], [role=treeitem], [role=group], [role=radiogroup]'

/**
 * Returns the selector of what a library has drawn around a field, by the name of the field; undefined when it has none,
 * or several.
 */
export function aroundField(pressed: Element): string | undefined {
  if (!pressed.matches('div, span') || pressed.matches('[role], [contenteditable] *')) return undefined
  let around: Element | null = pressed
  for (
    let level = 0;
    around && level <= maxLevels && !around.matches(containers);
    level++, around = around.parentElement
  ) {
    if (around.getBoundingClientRect().height > maxPixels) return undefined
    const [field, second] = around.querySelectorAll(fields)
    if (second) return undefined
    if (!field || !isHit(around)) continue
    const selector = selectorOf(field)
    if (!/^internal:(?:role|label)=[^>]*$/.test(selector)) return undefined
    const named = exactNames(field, selector).length > 0 ? selector.replace(partOfName, '$1s]') : selector
    return isHit(field) ? named : `${named} >> xpath=${'../'.repeat(levelsBetween(field, around)).slice(0, -1)}`
  }
  return undefined
}

/** Whether a click in the middle of an element would reach it. */
function isHit(element: Element): boolean {
  const { x, y, width, height } = element.getBoundingClientRect()
  const root = element.getRootNode() as Document | ShadowRoot
  return width > 0 && height > 0 && element.contains(root.elementFromPoint(x + width / 2, y + height / 2))
}

function levelsBetween(inner: Element, outer: Element): number {
  let levels = 0
  for (let at: Element | null = inner; at && at !== outer; at = at.parentElement) levels++
  return levels
}

/** Returns the closest match among an element and its ancestors, beyond shadow roots. */
export function closest(element: Element, css: string): Element | null {
  const found = element.closest(css)
  const root = element.getRootNode()
  return found ?? (isShadowRoot(root) ? closest(root.host, css) : null)
}
