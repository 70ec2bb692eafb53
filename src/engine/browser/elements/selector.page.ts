/** Runs in the page: finds short CSS selectors that match only one element. */

import { isShadowRoot } from './node-kinds.page.ts'
import { oncePer } from '../../../core/once-per.ts'

interface Counts {
  readonly ids: Map<string, number>
  readonly attributes: Map<string, number>
}

/** Attributes that identify elements, best first. */
const identifying = ['data-testid', 'data-test', 'data-qa', 'name', 'aria-label', 'placeholder', 'href', 'for'] as const
const withAttributes = ['id', ...identifying].map((name) => `[${name}]`).join()
const longest = 60

/** Returns a function that builds selectors, including open shadow roots, as long as the document does not change. */
export function selectorMaker(): (element: Element) => string {
  // Count once for all selectors: checking each one would search the document again.
  const countsOf = oncePer((root: Document | ShadowRoot): Counts => {
    const counts = { ids: new Map(), attributes: new Map() }
    count(root, counts)
    return counts
  })
  return function selectorOf(element): string {
    const root = element.getRootNode() as Document | ShadowRoot
    const within = selectorWithin(element, countsOf(root))
    // Playwright's CSS engine pierces shadow roots.
    return isShadowRoot(root) ? `${selectorOf(root.host)} ${within}` : within
  }
}

function selectorWithin(element: Element, counts: Counts): string {
  const own = shortest(element, counts)
  if (own) return own
  const steps: string[] = []
  for (let at: Element | null = element; at; at = at.parentElement) {
    const anchor = at === element ? undefined : shortest(at, counts)
    if (anchor) return [anchor, ...steps].join(' > ')
    if (at === document.documentElement || at === document.body) return [at.localName, ...steps].join(' > ')
    steps.unshift(stepOf(at))
  }
  return steps.join(' > ')
}

/** Returns a selector by a unique ID or identifying attribute. */
function shortest(element: Element, { ids, attributes }: Counts): string | undefined {
  if (element.id && element.id.length <= longest && ids.get(element.id) === 1) return `#${CSS.escape(element.id)}`
  for (const name of identifying) {
    const value = element.getAttribute(name)
    if (!value || value.length > longest || attributes.get(keyOf(element, name, value)) !== 1) continue
    return `${element.localName}[${name}="${value.replaceAll(/["\\]/g, '\\$&')}"]`
  }
  return undefined
}

function count(root: Document | ShadowRoot, counts: Counts): void {
  for (const element of root.querySelectorAll(withAttributes)) {
    if (element.id) add(counts.ids, element.id)
    for (const name of identifying) {
      const value = element.getAttribute(name)
      if (value && value.length <= longest) add(counts.attributes, keyOf(element, name, value))
    }
    if (element.shadowRoot) count(element.shadowRoot, counts)
  }
}

const keyOf = (element: Element, name: string, value: string): string => `${element.localName} ${name} ${value}`

function add(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1)
}

/** Returns `li:nth-of-type(3)`, or only the tag if it is unique among its siblings. */
function stepOf(element: Element): string {
  let before = 0
  let after = 0
  for (let other = element.previousElementSibling; other; other = other.previousElementSibling)
    if (other.localName === element.localName) before++
  for (let other = element.nextElementSibling; other && after === 0; other = other.nextElementSibling)
    if (other.localName === element.localName) after++
  const tag = CSS.escape(element.localName)
  return before + after === 0 ? tag : `${tag}:nth-of-type(${before + 1})`
}

/** An ID with a long number, at the start of a part of a selector. */
const numbered = /(^|>> )#([A-Za-z][\w-]*?)\d{5,}[\w-]*(?=$|[ >.:[])/g

/** Replaces IDs with long numbers, which many pages generate anew, by their beginnings if these find the same element. */
export function withoutNumbers(selector: string, isSame: (selector: string) => boolean): string {
  const stable = selector.replaceAll(numbered, '$1[id^="$2"]')
  return stable !== selector && isSame(stable) ? stable : selector
}
