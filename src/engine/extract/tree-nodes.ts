/** Creates the nodes of one tree within its limits. */
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { type ElementNode, isElement } from './tree.ts'

export class TreeNodes {
  #elements = 0
  #texts = 0

  /** Adds a text node; beyond the element limit of a tree, extends the last one instead. */
  addText({ children }: ElementNode, text: string): void {
    const last = children.at(-1)
    const grows = this.#texts >= limits.scrape.elements && last !== undefined && !isElement(last)
    if (grows) children[children.length - 1] = { text: last.text + text }
    else {
      this.#texts++
      children.push({ text })
    }
  }

  /** Counts an element. @throws BaxError `content_too_large` for more elements than a tree may have. */
  count(): void {
    const { elements } = limits.scrape
    if (++this.#elements > elements)
      throw new BaxError('content_too_large', `the page has more than ${elements} elements`)
  }

  addElement(parent: ElementNode, tag: string, attributes: Record<string, string>): ElementNode {
    this.count()
    const element: ElementNode = { tag, attributes, children: [] }
    parent.children.push(element)
    return element
  }
}
