/** The point at which Playwright acts on an element, and what covers it, for input that it has no action for. */
import type { ElementHandle, Locator } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import type { CallLimit, CommandContext, Point } from '../../../core/operation/command.ts'

/**
 * Returns the point at which Playwright would click an element, in CSS pixels of the viewport: a position from the top
 * left inside its border, or the middle of what is in view of its first box, such as the first line of a link.
 * @throws BaxError `element_detached`
 */
export async function actionPoint(element: Locator, position: Point | undefined, limit: CallLimit): Promise<Point> {
  const box = await element.boundingBox(limit)
  if (!box) throw new BaxError('element_detached', 'the element was removed from the page')
  const view = await element.page().evaluate(() => ({ width: innerWidth, height: innerHeight }))
  return element.evaluate(pointIn, { box, view, position }, limit)
}

interface Placed {
  /** Box of the element in the viewport of the page, and not of its frame. */
  readonly box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number }
  readonly view: { readonly width: number; readonly height: number }
  readonly position: Point | undefined
}

/** Runs in the page. */
function pointIn(node: Element, { box, view, position }: Placed): Point {
  if (position) {
    const { borderLeftWidth, borderTopWidth } = getComputedStyle(node)
    return {
      x: box.x + Number.parseFloat(borderLeftWidth) + position.x,
      y: box.y + Number.parseFloat(borderTopWidth) + position.y,
    }
  }
  const outer = node.getBoundingClientRect()
  const [dx, dy] = [box.x - outer.x, box.y - outer.y]
  const inView = Array.from(node.getClientRects(), (part) => ({
    left: Math.max(part.left + dx, 0),
    top: Math.max(part.top + dy, 0),
    right: Math.min(part.right + dx, view.width),
    bottom: Math.min(part.bottom + dy, view.height),
  })).find(({ left, top, right, bottom }) => right > left && (right - left) * (bottom - top) > 0.99)
  if (!inView) return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  return { x: (inView.left + inView.right) / 2, y: (inView.top + inView.bottom) / 2 }
}

interface Dropped {
  readonly target: Locator
  readonly selector: string
  readonly position?: Point | undefined
}

/**
 * Checks that a drop would reach its target; call it before the drag. Returns a function for the time of the drag, which
 * waits for a covered target, because some take the pointer only then. Another one may be covered during the drag, by a
 * layer that takes the drop for it or by a copy of what is dragged.
 */
export async function checkDrop(
  { poll }: Pick<CommandContext, 'poll'>,
  { target, selector, position }: Dropped,
  limit: CallLimit,
): Promise<() => Promise<void>> {
  const probe = async () => {
    const cover = await coverAt(target, await actionPoint(target, position, limit), limit)
    return { met: cover === null, cover }
  }
  if ((await probe()).met) return async () => {}
  return async () => {
    const seen = await poll(probe, limit.timeout)
    if (seen.met) return
    const cover = 'cover' in seen ? seen.cover : null
    throw new BaxError('element_obscured', `${selector} is covered by ${cover ?? 'another element'}`, {
      details: { selector, covered_by: cover },
    })
  }
}

/** Returns what covers an element or a frame around it at a point of the page; null if the pointer reaches it. */
async function coverAt(element: Locator, point: Point, limit: CallLimit): Promise<string | null> {
  let inner: ElementHandle<Node> | null = await element.elementHandle(limit)
  while (inner) {
    const box = await inner.boundingBox()
    const cover = box && (await inner.evaluate(coverIn, { x: point.x - box.x, y: point.y - box.y }))
    if (cover) return cover
    const frame = await inner.ownerFrame()
    inner = frame?.parentFrame() ? await frame.frameElement() : null
  }
  return null
}

/** Runs in the page. */
function coverIn(node: Node, { x, y }: Point): string | null {
  const own = (node as Element).closest('button, a, [role=button], [role=link]') ?? (node as Element)
  const { left, top } = (node as Element).getBoundingClientRect()
  const at = (root: Document | ShadowRoot) => root.elementFromPoint(left + x, top + y)
  let hit = at(node.ownerDocument!)
  while (hit?.shadowRoot) {
    const inner = at(hit.shadowRoot)
    if (!inner || inner === hit) break
    hit = inner
  }
  for (let outer: Node | null = hit; outer;) {
    if (outer === own) return null
    outer = (outer as Element).assignedSlot ?? outer.parentNode ?? (outer as Partial<ShadowRoot>).host ?? null
  }
  return hit ? hit.localName + (hit.id && `#${hit.id}`) : 'the edge of the window'
}
