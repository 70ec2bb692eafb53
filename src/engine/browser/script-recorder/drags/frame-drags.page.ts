/** Runs in the page: connects the start of a drag in one frame with its drop in another one of the same origin. */
import { isElement } from '../../elements/node-kinds.page.ts'
import type { DropPlace } from './drop-target.page.ts'
import { selectorOf } from '../selector-of.page.ts'

interface Shared {
  /** The drag that has started in any frame of the page. */
  baxDrag?: { place?: DropPlace; onPlace?(place: DropPlace | undefined): void } | undefined
}

/** Time in which the drop in another frame is reported after the end of the drag, in milliseconds. */
const dropMs = 1000

type Frame = Window & { playwright?: { selector?(element: Element): string } }

/** Returns the top window; undefined when its origin is another one. */
function shared(): (Window & Shared) | undefined {
  try {
    return window.top?.document ? (window.top as Window & Shared) : undefined
  } catch {
    return undefined
  }
}

export function startAcrossFrames(): void {
  const top = shared()
  if (top) top.baxDrag = {}
}

/** Remembers the place of a drop; returns whether its drag has started in another frame. */
export function dropFromFrame(event: DragEvent): boolean {
  const drag = shared()?.baxDrag
  const [under] = event.composedPath()
  if (!drag || !isElement(under)) return false
  const target = isWhole(under) ? document.body : under
  const { left, top } = target.getBoundingClientRect()
  const to = { x: Math.round(event.clientX - left), y: Math.round(event.clientY - top) }
  drag.place = { target: `${pathOf(window)}${selectorOf(target)}`, to }
  drag.onPlace?.(drag.place)
  return true
}

/** Whether an element without a role fills its document, as the outermost one of an editor does: its ID is often generated. */
function isWhole(element: Element): boolean {
  const [own, body] = [element.getBoundingClientRect(), document.body.getBoundingClientRect()]
  const isFilling = own.width >= body.width - 1 && own.height >= body.height - 1
  return isFilling && element.parentElement === document.body && element.matches('div:not([role])')
}

/** Calls back with the place where the drag that has ended was dropped in another frame; undefined if it was not. */
export function endAcrossFrames(onEnd: (place: DropPlace | undefined) => void): void {
  const top = shared()
  const drag = top?.baxDrag
  if (!top || !drag || drag.place) {
    if (top) top.baxDrag = undefined
    return onEnd(drag?.place)
  }
  // The frames receive their events in any order.
  const timer = setTimeout(() => drag.onPlace?.(undefined), dropMs)
  drag.onPlace = (place) => {
    clearTimeout(timer)
    delete drag.onPlace
    if (top.baxDrag === drag) top.baxDrag = undefined
    onEnd(place)
  }
}

/** Returns the beginning of selectors of elements in a frame. */
function pathOf(frame: Window): string {
  const element = frame.frameElement
  if (!element) return ''
  const parent = frame.parent as Frame
  const selector = parent.playwright?.selector?.(element) ?? element.localName
  return `${pathOf(parent)}${selector} >> internal:control=enter-frame >> `
}
