/** Runs in the page when a selector matches nothing: finds similar elements. */
import { distance } from '../../../core/errors/suggest.ts'
import { allElements, elementName, shortText } from './describe.page.ts'

export interface Candidate {
  selector: string
  /** Description of the element, e.g. `button#buy "Buy now"`. */
  element: string
}

/** A part of the selector that may be misspelled. */
interface SelectorPart {
  readonly kind: 'id' | 'class' | 'text' | 'attribute'
  readonly value: string
  /** Name of the attribute, or role of the named element. */
  readonly of?: string
}

const maxElements = 20_000
/** More than an error shows: some of the selectors may match nothing. */
const maxCandidates = 10
const maxNames = 8000

/** Returns the most similar elements, best first. */
export function nearest(root: Element, selector: string): Candidate[] {
  const parts = parseParts(root, selector)
  if (parts.length === 0) return []
  const elements = allElements(root, maxElements)
  const best = new Map<string, { candidate: Candidate; difference: number }>()
  for (const part of parts) {
    for (const { name, ...found } of namesFor(part, elements)) {
      const isOtherRole =
        part.kind === 'text' && part.of !== undefined && !found.selector.startsWith(`role=${part.of}[`)
      const difference = differenceOf(part.value, name) + (isOtherRole ? 0.1 : 0)
      if (difference > 0.45 || difference >= (best.get(found.selector)?.difference ?? 1)) continue
      const candidate = { selector: found.selector, element: elementName(found.element) }
      best.set(found.selector, { candidate, difference })
    }
  }
  return [...best.values()]
    .sort((a, b) => a.difference - b.difference)
    .slice(0, maxCandidates)
    .map(({ candidate }) => candidate)
}

const words = /^\s*\p{L}[\p{L}\p{M}\p{N}_-]*…?(?:\s+[\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*…?)*\s*$/u

/**
 * Returns whether a selector is a name, as in `click Send`: words, one of which names no element of HTML, SVG or MathML, or
 * is written as a name, such as `Search`, and names none on the page; or what a control shows, such as `Save & close`.
 */
export function isName(root: Element, selector: string): boolean {
  const { ownerDocument: page, namespaceURI } = root
  if (namespaceURI !== 'http://www.w3.org/1999/xhtml') return false
  if (!words.test(selector)) return isShown(root, selector)
  const isElement = (word: string) =>
    /^[a-z][\w-]*$/i.test(word) &&
    !/^[A-Z][a-z]/.test(word) &&
    (!(page.createElement(word) instanceof HTMLUnknownElement) ||
      page.createElementNS('http://www.w3.org/2000/svg', word).constructor !== SVGElement ||
      page.createElementNS('http://www.w3.org/1998/Math/MathML', word).constructor !== MathMLElement)
  const isKnown = (word: string) => !/^\d/.test(word) && (isElement(word) || page.querySelector(word) !== null)
  return !selector.trim().split(/\s+/).every(isKnown)
}

const controls =
  'a, button, label, summary, option, input:is([type=submit], [type=button], [type=reset]), [role]:not(:has(a, button))'

/** Returns whether a control of the page shows a text. */
function isShown(root: Element, text: string): boolean {
  const wanted = spaced(text)
  const isWanted = (element: Element) => element.matches(controls) && spaced(nameOf(element)) === wanted
  return wanted !== '' && allElements(root, maxElements).some(isWanted)
}

const spaced = (text: string) => text.replaceAll(/\s+/g, ' ').trim().toLowerCase()

const patterns: readonly [RegExp, (found: readonly string[]) => SelectorPart | null][] = [
  [
    /role=([\w-]+)\[name=["']?(.+?)["']?(?:\s+[is])?\]/g,
    ([, role, name]) => ({ kind: 'text', value: name!, of: role! }),
  ],
  [/(?:^|>>)\s*text=["']?(.+?)["']?\s*(?=$|>>)/g, ([, text]) => ({ kind: 'text', value: text! })],
  [/:(?:has-text|text|text-is)\(["']?(.+?)["']?\)/g, ([, text]) => ({ kind: 'text', value: text! })],
  [
    /\[([\w-]+)[*^$~|]?=["']?([^\]"']+)["']?\]/g,
    ([, of, value]) =>
      of === 'name' ||
      of === 'id' ||
      of!.includes('-') ||
      of === 'placeholder' ||
      of === 'title' ||
      of === 'type' ||
      of === 'href' ||
      of === 'value' ||
      of === 'alt' ||
      of === 'for'
        ? { kind: 'attribute', value: value!, of: of! }
        : null,
  ],
  [/#((?:\\.|[\w-])+)/g, ([, id]) => ({ kind: 'id', value: id! })],
  [/\.((?:\\.|[A-Za-z_-][\w-]*))/g, ([, name]) => ({ kind: 'class', value: name! })],
  [
    /(?:^|[\s>+~])([a-z][\w-]*)(?=$|[\s>+~:])/g,
    ([, word]) =>
      document.createElement(word!) instanceof HTMLUnknownElement || word!.includes('-')
        ? { kind: 'id', value: word! }
        : null,
  ],
]

/** Returns the IDs, classes, attribute values and texts in a selector, the last ones, which are often wrong, first. */
function parseParts(root: Element, selector: string): SelectorPart[] {
  const found: SelectorPart[] = isName(root, selector) ? [{ kind: 'text', value: selector.trim() }] : []
  let rest = selector
  for (const [pattern, read] of patterns) {
    rest = rest.replaceAll(pattern, (...match: string[]) => {
      const part = read(match)
      if (part) found.unshift(part)
      return ' '
    })
  }
  return found
}

interface Named {
  readonly name: string
  readonly element: Element
  readonly selector: string
}

/** Returns the names on the page of the same kind, without duplicates. */
function namesFor(part: SelectorPart, elements: readonly Element[]): Named[] {
  const names = new Map<string, Named>()
  const add = (name: string | null | undefined, element: Element, selector: (name: string) => string) => {
    if (!name || names.has(name) || names.size >= maxNames) return
    names.set(name, { name, element, selector: selector(name) })
  }
  for (const element of elements) {
    if (part.kind === 'id' || part.kind === 'class') {
      // Not `element.id`: a form with a field named "id" returns that field.
      add(element.getAttribute('id'), element, (id) => `#${CSS.escape(id)}`)
      for (const name of element.classList) add(name, element, (word) => `.${CSS.escape(word)}`)
    }
    if (part.kind === 'id') add(element.getAttribute('name'), element, (name) => `[name=${JSON.stringify(name)}]`)
    if (part.kind === 'attribute') {
      add(element.getAttribute(part.of!), element, (value) => `[${part.of}=${JSON.stringify(value)}]`)
    }
    if (part.kind === 'text' && isNamedByText(element) && !(part.of && isIcon(element))) {
      const found = part.of ? roleNameOf(element) : nameOf(element)
      const role = part.of || !isInText(element, found) ? roleOf(element) : undefined
      const selector = (text: string) =>
        role ? `role=${role}[name=${JSON.stringify(text)}]` : `text=${JSON.stringify(text)}`
      add(found, element, selector)
    }
  }
  return [...names.values()]
}

/** Returns whether selectors usually name the element by its text. */
const isNamedByText = (element: Element) =>
  element.matches(
    'a, button, label, summary, option, input, select, textarea, h1, h2, h3, h4, h5, h6, li, td, th, dt, legend, [role], [aria-label]',
  ) ||
  (element.childElementCount === 0 && (element.textContent ?? '').length < 80)

const roles: Record<string, string> = {
  a: 'link',
  button: 'button',
  select: 'combobox',
  textarea: 'textbox',
  summary: 'button',
  option: 'option',
  h1: 'heading',
  h2: 'heading',
  h3: 'heading',
  h4: 'heading',
  h5: 'heading',
  h6: 'heading',
  img: 'img',
  li: 'listitem',
  td: 'cell',
}
const inputRoles: Record<string, string> = {
  checkbox: 'checkbox',
  radio: 'radio',
  submit: 'button',
  button: 'button',
  reset: 'button',
  range: 'slider',
  number: 'spinbutton',
  search: 'searchbox',
}

export function roleOf(element: Element): string | undefined {
  const written = element.getAttribute('role')
  if (written) return written
  return element instanceof HTMLInputElement ? (inputRoles[element.type] ?? 'textbox') : roles[element.localName]
}

export function nameOf(element: Element): string {
  const label = element.getAttribute('aria-label')
  if (label) return label
  if (element instanceof HTMLInputElement) {
    if (inputRoles[element.type] === 'button') return element.value
    return element.labels?.[0] ? shortText(element.labels[0], 80) : element.placeholder
  }
  return shortText(element, 80) || titleOf(element)
}

/** Whether the name of an image is a part of that of its link or button. */
const isIcon = (element: Element) => element.localName === 'img' && element.closest('a, button') !== null

/** Returns the name by which `role=` finds an element: the alternative texts of its images are a part of it. */
function roleNameOf(element: Element): string {
  const images = element.matches('a, button') && !element.ariaLabel ? element.querySelectorAll('img[alt]') : []
  if (images.length === 0) return nameOf(element)
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
  let name = ''
  for (let node = walker.nextNode(); node && name.length < 80; node = walker.nextNode())
    name += node instanceof HTMLImageElement ? node.alt : node instanceof Text ? node.data : ''
  return name.replaceAll(/\s+/g, ' ').trim()
}

/** Returns the name of an element without text: its title, or the alternative text of its image. */
function titleOf(element: Element): string {
  const image = element.localName === 'img' ? element : element.querySelector('img')
  return image?.getAttribute('alt') || element.getAttribute('title') || image?.getAttribute('title') || ''
}

/** Returns whether `text=` finds an element by this name, not only `role=`. */
function isInText(element: Element, name: string): boolean {
  if (!(element instanceof HTMLInputElement)) return shortText(element, 80) === name
  return name !== element.getAttribute('aria-label') && name !== element.placeholder
}

/** Returns how different two words are, from 0.01 for equal to 1 for unrelated ones; a word inside the other is similar. */
function differenceOf(word: string, name: string): number {
  const [a, b] = [plain(word), plain(name)]
  if (!a || !b) return 1
  if (a === b) return 0.01
  const longer = Math.max(a.length, b.length)
  if (Math.min(a.length, b.length) >= 3 && (a.includes(b) || b.includes(a)))
    return 0.15 + 0.3 * (1 - Math.min(a.length, b.length) / longer)
  return Math.abs(a.length - b.length) / longer > 0.45 ? 1 : distance(a, b) / longer
}

const plain = (text: string) => text.toLowerCase().replaceAll(/[-_\s]/g, '')
