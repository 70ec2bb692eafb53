/**
 * Runs in Playwright's isolated world of every frame, hidden from the page: measures the elements of an accessibility
 * snapshot, and assigns their public references.
 */
import {
  checkOf,
  type DocumentFacts,
  flagsOf,
  isEditingHost,
  isUsable,
  type Seen,
  documentFactsOf,
} from './flags.page.ts'
import { type Omitted, omittedIn } from './omitted/omitted.page.ts'
export { revealInline } from './inline.page.ts'
import { foundToolNames } from './tool-names.page.ts'
export { forget, openRoots, possibleHosts, remember } from '../listening.page.ts'
import { restoreAttributes } from './attributes.page.ts'
import { bits } from './flag-bits.ts'
import { frameCheck, restoreTexts } from '../visibility/hidden-text.page.ts'
import { selectorMaker } from '../../elements/selector.page.ts'
import { tooltipAttributes } from '../../elements/icons.ts'
import { codeText, drawnText, type EditorText } from '../../../../commands/editors/editor-text.ts'
import { shortText } from '../../elements/describe.page.ts'

export interface PageFacts {
  title: string
  ready_state: string
  viewport: { width: number; height: number; device_scale_factor: number }
  scroll: { x: number; y: number; max_x: number; max_y: number }
}

type BoxNumbers = [x: number, y: number, width: number, height: number]

/** Playwright's reference, flags, the box in the frame's viewport, and for an iframe its border box. */
export type Mark = [ref: string, flags: number, ...box: BoxNumbers, outer?: BoxNumbers]

export interface Measured {
  /** Null in frames below the first. */
  page: PageFacts | null
  /** Number of requested elements in this document. */
  found: number
  /** Number of elements that have a reference or can get one. */
  remembered: number
  /** Marks of the requested elements, and of others that are usable although their role does not say so. */
  marks: Mark[]
  /** Texts of editors, which Playwright's tree omits or mixes with what an editor draws around them. */
  contents: [ref: string, content: string, isWhole: boolean][]
  /** Clickable elements that may be missing from the snapshot. */
  omitted: Omitted[]
  /** Tooltips of the elements without a name. */
  tooltips: [ref: string, tooltip: string][]
  /** ID of the document. */
  document: string
  /** Names of the tools that the document offers. */
  tools: string[]
}

export interface ElementFacts {
  tag: string
  selector: string
  text: string
  value: string | null
  href: string | null
  checked: boolean | null
  disabled: boolean
  visible: boolean
}

export interface Named {
  /** Numbers by Playwright's references. */
  numbers: [ref: string, number: number][]
  next: number
  facts: [ref: string, facts: ElementFacts][]
}

interface Memory {
  readonly document: string
  readonly numbers: WeakMap<Element, number>
  /** Texts of editors at the last snapshot. */
  readonly texts: WeakMap<Element, EditorText>
  /** Elements of the last snapshot by Playwright's references. */
  found: Map<string, WeakRef<Element>>
}

const key = Symbol.for('bax.elements')
const registry = globalThis as { [key]?: Memory }
const memory = (registry[key] ??= {
  document: `${performance.timeOrigin}-${Math.random()}`,
  numbers: new WeakMap(),
  texts: new WeakMap(),
  found: new Map(),
})

/** Maximum length of an editor's content. */
const contentChars = 100_000

/** Measures the elements of a snapshot by Playwright's references; `unnamed` are those of elements without a name. */
export async function measure({ refs, unnamed }: { refs: string[]; unnamed: string[] }): Promise<Measured> {
  restoreAttributes()
  restoreTexts()
  const [requested, nameless] = [new Set(refs), new Set(unnamed)]
  const measured: Measured = {
    page: window.top === window ? pageFacts() : null,
    found: 0,
    remembered: 0,
    marks: [],
    contents: [],
    omitted: [],
    tooltips: [],
    document: memory.document,
    tools: [],
  }
  memory.found = new Map()
  if (requested.size > 0) {
    const elements = [...everyElement(document)]
    const around = documentFactsOf(elements)
    const isHidden = frameCheck()
    for (const element of elements) {
      const ref = (element as Seen)._ariaRef?.ref
      if (ref === undefined) continue
      measureOne(element, ref, requested.has(ref), { around, isHidden, measured })
      if (nameless.has(ref)) measured.tooltips.push([ref, tooltipOf(element)])
    }
  }
  measured.remembered = memory.found.size
  measured.tools = await foundToolNames()
  return measured
}

interface MeasureContext {
  readonly around: DocumentFacts
  /** Returns whether people cannot see a frame. */
  readonly isHidden: (frame: Element) => boolean
  readonly measured: Measured
}

function measureOne(
  element: Element,
  ref: string,
  isRequested: boolean,
  { around, isHidden, measured }: MeasureContext,
): void {
  const omitted = isRequested ? null : omittedIn(element)
  if (omitted) measured.omitted.push(omitted)
  const isMarked = isRequested || omitted !== null || isUsable(element) || around.editors.has(element)
  if (isRequested) measured.found++
  // Remember elements with a number even if they are not requested now.
  if (isMarked || memory.numbers.has(element)) memory.found.set(ref, new WeakRef(element))
  if (!isMarked) return
  const rect = element.getBoundingClientRect()
  const box = borderBox(rect)
  const inner = element instanceof HTMLIFrameElement ? documentBox(element, box) : undefined
  const flags = flagsOf(element, around, rect) | (inner && isHidden(element) ? bits.hidden : 0)
  measured.marks.push([ref, flags, ...(inner ?? box), ...(inner ? [box] : [])] as Mark)
  const content = isTextEditor(element) || around.editors.has(element) ? editorText(element) : null
  if (content) memory.texts.set(element, content)
  if (content) measured.contents.push([ref, content.text.slice(0, contentChars), content.isWhole])
  const value = element.matches('[role=slider], [role=spinbutton]:empty') ? valueOf(element) : null
  if (value !== null) measured.contents.push([ref, value, true])
}

const tooltipOf = (element: Element): string =>
  tooltipAttributes.map((name) => element.getAttribute(name)).find(Boolean) ?? ''

const editorText = (element: Element): EditorText | null => codeText(element) ?? drawnText(element)

/** Returns whether an element takes the text of an editor: as its content, or as the field for its keys. */
const isTextEditor = (element: Element): boolean =>
  (isEditingHost(element) && element.getAttribute('role') === 'textbox') ||
  (element instanceof HTMLTextAreaElement && element.closest('.CodeMirror') !== null)

/** Assigns numbers to elements without one, and returns details of some. */
export function name({ refs, next, detailed }: { refs: string[]; next: number; detailed: string[] }): Named {
  const result: Named = { numbers: [], next, facts: [] }
  const unnamed = new Set(refs)
  // In document order; existing numbers are included even if not requested.
  for (const [ref, weak] of memory.found) {
    const element = weak.deref()
    if (!element) continue
    let number = memory.numbers.get(element)
    if (number === undefined && unnamed.has(ref)) memory.numbers.set(element, (number = result.next++))
    if (number !== undefined) result.numbers.push([ref, number])
  }
  const selectorOf = selectorMaker()
  for (const ref of detailed) {
    const element = memory.found.get(ref)?.deref()
    if (element) result.facts.push([ref, factsOf(element, selectorOf)])
  }
  return result
}

function* everyElement(root: Document | ShadowRoot): Generator<Element> {
  for (const element of root.querySelectorAll('*')) {
    yield element
    if (element.shadowRoot) yield* everyElement(element.shadowRoot)
  }
}

function borderBox({ x, y, width, height }: DOMRect): BoxNumbers {
  return [round(x), round(y), round(width), round(height)]
}

/** Returns the box of a frame's document. */
function documentBox(frame: HTMLIFrameElement, [x, y]: BoxNumbers): BoxNumbers {
  const { paddingLeft, paddingTop } = getComputedStyle(frame)
  const dx = frame.clientLeft + Number.parseFloat(paddingLeft)
  const dy = frame.clientTop + Number.parseFloat(paddingTop)
  return [round(x + dx), round(y + dy), frame.clientWidth, frame.clientHeight]
}

const round = (value: number): number => Math.round(value * 100) / 100

function pageFacts(): PageFacts {
  const root = document.scrollingElement ?? document.documentElement
  return {
    title: document.title,
    ready_state: document.readyState,
    viewport: { width: innerWidth, height: innerHeight, device_scale_factor: devicePixelRatio },
    scroll: {
      x: Math.round(scrollX),
      y: Math.round(scrollY),
      max_x: Math.max(0, root.scrollWidth - innerWidth),
      max_y: Math.max(0, root.scrollHeight - innerHeight),
    },
  }
}

function factsOf(element: Element, selectorOf: (element: Element) => string): ElementFacts {
  const { width, height } = element.getBoundingClientRect()
  const link = element.closest('a[href], area[href]')
  return {
    tag: element.localName,
    selector: selectorOf(element),
    text: shortText(element, 100),
    value: valueOf(element),
    href: link instanceof HTMLAnchorElement || link instanceof HTMLAreaElement ? link.href : null,
    checked: checkedOf(element),
    disabled: element.matches(':disabled') || element.closest('[aria-disabled="true"]') !== null,
    visible: width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true }),
  }
}

function valueOf(element: Element): string | null {
  if (element instanceof HTMLInputElement) {
    // Never report the value of a password field; `checked` has the state of a checkbox.
    if (['password', 'checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'hidden'].includes(element.type))
      return null
    return element.value
  }
  const editor = memory.texts.get(element) ?? (isEditingHost(element) ? editorText(element) : null)
  // A part is not the value.
  if (editor) return editor.isWhole ? editor.text : null
  if (element instanceof HTMLTextAreaElement) return element.value
  if (element instanceof HTMLSelectElement)
    return element.multiple ? [...element.selectedOptions].map(({ value }) => value).join(', ') : element.value
  return element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow')
}

function checkedOf(element: Element): boolean | null {
  if (element instanceof HTMLInputElement && (element.type === 'checkbox' || element.type === 'radio'))
    return element.checked
  const check = checkOf(element)
  if (check) return check.checked
  const state = element.getAttribute('aria-checked') ?? element.getAttribute('aria-pressed')
  return state === null ? null : state === 'true'
}
