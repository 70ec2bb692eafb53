/** Runs in Playwright's isolated world: reads the facts of an element that a script needs to find it again. */
import type { Fingerprint } from '../../../core/shapes/recording.ts'
import { fingerprintOf } from '../elements/fingerprint.page.ts'
import { isHtml } from '../elements/node-kinds.page.ts'
import { holdsSecret } from '../elements/secret-field.page.ts'
import { selectorMaker, withoutNumbers } from '../elements/selector.page.ts'

export interface ElementFacts {
  readonly fingerprint: Fingerprint
  /** Whether the text of the field must not be stored. */
  readonly secret: boolean
  /** Whether a click on it only opens a page, which a step back undoes. */
  readonly isLink: boolean
  /** Selector that does not contain the text of the element, for elements whose text is what was typed. */
  readonly css?: string
}

export interface FoundElement extends ElementFacts {
  /** Selector as Playwright generates it. */
  readonly generated: string
  /** Accessible name of the element of that selector, which may be the button around. */
  readonly accessibleName: string
}

/** The part of Playwright's script in the page that is needed. */
export interface Injected {
  parseSelector(selector: string): object
  querySelectorAll(selector: object, root: Document): readonly Element[]
  generateSelector(
    element: Element,
    options: { readonly testIdAttributeName: string },
  ): { readonly selector: string; readonly elements: readonly Element[] }
  readonly utils: { getElementAccessibleNameText(element: Element, includeHidden: boolean): string }
}

/** Describes the first match of a selector; null without one. */
export function findFacts(injected: Injected, selector: string): FoundElement | null {
  const [element] = injected.querySelectorAll(injected.parseSelector(selector), document)
  return element ? foundOf(injected, element) : null
}

export function foundOf(injected: Injected, element: Element): FoundElement {
  const made = injected.generateSelector(element, { testIdAttributeName: 'data-testid' })
  const found = made.elements[0] ?? element
  const accessibleName = injected.utils.getElementAccessibleNameText(found, false)
  const generated = withoutNumbers(made.selector, (selector) => {
    const [first, second] = injected.querySelectorAll(injected.parseSelector(selector), document)
    return first === found && !second
  })
  return { ...factsOf(element), generated, accessibleName }
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
  return active !== null && holdsSecret(active)
}
