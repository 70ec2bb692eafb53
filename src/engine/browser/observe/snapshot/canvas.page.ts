/** Runs in Playwright's isolated world, before a snapshot: shows canvases to it that can be clicked, which it omits. */
import { isUsable } from './flags.page.ts'

const own = Element.prototype.getAttribute

/** Gives a canvas without a role that of a picture, and the name of the content that stands for it. */
export function revealCanvas(element: Element): void {
  if (element.localName !== 'canvas') return
  const isRevealed =
    !element.hasAttribute('role') && (isUsable(element) || getComputedStyle(element).cursor === 'pointer')
  if (!isRevealed) {
    delete (element as Partial<Element>).getAttribute
    return
  }
  const attributes: Readonly<Record<string, string>> = {
    role: 'img',
    'aria-label': own.call(element, 'aria-label') ?? (element.textContent.trim() || 'canvas'),
  }
  const value = (name: string) => attributes[name] ?? own.call(element, name)
  Object.defineProperty(element, 'getAttribute', { configurable: true, value })
}
