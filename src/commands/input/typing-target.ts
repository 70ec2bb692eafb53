/** Focuses the element that keys are typed into. */
// oxlint-disable unicorn/consistent-function-scoping -- only the text of the function reaches the page
import type { ElementHandle } from 'playwright'
import type { CallLimit } from '../../core/operation/command.ts'

/** How an element takes keys: as a field, as an editor that handles keys itself, or not at all, at least not yet. */
export type TypingTarget = 'field' | 'editor' | null

/**
 * Runs in the page: focuses an element, or the editor inside it, with the caret at the end unless it already has the
 * focus. Editors such as Monaco and xterm.js take keys with an element without a size. Self-contained: only the text of
 * the function reaches the page.
 */
export function focusForTyping(node: Node): TypingTarget {
  type Editable = HTMLElement & { editContext?: unknown }
  const given = (node instanceof HTMLLabelElement && node.control ? node.control : node) as Editable
  const isField = (element: Element): element is HTMLInputElement | HTMLTextAreaElement =>
    element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement
  const isEditor = (element: Editable) => Boolean(element.editContext) || element.isContentEditable
  // Editors have a field at the caret that is too small to be seen, or transparent.
  const isHelper = (element: Element) => {
    const { width, height } = element.getBoundingClientRect()
    const { parentElement: around } = element
    const isClipped = around?.clientHeight === 0 && getComputedStyle(around).overflowY === 'hidden'
    return isField(element) && (width * height < 4 || isClipped || getComputedStyle(element).opacity === '0')
  }
  const isBlocked = (element: Element) =>
    element.matches(':disabled, [readonly], [aria-readonly=true]') || element.closest('[aria-disabled=true]') !== null
  let target = given
  if (!isField(given) && !isEditor(given)) {
    const inside = [...given.querySelectorAll<Editable>('*')].filter((element) => !isBlocked(element))
    const editors = inside.filter((element) => isEditor(element) && !isEditor(element.parentElement!))
    const found = editors[0] ?? inside.find(isHelper)
    if (!found || editors.length > 1) return null
    target = found
  }
  if (isBlocked(target)) return null
  const document = target.ownerDocument
  const view = document.defaultView!
  const root = target.getRootNode() as Document | ShadowRoot
  const isBody = target === document.body
  const isFramed = view !== view.top
  const kind = isField(target) && !isHelper(target) ? 'field' : 'editor'
  // The body is the active element of a document without a focus, and a frame can have a focus that is not the page's.
  if (root.activeElement === target && !isBody && !(isFramed && !document.hasFocus())) return kind
  if (isBody) view.focus()
  target.focus()
  if (root.activeElement !== target && !target.contains(root.activeElement)) return null
  if (target.isContentEditable) {
    // Browsers drop what is typed into a paragraph without a line; editors keep one with this element.
    let empty: Element = target
    while (empty.children.length === 1) empty = empty.firstElementChild!
    if (empty.childNodes.length === 0 && empty.localName === 'p') empty.append(document.createElement('br'))
    const selection = document.getSelection()
    selection?.selectAllChildren(target)
    selection?.collapseToEnd()
  }
  // Other input types do not allow scripts to set the caret.
  const hasCaret = (field: HTMLInputElement | HTMLTextAreaElement) =>
    ['textarea', 'text', 'search', 'tel', 'url', 'password'].includes(field.type)
  if (kind === 'field' && isField(target) && hasCaret(target))
    target.setSelectionRange(target.value.length, target.value.length)
  return kind
}

/** Waits until an element is visible and editable, then focuses it. @throws the error of Playwright that says why not. */
export async function focusWhenReady(handle: ElementHandle, limit: CallLimit): Promise<TypingTarget> {
  await handle.waitForElementState('visible', limit)
  await handle.waitForElementState('editable', limit)
  return handle.evaluate(focusForTyping)
}
