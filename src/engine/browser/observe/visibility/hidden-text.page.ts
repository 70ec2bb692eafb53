/**
 * Runs in Playwright's isolated world, around a snapshot: puts text that people cannot see between two characters that
 * no page uses, which the engine reads. In this world only: the page sees its own text.
 */
import { hasNoContrast } from './contrast.page.ts'
import { isCovered } from './covered.page.ts'
import { hiddenEnd, hiddenStart } from './hidden-marks.ts'
import { isOutside, type Surroundings, surroundings } from './surroundings.page.ts'

const key = Symbol.for('bax.hidden-text')
/** Nodes that are replaced now; this file can run several times in a document. */
const registry = globalThis as { [key]?: Node[] }

const replaced = ['nodeValue', 'textContent', 'getAttribute'] as const
/** Elements whose text nobody reads as such: it is not shown, or the value of a field. */
const unread: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template', 'title', 'textarea', 'option'])

/** Marks the hidden texts of a document and its shadow roots, and the names of hidden images, until `restoreTexts`. */
export function markHiddenTexts(roots: readonly (Document | ShadowRoot)[]): void {
  restoreTexts()
  // A document that a script writes anew has no elements for a moment.
  if ((document.documentElement as Element | null) === null) return
  const around = surroundings()
  registry[key] = roots.flatMap((root) => [...markTexts(root, around), ...markImages(root, around)])
}

/** Restores what `markHiddenTexts` has changed: selectors by text match the page's own. */
export function restoreTexts(): void {
  for (const node of registry[key] ?? [])
    for (const name of replaced)
      if (Object.hasOwn(node, name)) delete (node as unknown as Record<string, unknown>)[name]
  delete registry[key]
}

/** Returns a function that tells whether people see nothing of a frame. */
export function frameCheck(): (frame: Element) => boolean {
  let around: Surroundings | undefined
  return (frame) => isHidden(frame, frame, (around ??= surroundings()))
}

function markTexts(root: Document | ShadowRoot, around: Surroundings): Node[] {
  const marked: Node[] = []
  const range = document.createRange()
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
    if (!/\S/.test(node.data)) continue
    const parent = node.parentElement ?? (root as ShadowRoot).host
    if (!parent || unread.has(parent.localName)) continue
    range.selectNodeContents(node)
    if (!isHidden(parent, range, around)) continue
    const value = between(node.data)
    Object.defineProperty(node, 'nodeValue', { configurable: true, value })
    Object.defineProperty(node, 'textContent', { configurable: true, value })
    marked.push(node)
  }
  return marked
}

function markImages(root: Document | ShadowRoot, around: Surroundings): Node[] {
  const hidden = [...root.querySelectorAll('img[alt]')].filter((image) => isHidden(image, image, around))
  for (const image of hidden) {
    const own = (name: string) => Element.prototype.getAttribute.call(image, name)
    const value = (name: string) => (name === 'alt' ? between(own('alt') ?? '') : own(name))
    Object.defineProperty(image, 'getAttribute', { configurable: true, value })
  }
  return hidden
}

const between = (text: string): string =>
  hiddenStart + text.replaceAll(hiddenStart, '').replaceAll(hiddenEnd, '') + hiddenEnd

/** Returns whether people cannot see an element, or a text of it. */
function isHidden(element: Element, part: Element | Range, around: Surroundings): boolean {
  const box = part.getBoundingClientRect()
  if (box.width < 1 || box.height < tiny) return true
  const place = around.placeOf(element)
  if (place.opacity < faint) return !around.mayFadeIn(element, box)
  if (isOutside(box, place.areas.reach)) return true
  if (part !== element && hasNoContrast(element, box, place, around)) return true
  return !isOutside(box, place.areas.window) && isCovered(place, part)
}

/** Smallest height of text that people can read, in pixels. */
const tiny = 4
/** Largest opacity that people do not notice. */
const faint = 0.1
