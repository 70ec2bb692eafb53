/** Runs in the page: describes elements for error messages, with selectors that match only them. */
import { elementName } from './describe.page.ts'
import type { Candidate } from './nearest.page.ts'
import { selectorMaker } from './selector.page.ts'

export { elementName }

const maxCandidates = 5

/** Returns the first matches, each with a unique selector. */
export function describeMatches(elements: readonly Element[]): Candidate[] {
  const selectorOf = selectorMaker()
  return elements
    .slice(0, maxCandidates)
    .map((element) => ({ selector: selectorOf(element), element: elementName(element) }))
}

export const uniqueSelector = (element: Element): string => selectorMaker()(element)
