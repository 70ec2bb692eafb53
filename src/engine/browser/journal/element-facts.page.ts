/** Runs in the page: reads the facts of an element that a script needs to find it again. */
import type { Fingerprint } from '../../../core/shapes/recording.ts'
import { fingerprintOf } from '../elements/fingerprint.page.ts'
import { isHtml } from '../elements/node-kinds.page.ts'
import { holdsSecret } from '../elements/secret-field.page.ts'
import { selectorMaker } from '../elements/selector.page.ts'

export interface ElementFacts {
  readonly fingerprint: Fingerprint
  /** Whether the text of the field must not be stored. */
  readonly secret: boolean
  /** Whether a click on it only opens a page, which a step back undoes. */
  readonly isLink: boolean
  /** Selector that does not contain the text of the element, for elements whose text is what was typed. */
  readonly css?: string
}

export function factsOf(element: Element): ElementFacts {
  return {
    fingerprint: fingerprintOf(element),
    secret: holdsSecret(element),
    isLink: element.closest('a[href]') !== null,
    ...((element.localName === 'textarea' || (isHtml(element) && element.isContentEditable)) && {
      css: selectorMaker()(element),
    }),
  }
}

/** Returns whether the field with the focus is one whose text must not be stored. */
export function isSecretFocused(): boolean {
  let active: Element | null = document.activeElement
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement
  return active !== null && factsOf(active).secret
}
