/** Handles mouse events on an element. */
import type { DOMElement } from 'ink'
import { type RefObject, useLayoutEffect, useRef } from 'react'
import type { CellArea } from '../image/half-blocks.ts'
import type { MouseTarget } from '../mouse.ts'
import { useAppContext } from './app-context.ts'

/** Calls the handler for mouse events on the element while it is shown and `active`. */
export function useMouse(node: RefObject<DOMElement | null>, onMouse: MouseTarget['onMouse'], active = true): void {
  const { mouse } = useAppContext()
  const latest = useRef(onMouse)
  useLayoutEffect(() => {
    latest.current = onMouse
  })
  useLayoutEffect(() => {
    if (!active) return undefined
    return mouse.add({
      area: () => node.current && areaOf(node.current),
      onMouse: (event) => latest.current(event),
    })
  }, [mouse, node, active])
}

/** Returns the area of an element in the terminal; null when it has none. */
export function areaOf(element: DOMElement): CellArea | null {
  const own = element.yogaNode
  if (!own) return null
  const frame = { x: 0, y: 0, columns: own.getComputedWidth(), rows: own.getComputedHeight() }
  for (let above: DOMElement | undefined = element; above?.yogaNode; above = above.parentNode) {
    frame.x += above.yogaNode.getComputedLeft()
    frame.y += above.yogaNode.getComputedTop()
  }
  return frame.columns > 0 && frame.rows > 0 ? frame : null
}
