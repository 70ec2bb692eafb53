/** Runs in Playwright's isolated world, before a snapshot: shows editors without a role to it as text fields. */
import { isEditingHost } from './flags.page.ts'

/** Elements whose own role says more, and editors with a role. */
const withRole =
  '[role], h1, h2, h3, h4, h5, h6, li, td, th, tr, table, ul, ol, dt, dd, a[href], button, img, blockquote, figure'

/** Properties that replace those of the element, in this world only. */
const replaced = ['getAttribute', 'getBoundingClientRect'] as const

/** Gives an editor the role of a text field, and an empty one a size: Playwright omits elements without it. */
export function revealEditor(element: Element): void {
  const isRevealed = Object.hasOwn(element, 'getAttribute')
  const isEditor =
    isEditingHost(element) &&
    (element === document.body || !element.parentElement?.isContentEditable) &&
    !Element.prototype.matches.call(element, withRole)
  if (isEditor === isRevealed) return
  if (!isEditor) {
    for (const name of replaced) delete (element as Partial<Element>)[name]
    return
  }
  const { getAttribute, getBoundingClientRect } = Element.prototype
  const replace = (name: (typeof replaced)[number], value: unknown) =>
    Object.defineProperty(element, name, { configurable: true, value })
  replace('getAttribute', (name: string) => (name === 'role' ? 'textbox' : getAttribute.call(element, name)))
  replace('getBoundingClientRect', () => {
    const { x, y, width, height } = getBoundingClientRect.call(element)
    return new DOMRect(x, y, Math.max(1, width), Math.max(1, height))
  })
}
