/** Builds nested lists from paragraphs with markers. */
import type { TreeNode } from '../../../../extract/tree.ts'
import { element, elementAround } from '../../document.ts'
import { inlineOf } from './join-lines.ts'
import type { TextPart } from '../parts.ts'

const maxDepth = 8

/** A list whose last item may still receive nested lists. */
interface OpenList {
  readonly left: number
  readonly isOrdered: boolean
  readonly start: number
  readonly items: TreeNode[][]
}

export class ListBuilder {
  readonly #compounds: ReadonlySet<string>
  readonly #open: OpenList[] = []
  #done: TreeNode[] = []

  constructor(compounds: ReadonlySet<string>) {
    this.#compounds = compounds
  }

  /** Whether the item continues the open lists: an item without predecessor starts a list of its own. */
  accepts({ paragraph: { lines, marker }, depth }: TextPart): boolean {
    const outer = this.#open[0]
    if (!outer) return true
    const isOuter = depth === undefined ? lines[0]!.left <= outer.left + lines[0]!.size * 0.5 : depth === 0
    return (
      !isOuter ||
      ((marker!.kind === 'number') === outer.isOrdered &&
        (!outer.isOrdered || marker!.number === outer.start + outer.items.length))
    )
  }

  add({ paragraph: { lines, marker }, depth }: TextPart): void {
    const { left, size } = lines[0]!
    const isOrdered = marker!.kind === 'number'
    const isInside = (list: OpenList, at: number) =>
      depth === undefined ? list.left <= left + size * 0.5 : at <= depth
    while (this.#open.length > 0 && !isInside(this.#open.at(-1)!, this.#open.length - 1)) this.#close()
    const current = this.#open.at(-1)
    const isNested = current && (depth === undefined ? left > current.left + size * 0.8 : depth >= this.#open.length)
    if (!current || (isNested && this.#open.length < maxDepth))
      this.#open.push({ left, isOrdered, start: marker!.number, items: [] })
    else if (current.isOrdered !== isOrdered) {
      this.#close()
      this.#open.push({ left, isOrdered, start: marker!.number, items: [] })
    }
    this.#open.at(-1)!.items.push(inlineOf(lines, this.#compounds, { skip: marker!.length }))
  }

  end(): TreeNode[] {
    while (this.#open.length > 0) this.#close()
    const nodes = this.#done
    this.#done = []
    return nodes
  }

  #close(): void {
    const { isOrdered, start, items } = this.#open.pop()!
    const list = element(isOrdered ? 'ol' : 'ul', isOrdered && start !== 1 ? { start: String(start) } : {})
    list.children.push(...items.map((nodes) => elementAround('li', nodes)))
    const outer = this.#open.at(-1)?.items.at(-1)
    if (outer) outer.push(list)
    else this.#done.push(list)
  }
}
