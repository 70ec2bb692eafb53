/**
 * Runs in Playwright's isolated world, around a snapshot: parts that a page hides only from assistive technology, while
 * a list or dialog is open, keep the names of their controls.
 */

const controls = 'a[href], button, input, select, textarea, [tabindex], [contenteditable], [role]'

const key = Symbol.for('bax.hidden')
/** Parts that are shown now; this file can run several times in a document. */
const registry = globalThis as { [key]?: Element[] }

/** Lets Playwright compute the names in hidden parts with controls, until `restoreHidden`. Hidden icons stay hidden. */
export function nameHidden(): void {
  restoreHidden()
  const { getAttribute } = Element.prototype
  const shown: Element[] = (registry[key] = [])
  for (const part of document.querySelectorAll('[aria-hidden="true" i]')) {
    if (Object.hasOwn(part, 'getAttribute') || !part.querySelector(controls)) continue
    shown.push(part)
    Object.defineProperty(part, 'getAttribute', {
      configurable: true,
      value: (name: string) => (name === 'aria-hidden' ? null : getAttribute.call(part, name)),
    })
  }
}

/** Restores what `nameHidden` has changed: selectors by role do not match hidden elements. */
export function restoreHidden(): void {
  for (const part of registry[key] ?? []) delete (part as Partial<Element>).getAttribute
  delete registry[key]
}
