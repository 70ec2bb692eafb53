/** Pointer of a session: its position and its movements, which may follow a human-like path. */
import type { Locator, Page } from 'playwright'
import type { Point } from '../../../core/operation/command.ts'

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

/** Maximum deviation of a path to the side, as a fraction of its length. */
const bend = 0.12
/** Tremor, in pixels. */
const tremor = 0.8

/** Returns `steps` points to `to`: curved, slow at both ends, with a tremor. The same arguments give the same path. */
export function pointerPath(from: Point, to: Point, steps: number, seed: number): Point[] {
  const random = randomNumbers(seed)
  const length = Math.hypot(to.x - from.x, to.y - from.y)
  const side = () => (random() < 0.5 ? -1 : 1) * (0.3 + 0.7 * random()) * bend * length
  const [first, second] = [control(from, to, 0.3, side()), control(from, to, 0.7, side())]
  return Array.from({ length: steps }, (_, at) => {
    if (at === steps - 1) return { x: to.x, y: to.y }
    const progress = eased((at + 1) / steps)
    const { x, y } = bezier([from, first, second, to], progress)
    const shake = Math.min(tremor, length / 50)
    return { x: x + (random() - 0.5) * 2 * shake, y: y + (random() - 0.5) * 2 * shake }
  })
}

/** Returns a control point beside the straight line, `part` of the way along it. */
function control(from: Point, to: Point, part: number, offset: number): Point {
  const [dx, dy] = [to.x - from.x, to.y - from.y]
  const length = Math.hypot(dx, dy) || 1
  return { x: from.x + dx * part - (dy / length) * offset, y: from.y + dy * part + (dx / length) * offset }
}

/** Minimum-jerk profile: the progress of a reaching hand at a fraction of its time. */
const eased = (t: number): number => t * t * t * (10 + t * (6 * t - 15))

function bezier(points: readonly Point[], t: number): Point {
  let level = points
  while (level.length > 1) {
    level = level.slice(1).map((point, at) => {
      const before = level[at]!
      return { x: before.x + (point.x - before.x) * t, y: before.y + (point.y - before.y) * t }
    })
  }
  return level[0]!
}

/** Mulberry32 pseudorandom generator: small, fast and deterministic. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
