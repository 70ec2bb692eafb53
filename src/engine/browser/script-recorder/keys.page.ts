/** Runs in the page: detects keys that Playwright's recorder takes for text though the page handles them itself. */
import { isElement, isHtml } from '../elements/node-kinds.page.ts'
import { afterEvent } from './after-event.page.ts'
import { editableSelectorOf, goesToFocus, selectorOf } from './selector-of.page.ts'

export interface KeyFacts {
  readonly at: number
  readonly element: Element
  readonly selector: string
  readonly toFocus: boolean
  readonly key: string
  readonly modifiers: number
}

/** Calls `report` for Enter and deletions in editors, for Enter that a text area does not insert, and for keys that delete no text. */
export function watchKeys(report: (key: KeyFacts) => void): void {
  const onKey = (event: KeyboardEvent) => {
    const [element] = event.composedPath()
    if (!event.isTrusted || event.isComposing || !isElement(element)) return
    const isEditable = isHtml(element) && element.isContentEditable
    const isEnter = event.key === 'Enter' && (isEditable || element.localName === 'textarea')
    const deletes = /^(?:Backspace|Delete)$/.test(event.key) && !element.matches('input, textarea')
    if (!isEnter && !deletes) return
    const { altKey, ctrlKey, metaKey, shiftKey, key } = event
    const modifiers = (altKey ? 1 : 0) | (ctrlKey ? 2 : 0) | (metaKey ? 4 : 0) | (shiftKey ? 8 : 0)
    const selector = isEditable ? editableSelectorOf(element) : selectorOf(element)
    const facts = { at: Date.now(), element, selector, toFocus: goesToFocus(element, selector), key, modifiers }
    if (deletes || isEditable) report(facts)
    // A page that sends the text prevents the new line.
    else afterEvent(() => event.defaultPrevented && report(facts))
  }
  addEventListener('keydown', onKey, { capture: true, passive: true })
}
