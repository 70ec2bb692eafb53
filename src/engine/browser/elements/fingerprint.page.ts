/** Runs in the page: takes fingerprints of elements, and finds elements by them. */
import { isHtml } from './node-kinds.page.ts'
import type { Fingerprint } from '../../../core/shapes/recording.ts'
import { selectorMaker } from './selector.page.ts'
import { allElements, elementName, isShown, shortText } from './describe.page.ts'
import { type Candidate, nameOf, roleOf } from './nearest.page.ts'

const longest = 200
const maxElements = 20_000
const maxCandidates = 5

/** Identifying attributes, with the weight that an equal value has. */
const attributeWeights: Readonly<Record<string, number>> = {
  id: 3,
  'data-testid': 3,
  'data-test': 3,
  'data-qa': 3,
  name: 3,
  'aria-label': 2,
  placeholder: 2,
  href: 2,
  for: 2,
  title: 2,
  alt: 2,
  type: 1,
}
const nameWeight = 3

export function fingerprintOf(element: Element): Fingerprint {
  const role = roleOf(element)
  const name = cut(nameOf(element))
  // The text of a field is what was typed.
  const text = isField(element) ? '' : cut(shortText(element, longest))
  const attributes = Object.fromEntries(
    Object.keys(attributeWeights).flatMap((key) => {
      const value = element.getAttribute(key)
      return value ? [[key, cut(value)]] : []
    }),
  )
  return {
    tag: element.localName,
    ...(role && { role }),
    ...(name && !(isField(element) && isEditableHost(element)) && { name }),
    ...(text && text !== name && { text }),
    ...(Object.keys(attributes).length > 0 && { attributes }),
    position: positionOf(element),
  }
}

const cut = (text: string) => text.replaceAll(/\s+/g, ' ').trim().slice(0, longest)
const isEditableHost = (element: Element) => isHtml(element) && element.isContentEditable
const isField = (element: Element) => element.matches('input, textarea, select') || isEditableHost(element)

function positionOf(element: Element): number {
  let position = 1
  for (let at = element.previousElementSibling; at; at = at.previousElementSibling)
    if (at.localName === element.localName) position++
  return position
}

export interface SimilarElements {
  /** Elements that fit the fingerprint equally well; a single one is unambiguous. */
  readonly candidates: Candidate[]
}

/** An element is similar when at least this share of the weighted facts is equal, and no other one is about as similar. */
const minShare = 0.5
const minLead = 0.15

/** Finds the elements that fit a fingerprint best. With `byPosition`, only those with the same position. */
export function findSimilar(
  root: Element,
  { fingerprint, byPosition }: { fingerprint: Fingerprint; byPosition: boolean },
): SimilarElements {
  const found = allElements(root, maxElements)
    .filter((element) => element.localName === fingerprint.tag && (isShown(element) || element.matches('[type=file]')))
    .map((element) => ({ element, share: shareOf(fingerprintOf(element), fingerprint, byPosition) }))
    .filter(({ share }) => share >= minShare)
    .toSorted((a, b) => b.share - a.share)
  const best = found[0]?.share ?? 0
  const selectorOf = selectorMaker()
  const candidates = found
    .filter(({ share }) => best - share < minLead)
    .slice(0, maxCandidates)
    .map(({ element }) => ({ selector: selectorOf(element), element: elementName(element) }))
  return { candidates }
}

/** Returns the share of the facts of either fingerprint that are equal, by weight. */
function shareOf(seen: Fingerprint, wanted: Fingerprint, byPosition: boolean): number {
  if (seen.role !== wanted.role) return 0
  if (byPosition && seen.position !== wanted.position) return 0
  let equal = 0
  let all = 0
  const compare = (a: unknown, b: unknown, weight: number) => {
    if (a === undefined && b === undefined) return
    all += weight
    if (a === b) equal += weight
  }
  compare(seen.name, wanted.name, nameWeight)
  compare(seen.text, wanted.text, 1)
  for (const [key, weight] of Object.entries(attributeWeights))
    compare(seen.attributes?.[key], wanted.attributes?.[key], weight)
  // A position alone identifies nothing.
  if (equal === 0) return 0
  compare(seen.position, wanted.position, 1)
  return equal / all
}
