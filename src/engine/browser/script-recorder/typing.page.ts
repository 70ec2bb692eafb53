/** Runs in the page: detects text that is typed into editable elements, whose editors may insert it by themselves. */
import { isHtml } from '../elements/node-kinds.page.ts'
import { afterEvent } from './after-event.page.ts'
import { editableSelectorOf } from './selector-of.page.ts'

export interface TypedText {
  readonly at: number
  readonly element: Element
  readonly selector: string
  readonly text: string
}

/** Calls `report` for each piece of text that is typed, composed or pasted. */
export function watchTyping(report: (typed: TypedText) => void): void {
  const type = (element: HTMLElement, text: string | null | undefined) => {
    if (text) report({ at: Date.now(), element, selector: editableSelectorOf(element), text })
  }
  const listen = <Type extends keyof WindowEventMap>(
    name: Type,
    listener: (event: WindowEventMap[Type], host: HTMLElement) => void,
  ) => {
    const onEvent = (event: WindowEventMap[Type]) => {
      const host = hostOf(event)
      if (event.isTrusted && host) listener(event, host)
    }
    addEventListener(name, onEvent, { capture: true, passive: true })
  }
  listen('beforeinput', ({ data, inputType }, host) => inputType === 'insertText' && type(host, data))
  listen('compositionend', ({ data }, host) => type(host, data))
  listen('paste', ({ clipboardData }, host) => type(host, clipboardData?.getData('text/plain')))
  // An editor that prevents the key inserts the character by itself.
  const isInserted = (event: KeyboardEvent) => event.defaultPrevented && event.key.length === 1
  listen('keypress', (event, host) => afterEvent(() => isInserted(event) && type(host, event.key)))
}

/** Returns the outermost editable element of an event. */
function hostOf(event: Event): HTMLElement | undefined {
  let host: HTMLElement | undefined
  for (const at of event.composedPath()) if (isHtml(at) && at.isContentEditable) host = at
  return host
}
