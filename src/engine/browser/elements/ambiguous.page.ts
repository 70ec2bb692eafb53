/** Runs in the page: what a selector matches that should match one element only. */
import { elementName } from './describe.page.ts'
import type { Candidate } from './nearest.page.ts'
import { selectorMaker } from '../observe/selector.page.ts'

const mostCandidates = 5

/** The first matches, each with a selector that finds no other element. */
export function describeMatches(elements: readonly Element[]): Candidate[] {
  const selectorOf = selectorMaker()
  return elements
    .slice(0, mostCandidates)
    .map((element) => ({ selector: selectorOf(element), element: elementName(element) }))
}
