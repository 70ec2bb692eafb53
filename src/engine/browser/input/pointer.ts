/** Pointer of a session: its position and its movements. */
import type { Locator, Page } from 'playwright'
import type { Point } from '../../../core/operation/command.ts'
import { pointerPath } from './pointer-path.ts'

/** Timeout for the position of a clicked element. */
const positionMs = 500

/** The element that the pointer was last moved to, and its last known position before. */
const touched = new WeakMap<Point, { readonly element: Locator; readonly x: number; readonly y: number }>()

/** Records that an action has moved the pointer to the center of an element, whose position is read on demand. */
export function touch(pointer: Point, element: Locator): void {
  touched.set(pointer, { element, x: pointer.x, y: pointer.y })
}

/** Moves the pointer, with `steps` along a human-like path, and records its position. */
export async function movePointer(page: Page, pointer: Point, to: Point, steps?: number): Promise<void> {
  if (steps === undefined) await page.mouse.move(to.x, to.y)
  else {
    const from = await positionOf(pointer)
    const seed = Math.round(from.x * 31 + from.y * 37 + to.x * 41 + to.y * 43 + steps)
    for (const { x, y } of pointerPath(from, to, steps, seed)) await page.mouse.move(x, y)
  }
  Object.assign(pointer, { x: to.x, y: to.y })
}

async function positionOf(pointer: Point): Promise<Point> {
  const last = touched.get(pointer)
  touched.delete(pointer)
  // A later move by coordinates takes precedence.
  if (!last || last.x !== pointer.x || last.y !== pointer.y) return pointer
  // The element may be gone.
  const box = await last.element.boundingBox({ timeout: positionMs }).catch(() => null)
  return box ? { x: box.x + box.width / 2, y: box.y + box.height / 2 } : pointer
}
