/** Runs in Playwright's isolated world, after a snapshot: finds clickable elements that Playwright may have omitted. */
import { isShown, shownParent } from '../../../elements/describe.page.ts'
import { hasControls } from '../../listening.page.ts'
import { isUsable, type Seen } from '../flags.page.ts'
import { isPointed } from '../inline.page.ts'

/** Playwright's references of a clickable element, and of the elements whose node may represent it. */
export interface Omitted {
  readonly ref: string
  /** Whether its cursor is `pointer`, and not that of its parent. */
  readonly hasCursor: boolean
  readonly text: string
  /** Its first descendants. */
  readonly inside: readonly string[]
  /** Its ancestors, innermost first; without a text only those that contain nothing else. */
  readonly around: readonly string[]
}

/** Maximum length of the text, and number of descendants. */
const [maxText, maxInside] = [1000, 20]

/**
 * Describes a clickable element without a role, a name and controls. Playwright replaces it with its only child, and
 * moves its text into a parent without other content.
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

const refsOf = (elements: readonly Element[]): string[] =>
  elements.flatMap((element) => (element as Seen)._ariaRef?.ref ?? [])

/** Returns whether the parent of an element has no other visible content. */
function isAlone(element: Element): boolean {
  for (const node of element.parentNode?.childNodes ?? []) {
    if (node === element) continue
    if (node instanceof Element ? isShown(node) : node instanceof Text && /\S/.test(node.data)) return false
  }
  return true
}
