/** Where the pointer of a session is, and how it gets elsewhere. */
import type { Locator, Page } from 'playwright'
import type { Point } from '../../../core/operation/command.ts'
import { pointerPath } from './pointer-path.ts'

/** How long an element that was clicked may take to say where it is. */
const placeMs = 500

/** The element that the pointer was brought to last, and where the pointer had been known to be before. */
const touched = new WeakMap<Point, { readonly element: Locator; readonly x: number; readonly y: number }>()

/** Remembers that an action has brought the pointer to the middle of an element; asking for the place can wait. */
export function touch(pointer: Point, element: Locator): void {
  touched.set(pointer, { element, x: pointer.x, y: pointer.y })
}

/** Moves the pointer, with `steps` along a human-like path, and remembers where it is left. */
export async function movePointer(page: Page, pointer: Point, to: Point, steps?: number): Promise<void> {
  if (steps === undefined) await page.mouse.move(to.x, to.y)
  else {
    const from = await placeOf(pointer)
    const seed = Math.round(from.x * 31 + from.y * 37 + to.x * 41 + to.y * 43 + steps)
    for (const { x, y } of pointerPath(from, to, steps, seed)) await page.mouse.move(x, y)
  }
  Object.assign(pointer, { x: to.x, y: to.y })
}

async function placeOf(pointer: Point): Promise<Point> {
  const last = touched.get(pointer)
  touched.delete(pointer)
  // Moved since by coordinates: those are newer.
  if (!last || last.x !== pointer.x || last.y !== pointer.y) return pointer
  // An element that is gone has taken the place with it.
  const box = await last.element.boundingBox({ timeout: placeMs }).catch(() => null)
  return box ? { x: box.x + box.width / 2, y: box.y + box.height / 2 } : pointer
}
