/** Runs in Playwright's isolated world, before a snapshot: makes inline elements that can be clicked, and editors, part of it. */
import { revealAreas } from './areas.page.ts'
import { revealCanvas } from './canvas.page.ts'
import { revealEditor } from './editors.page.ts'
import { keepClickable, nameHidden, restoreAttributes } from './hidden.page.ts'
import { markHiddenTexts } from '../visibility/hidden-text.page.ts'
import { shownParent } from '../../elements/describe.page.ts'
import { isUsable, type Seen } from './flags.page.ts'
import { hasControls, mayBeHost } from '../listening.page.ts'
import { findToolNames } from './tool-names.page.ts'

/** Elements whose text already belongs to a control. */
const controls = 'a[href], button, select, textarea, option, [role=button], [role=link], [contenteditable]'

/**
 * Playwright merges an inline element without a role into the text around it if it contains nothing but text. It does
 * not do so if the element seems to have a second child: in this world only, the page sees its own nodes.
 */
export function revealInline(): Revealed {
  findToolNames()
  restoreAttributes()
  revealAreas()
  const found: Found = { roots: [], usable: [] }
  const mayHaveClosed = revealIn(document, found)
  nameHidden()
  for (const element of found.usable) keepClickable(element)
  markHiddenTexts(found.roots)
  return { mayHaveClosed, content: contentIn(document) }
}

/** The element that has all content: Playwright waits for a body, and reads nothing else. */
type ContentPlace = 'none' | 'body' | 'root' | 'later'

function contentIn({ documentElement: root, body, head, readyState }: Document): ContentPlace {
  // An SVG or XML document never gets a body.
  if (body === null) return readyState === 'loading' ? 'later' : 'none'
  const isContent = (node: Node) => node instanceof Element || (node instanceof Text && /\S/.test(node.data))
  const isOutside = [...root.childNodes].some((node) => node !== body && node !== head && isContent(node))
  return isOutside ? 'root' : 'body'
}

export interface Revealed {
  readonly content: ContentPlace
  /** Whether there are elements that may have a closed shadow root, which this world does not know. */
  readonly mayHaveClosed: boolean
}

interface Found {
  readonly roots: (Document | ShadowRoot)[]
  readonly usable: Element[]
}

function revealIn(root: Document | ShadowRoot, found: Found): boolean {
  found.roots.push(root)
  let mayHaveClosed = false
  for (const element of root.querySelectorAll('*')) {
    if (element.shadowRoot) mayHaveClosed = revealIn(element.shadowRoot, found) || mayHaveClosed
    mayHaveClosed = mayBeHost(element) || mayHaveClosed
    if (isUsable(element)) found.usable.push(element)
    revealEditor(element)
    revealCanvas(element)
    if (element.childElementCount > 0 || element.firstChild === null) continue
    const isRevealed = isClickable(element)
    if (Object.hasOwn(element, 'childNodes') === isRevealed) continue
    if (isRevealed) Object.defineProperty(element, 'childNodes', { configurable: true, get: nodesAndOne })
    else delete (element as { childNodes?: unknown }).childNodes
  }
  return mayHaveClosed
}

function isClickable(element: Element): boolean {
  const style = getComputedStyle(element)
  if (!style.display.startsWith('inline')) return false
  // The cursor is inherited: only the outermost element with it is the control.
  const hasCursor = style.cursor === 'pointer' && !isPointed(element.parentElement)
  // The label of a field that is shown is not a second control.
  const isLabel = element.closest('label') !== null
  return ((hasCursor && !isLabel) || isUsable(element)) && !element.closest(controls)
}

const isPointed = (element: Element | null): boolean =>
  element !== null && getComputedStyle(element).cursor === 'pointer'

const ownNodes = Object.getOwnPropertyDescriptor(Node.prototype, 'childNodes')!

function nodesAndOne(this: Element): Node[] {
  return [...(ownNodes.get!.call(this) as NodeListOf<Node>), document.createComment('')]
}

/** Playwright's references of an element that can be clicked, and of those that may stand in its place. */
export interface Omitted {
  readonly ref: string
  readonly hasCursor: boolean
  readonly text: string
  /** The first elements in it. */
  readonly inside: readonly string[]
  /** Elements around it, from the inside; those that contain nothing else, if it has no text. */
  readonly around: readonly string[]
}

/**
 * Describes an element that can be clicked, without a role, a name and controls in it. Playwright omits it for the only
 * element in it, and gives its text to an element around it that contains nothing else.
 */
export function omittedIn(element: Element): Omitted | null {
  const { role, name, ref } = (element as Seen)._ariaRef!
  if (role !== 'generic' || name) return null
  const hasCursor = isPointed(element) && !isPointed(element.parentElement)
  if ((!hasCursor && !isUsable(element)) || !isShown(element) || hasControls(element)) return null
  const text = element instanceof HTMLElement ? element.innerText.trim().slice(0, maxText) : ''
  const inside = [...element.querySelectorAll('*')].slice(0, maxInside)
  const around: Element[] = []
  for (let at: Element | null = element; at && (text || isAlone(at));) {
    at = shownParent(at)
    if (at) around.push(at)
  }
  return { ref, hasCursor, text, inside: refsOf(inside), around: refsOf(around) }
}

/** Maximum length of the text of an element that stands for its content, and number of elements that are looked at. */
const [maxText, maxInside] = [1000, 20]

const refsOf = (elements: readonly Element[]): string[] =>
  elements.flatMap((element) => (element as Seen)._ariaRef?.ref ?? [])

const isShown = (element: Element): boolean => element.checkVisibility({ visibilityProperty: true })

/** Returns whether the parent of an element has no other content that is seen. */
function isAlone(element: Element): boolean {
  for (const node of element.parentNode?.childNodes ?? []) {
    if (node === element) continue
    if (node instanceof Element ? isShown(node) : node instanceof Text && /\S/.test(node.data)) return false
  }
  return true
}
