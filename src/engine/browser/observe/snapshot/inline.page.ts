/** Runs in Playwright's isolated world, before a snapshot: makes inline elements that can be clicked, and editors, part of it. */
import { revealAreas } from './areas.page.ts'
import { revealCanvas } from './canvas.page.ts'
import { revealEditor } from './editors.page.ts'
import { keepClickable, nameHidden, restoreAttributes } from './attributes.page.ts'
import { markHiddenTexts } from '../visibility/hidden-text.page.ts'
import { isUsable } from './flags.page.ts'
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

/** Returns whether an element has the cursor of a link, its own or that of an element around it. */
export const isPointed = (element: Element | null): boolean =>
  element !== null && getComputedStyle(element).cursor === 'pointer'

const ownNodes = Object.getOwnPropertyDescriptor(Node.prototype, 'childNodes')!

function nodesAndOne(this: Element): Node[] {
  return [...(ownNodes.get!.call(this) as NodeListOf<Node>), document.createComment('')]
}
