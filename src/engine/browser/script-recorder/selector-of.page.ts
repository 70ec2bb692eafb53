/** Runs in the page: finds the selectors of elements that Playwright's recorder does not report. */
import { selectorMaker } from '../observe/snapshot/selector.page.ts'

interface Console {
  selector?(element: Element): string
}

/** Returns the selector that Playwright's recorder would choose: role and name, label, test ID, text, then CSS. */
export function selectorOf(element: Element): string {
  // The recorder adds this object to the page, unless the page has its own one.
  const { playwright } = globalThis as { playwright?: Console }
  try {
    const selector = playwright?.selector?.(element)
    if (typeof selector === 'string' && selector !== '') return selector
  } catch {
    // An object of the page.
  }
  return selectorMaker()(element)
}

/** Returns a selector of an editable element that does not contain its text, which is about to change. */
export function editableSelectorOf(element: HTMLElement): string {
  const isNamed = element.matches('[aria-label], [aria-labelledby], [data-testid]')
  return isNamed ? selectorOf(element) : selectorMaker()(element)
}
