/** Runs in Playwright's isolated world, before a snapshot: makes inline elements that can be clicked, and editors, part of it. */
import { revealAreas } from './areas.page.ts'
import { revealEditor } from './editors.page.ts'
import { nameHidden } from './hidden.page.ts'
import { markHiddenTexts } from './hidden-text.page.ts'
import { isUsable } from './flags.page.ts'

/** Elements whose text already belongs to a control. */
const controls = 'a[href], button, select, textarea, option, [role=button], [role=link], [contenteditable]'

/**
 * Playwright merges an inline element without a role into the text around it if it contains nothing but text. It does
 * not do so if the element seems to have a second child: in this world only, the page sees its own nodes.
 */
export function revealInline(): number {
  revealAreas()
  const roots: (Document | ShadowRoot)[] = []
  const count = revealIn(document, roots)
  nameHidden()
  markHiddenTexts(roots)
  return count
}

function revealIn(root: Document | ShadowRoot, roots: (Document | ShadowRoot)[]): number {
  roots.push(root)
  let count = 0
  for (const element of root.querySelectorAll('*')) {
    if (element.shadowRoot) count += revealIn(element.shadowRoot, roots)
    revealEditor(element)
    if (element.childElementCount > 0 || element.firstChild === null) continue
    const isRevealed = isClickable(element)
    if (Object.hasOwn(element, 'childNodes') !== isRevealed) {
      if (isRevealed) Object.defineProperty(element, 'childNodes', { configurable: true, get: nodesAndOne })
      else delete (element as { childNodes?: unknown }).childNodes
    }
    count += Number(isRevealed)
  }
  return count
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
