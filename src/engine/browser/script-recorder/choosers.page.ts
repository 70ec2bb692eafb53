/** Runs in the page: knows how file choosers were opened, so that a script gives the files without opening one. */
import { isInput } from '../elements/node-kinds.page.ts'

/** File inputs whose chooser a script of the page opened, with the element that was clicked before. */
const openers = new WeakMap<HTMLInputElement, Element>()

/** Returns the element whose click made the page open the chooser of a file input; undefined for the input itself. */
export const openerOf = (input: HTMLInputElement): Element | undefined => openers.get(input)

/** Whether a click on an element opens a file chooser by itself: a file input or its label. */
export function opensChooser(element: Element): boolean {
  const input = isInput(element) ? element : element.closest('label')?.control
  return isInput(input) && input.type === 'file'
}

/** `clicked` returns the element of the last click; `onDetached` is called for files of an input outside the document. */
export function watchChoosers(clicked: () => Element, onDetached: (input: HTMLInputElement) => void): void {
  for (const name of ['click', 'showPicker'] as const) {
    const original = HTMLInputElement.prototype[name]
    HTMLInputElement.prototype[name] = function (this: HTMLInputElement) {
      if (this.type === 'file') {
        if (clicked() !== this) openers.set(this, clicked())
        // Its events reach no other listener.
        if (!this.isConnected) this.addEventListener('change', () => onDetached(this), { once: true })
      }
      original.call(this)
    }
  }
}
