/** Whether a page can react to keys that are typed into its focused field. */
import type { Page } from 'playwright'
import { ownSessionOf, type Reacts } from '../page/internals.ts'

/** Returns when the page may react to keys, by the listeners of its focused element and of what contains it. */
export async function reactionToKeys(page: Page): Promise<Reacts> {
  // `getEventListeners` returns the listeners of the calling JavaScript world only.
  const { result, exceptionDetails } =
    (await ownSessionOf(page)?.send('Runtime.evaluate', {
      expression: `(${reaction})()`,
      includeCommandLineAPI: true,
      returnByValue: true,
    })) ?? {}
  return exceptionDetails ? 'always' : ((result?.value as Reacts | undefined) ?? 'always')
}

/** A function of the command line API of the DevTools. */
declare const getEventListeners: (target: EventTarget) => Readonly<Record<string, unknown>>

/** Runs in the world of the page. Self-contained: only the text of the function reaches it. */
function reaction(): Reacts {
  const presses = ['keydown', 'keypress', 'textInput', 'beforeinput', 'input', 'select', 'selectionchange']
  // A field with this name hides the property of its form.
  const parentOf = Object.getOwnPropertyDescriptor(Node.prototype, 'parentNode')!.get!
  let reacts: Reacts = 'never'
  for (let target: Node | Window | null = document.activeElement; target;) {
    // Listeners in frames and shadow trees are not listed, and those trees may be closed.
    if (target instanceof Element && (target.shadowRoot || /-|^i?frame$/.test(target.localName))) return 'always'
    const listeners = getEventListeners(target)
    if (listeners['keyup']) return 'always'
    if (presses.some((type) => listeners[type])) reacts = 'to presses'
    target = target instanceof Window ? null : (parentOf.call(target) ?? window)
  }
  return reacts
}
