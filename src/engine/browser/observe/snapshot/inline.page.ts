/** Runs in Playwright's isolated world, before a snapshot: makes inline elements that can be clicked, and editors, part of it. */
import { revealAreas } from './areas.page.ts'
import { revealCanvas } from './canvas.page.ts'
import { revealEditor } from './editors.page.ts'
import { nameHidden } from './hidden.page.ts'
import { markHiddenTexts } from '../visibility/hidden-text.page.ts'
import { shownParent } from '../../elements/describe.page.ts'
import { isUsable, type Seen } from './flags.page.ts'
import { mayBeHost } from '../listening.page.ts'
import { findToolNames } from './tool-names.page.ts'

/** Elements whose text already belongs to a control. */
const controls = 'a[href], button, select, textarea, option, [role=button], [role=link], [contenteditable]'

/**
 * Playwright merges an inline element without a role into the text around it if it contains nothing but text. It does
 * not do so if the element seems to have a second child: in this world only, the page sees its own nodes.
 */
export function revealInline(): Revealed {
  findToolNames()
  revealAreas()
  const roots: (Document | ShadowRoot)[] = []
  const mayHaveClosed = revealIn(document, roots)
  nameHidden()
  markHiddenTexts(roots)
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

function revealIn(root: Document | ShadowRoot, roots: (Document | ShadowRoot)[]): boolean {
  roots.push(root)
  let mayHaveClosed = false
  for (const element of root.querySelectorAll('*')) {
    if (element.shadowRoot) mayHaveClosed = revealIn(element.shadowRoot, roots) || mayHaveClosed
    mayHaveClosed = mayBeHost(element) || mayHaveClosed
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

/** Playwright's references of an element that can be clicked, and of those around it that may stand in its place. */
export type Inlined = [ref: string, hasCursor: boolean, ...around: string[]]

/**
 * Describes an element that can be clicked, without a role and a name, if it is all that the element around it contains:
 * Playwright gives its text to that one, and omits it.
 */
export function inlinedIn(element: Element): Inlined | null {
  const { role, name, ref } = (element as Seen)._ariaRef!
  if (role !== 'generic' || name || !isAlone(element)) return null
  const hasCursor = isPointed(element) && !isPointed(element.parentElement)
  if (!hasCursor && !isUsable(element)) return null
  const around: string[] = []
  for (let at: Element | null = element; at && isAlone(at); at = shownParent(at)) {
    const outer = (shownParent(at) as Seen | null)?._ariaRef
    if (outer) around.push(outer.ref)
  }
  return [ref, hasCursor, ...around]
}

/** Returns whether an element is seen, and its parent has no other content. */
function isAlone(element: Element): boolean {
  if (!element.checkVisibility({ visibilityProperty: true })) return false
  for (const node of element.parentNode?.childNodes ?? []) {
    if (node === element) continue
    if (node instanceof Element ? node.checkVisibility() : node instanceof Text && /\S/.test(node.data)) return false
  }
  return true
}
