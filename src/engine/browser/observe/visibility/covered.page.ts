/** Runs in the page: finds what is behind something opaque, in the part of the page that is in view. */
import type { Area, Box, Place } from './surroundings.page.ts'

/** Returns whether something opaque is in front of all of an element, or of a text of it. */
export function isCovered(place: Place, part: Element | Range): boolean {
  const { element, style } = place
  const boxes = part.getClientRects()
  const spots = [...new Set([boxes[0], boxes[boxes.length - 1]])].flatMap((box) =>
    box ? spotsIn(box, place.areas.window) : [],
  )
  if (spots.length === 0 || !spots.every(([x, y]) => isCoveredAt(place, x, y))) return false
  // Nothing of these is found at a point.
  if (style.pointerEvents === 'none' || style.display === 'contents' || element.closest('[inert]') !== null)
    return false
  return document.querySelector(':modal') === null
}

/** Returns the middle and the ends of the part of a box that is in view. */
function spotsIn({ x, y, width, height }: Box, window: Area): [x: number, y: number][] {
  const [left, right] = [Math.max(window.left, x), Math.min(window.right, x + width)]
  const [top, bottom] = [Math.max(window.top, y), Math.min(window.bottom, y + height)]
  const isInView = left < right && top < bottom
  return isInView ? [(left + right) / 2, left + 1, right - 1].map((at) => [at, (top + bottom) / 2]) : []
}

function isCoveredAt(place: Place, x: number, y: number): boolean {
  const { element } = place
  const top = (element.getRootNode() as Document | ShadowRoot).elementFromPoint(x, y)
  if (top === null || top === element) return false
  for (let at: Place | null = place; at && !at.element.contains(top); at = at.above) if (isCut(at)) return true
  if (!top.contains(element)) return isOpaqueCover(top, element)
  // A negative layer is behind the background of what is around it.
  for (let at: Place | null = place; at && at.element !== top; at = at.above)
    if (at.style.zIndex.startsWith('-') || isCut(at)) return true
  return false
}

/** Returns whether an element has a shape that leaves out parts of it. */
const isCut = ({ style }: Place): boolean =>
  style.clipPath !== 'none' || (style.clip !== 'auto' && style.position !== 'static')

/** Elements that open in front of a page and close again. */
const passing = 'dialog, [popover], [role=dialog], [role=alertdialog], [role=menu], [role=listbox], [role=tooltip]'
const controls = 'a[href], button, input, select, textarea, [tabindex], [role=option], [role=menuitem]'

/** Returns whether an element in front of another is opaque, and stays there when the page scrolls. */
function isOpaqueCover(top: Element, element: Element): boolean {
  if (top.closest(passing) !== null) return false
  let isOpaque = false
  for (let at: Element | null = top; at && !at.contains(element); at = at.parentElement) {
    const { position, backgroundColor, backgroundImage, opacity } = getComputedStyle(at)
    if (position === 'fixed' || position === 'sticky' || at.matches(controls) || at.querySelector(controls))
      return false
    if (Number(opacity) < 0.9) return false
    isOpaque ||=
      at.matches('img, video, canvas, iframe') || backgroundImage.includes('url(') || isSolid(backgroundColor)
  }
  return isOpaque
}

const isSolid = (color: string): boolean =>
  color !== 'transparent' && !/^rgba\(.*, 0(?:\.[0-8]\d*)?\)$|\/ 0(?:\.[0-8]\d*)?\)$/.test(color)
