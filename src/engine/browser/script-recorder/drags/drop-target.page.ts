/** Runs in the page: finds where a drag ends, relative to an element that a script finds before the drag starts. */
import { isElement } from '../../elements/node-kinds.page.ts'
import { selectorOf } from '../selector-of.page.ts'

export interface Point {
  readonly x: number
  readonly y: number
}

export interface DropPlace {
  /** Element to drop on; absent for a place relative to the dragged element. */
  readonly target?: string
  /** From the top left of the dragged element; absent when it does not matter. */
  readonly from?: Point
  /** From the top left of the target, or of the dragged element at the start. */
  readonly to: Point
}

type Position = Pick<MouseEvent, 'clientX' | 'clientY'>

interface Box extends Point {
  readonly element: Element
}

/** Ancestors that may move with the dragged element. */
const maxAncestors = 10
/** Distance that counts as moved, in CSS pixels. */
const movedPixels = 3

export class DropTarget {
  readonly #dragged: Element
  readonly #start: Point
  /** The dragged element and its ancestors, with their positions at the start. */
  readonly #boxes: readonly Box[]
  readonly #scrolled = `${scrollX},${scrollY}`
  readonly #overlays = new Overlays()
  #target: (Box & { readonly selector: string }) | undefined

  constructor(dragged: Element, { clientX, clientY }: Position) {
    this.#dragged = dragged
    this.#start = { x: clientX, y: clientY }
    const boxes: Box[] = []
    for (
      let at: Element | null = dragged;
      at && at !== document.body && boxes.length < maxAncestors;
      at = at.parentElement
    )
      boxes.push(boxOf(at))
    this.#boxes = boxes
  }

  /** Whether the dragged element has moved. */
  get moves(): boolean {
    return this.#moving !== undefined
  }

  /** Remembers the element under the pointer, whose selector and position may change when it is dropped on. */
  over(under: EventTarget | undefined, at: Position): void {
    if (!isElement(under)) return
    if (this.#overlays.contain(under)) return this.overPoint(at)
    if (under === this.#target?.element) return
    const isPlace =
      under !== document.body &&
      under !== document.documentElement &&
      !under.contains(this.#dragged) &&
      !this.#dragged.contains(under)
    this.#target = isPlace ? { ...boxOf(under), selector: selectorOf(under) } : undefined
  }

  /** Remembers the element under the pointer, except the one that moves with it and what the page shows for the drag. */
  overPoint(at: Position): void {
    const moving = this.#moving?.element ?? this.#dragged
    const isTarget = (element: Element) => !moving.contains(element) && !this.#overlays.contain(element)
    this.over(document.elementsFromPoint(at.clientX, at.clientY).find(isTarget), at)
  }

  end(): void {
    this.#overlays.end()
  }

  place({ clientX: x, clientY: y }: Position): DropPlace {
    const target = this.#target
    const hasScrolled = this.#scrolled !== `${scrollX},${scrollY}`
    // A target that has made room for the element is elsewhere when a script starts to drag.
    if (target && (hasScrolled || !hasMoved(target))) {
      const now = boxOf(target.element)
      return { target: target.selector, to: rounded(x - now.x, y - now.y) }
    }
    const box = this.#boxes[0]!
    return {
      from: rounded(this.#start.x - box.x, this.#start.y - box.y),
      to: rounded(x - box.x, y - box.y),
    }
  }

  /** The outermost element that has moved with the pointer. */
  get #moving(): Box | undefined {
    return this.#boxes.findLast(hasMoved)
  }
}

/** Elements that a page adds or moves under the pointer during a drag; a script cannot find them before the drag starts. */
class Overlays {
  readonly #added = new WeakSet<Node>()
  readonly #observer = new MutationObserver((changes) => this.#onChanges(changes))

  constructor() {
    this.#observer.observe(document, {
      subtree: true,
      childList: true,
      attributes: true,
      attributeFilter: ['class', 'hidden', 'style'],
    })
  }

  contain(element: Element): boolean {
    this.#onChanges(this.#observer.takeRecords())
    for (let at: Element | null = element; at; at = at.parentElement) if (this.#added.has(at)) return true
    return false
  }

  end(): void {
    this.#observer.disconnect()
  }

  #onChanges(changes: readonly MutationRecord[]): void {
    for (const { addedNodes, target, type } of changes) {
      for (const node of addedNodes) this.#added.add(node)
      if (type === 'attributes' && /absolute|fixed/.test(getComputedStyle(target as Element).position))
        this.#added.add(target)
    }
  }
}

function boxOf(element: Element): Box {
  const { left: x, top: y } = element.getBoundingClientRect()
  return { element, x, y }
}

function hasMoved(before: Box): boolean {
  const { x, y } = boxOf(before.element)
  return Math.hypot(x - before.x, y - before.y) > movedPixels
}

const rounded = (x: number, y: number): Point => ({ x: Math.round(x), y: Math.round(y) })
