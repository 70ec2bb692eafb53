/** Runs in the page when a selector matches nothing: the elements of the page that its writer may have meant. */
import { distance } from '../../../core/errors/suggest.ts'
import { allElements, elementName, shortText } from './describe.page.ts'

export interface Candidate {
  /** A selector that finds the element. */
  selector: string
  /** What it finds, e.g. `button#buy "Buy now"`. */
  element: string
}

/** A part of the selector that can be misspelled. */
interface Wanted {
  readonly kind: 'id' | 'class' | 'text' | 'attribute'
  readonly value: string
  /** Name of the attribute, or role of the named element. */
  readonly of?: string
}

const maxElements = 20_000
const maxCandidates = 5
const maxNames = 8000

/** The nearest real elements, best first. */
export function nearest(root: Element, selector: string): Candidate[] {
  const wanted = parts(selector)
  if (wanted.length === 0) return []
  const elements = allElements(root, maxElements)
  const best = new Map<string, { candidate: Candidate; far: number }>()
  for (const part of wanted) {
    for (const { name, element, spelled } of namesFor(part, elements)) {
      const far = farness(part.value, name)
      if (far > 0.45 || far >= (best.get(spelled)?.far ?? 1)) continue
      best.set(spelled, { candidate: { selector: spelled, element: elementName(element) }, far })
    }
  }
  return [...best.values()]
    .sort((a, b) => a.far - b.far)
    .slice(0, maxCandidates)
    .map(({ candidate }) => candidate)
}

const patterns: readonly [RegExp, (found: RegExpExecArray) => Wanted | null][] = [
  [/role=([\w-]+)\[name=["']?(.+?)["']?(?:\s+[is])?\]/g, ([, role, name]) => ({ kind: 'text', value: name!, of: role! })],
  [/(?:^|>>)\s*text=["']?(.+?)["']?\s*(?=$|>>)/g, ([, text]) => ({ kind: 'text', value: text! })],
  [/:(?:has-text|text|text-is)\(["']?(.+?)["']?\)/g, ([, text]) => ({ kind: 'text', value: text! })],
  [/\[([\w-]+)[*^$~|]?=["']?([^\]"']+)["']?\]/g, ([, of, value]) => (of === 'name' || of === 'id' || of!.includes('-') || of === 'placeholder' || of === 'title' || of === 'type' || of === 'href' || of === 'value' || of === 'alt' || of === 'for' ? { kind: 'attribute', value: value!, of: of! } : null)],
  [/#((?:\\.|[\w-])+)/g, ([, id]) => ({ kind: 'id', value: id! })],
  [/\.((?:\\.|[A-Za-z_-][\w-]*))/g, ([, name]) => ({ kind: 'class', value: name! })],
  [/(?:^|[\s>+~])([a-z][\w-]*)(?=$|[\s>+~:])/g, ([, word]) => (document.createElement(word!) instanceof HTMLUnknownElement || word!.includes('-') ? { kind: 'id', value: word! } : null)],
] // prettier-ignore

/** Ids, classes, attribute values and texts that a selector names, the last ones first: they are most often wrong. */
function parts(selector: string): Wanted[] {
  const found: Wanted[] = []
  let rest = selector
  for (const [pattern, read] of patterns) {
    rest = rest.replaceAll(pattern, (...match: unknown[]) => {
      const part = read(match as unknown as RegExpExecArray)
      if (part) found.unshift(part)
      return ' '
    })
  }
  return found
}

interface Named {
  readonly name: string
  readonly element: Element
  readonly spelled: string
}

/** What the page has of the wanted kind, each name once. */
function namesFor(part: Wanted, elements: readonly Element[]): Named[] {
  const names = new Map<string, Named>()
  const add = (name: string | null | undefined, element: Element, spelled: (name: string) => string) => {
    if (!name || names.has(name) || names.size >= maxNames) return
    names.set(name, { name, element, spelled: spelled(name) })
  }
  for (const element of elements) {
    if (part.kind === 'id' || part.kind === 'class') {
      // Not `element.id`: a form answers that with its field of the name "id".
      add(element.getAttribute('id'), element, (id) => `#${CSS.escape(id)}`)
      for (const name of element.classList) add(name, element, (word) => `.${CSS.escape(word)}`)
    }
    if (part.kind === 'id') add(element.getAttribute('name'), element, (name) => `[name=${JSON.stringify(name)}]`)
    if (part.kind === 'attribute') {
      add(element.getAttribute(part.of!), element, (value) => `[${part.of}=${JSON.stringify(value)}]`)
    }
    if (part.kind === 'text' && speaks(element)) {
      const role = part.of && roleOf(element)
      const spelled = (text: string) =>
        role ? `role=${role}[name=${JSON.stringify(text)}]` : `text=${JSON.stringify(text)}`
      add(nameOf(element), element, spelled)
    }
  }
  return [...names.values()]
}

/** Whether people would name the element by its text. */
const speaks = (element: Element) =>
  element.matches('a, button, label, summary, option, input, select, textarea, h1, h2, h3, h4, h5, h6, li, td, th, dt, legend, [role], [aria-label]') ||
  (element.childElementCount === 0 && (element.textContent ?? '').length < 80) // prettier-ignore

const roles: Record<string, string> = {
  a: 'link', button: 'button', select: 'combobox', textarea: 'textbox', summary: 'button', option: 'option',
  h1: 'heading', h2: 'heading', h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading', li: 'listitem', td: 'cell',
} // prettier-ignore
const inputRoles: Record<string, string> = {
  checkbox: 'checkbox', radio: 'radio', submit: 'button', button: 'button', reset: 'button', range: 'slider', number: 'spinbutton', search: 'searchbox',
} // prettier-ignore

function roleOf(element: Element): string | undefined {
  const written = element.getAttribute('role')
  if (written) return written
  return element instanceof HTMLInputElement ? (inputRoles[element.type] ?? 'textbox') : roles[element.localName]
}

function nameOf(element: Element): string {
  const label = element.getAttribute('aria-label')
  if (label) return label
  if (element instanceof HTMLInputElement) {
    if (inputRoles[element.type] === 'button') return element.value
    return element.labels?.[0] ? shortText(element.labels[0], 80) : element.placeholder
  }
  return shortText(element, 80)
}

/** 0 for the same word, 1 for a wholly different one; a word inside the other is near. */
function farness(wanted: string, name: string): number {
  const [a, b] = [plain(wanted), plain(name)]
  if (!a || !b) return 1
  if (a === b) return 0.01
  const longer = Math.max(a.length, b.length)
  if (Math.min(a.length, b.length) >= 3 && (a.includes(b) || b.includes(a)))
    return 0.15 + 0.3 * (1 - Math.min(a.length, b.length) / longer)
  return Math.abs(a.length - b.length) / longer > 0.45 ? 1 : distance(a, b) / longer
}

const plain = (text: string) => text.toLowerCase().replaceAll(/[-_\s]/g, '')
