/** Elements that are clicked in place of others: images for areas of their maps, and icons over checkboxes. */
import type { ElementHandle, Locator } from 'playwright'
import type { CallLimit, Point } from '../core/operation/command.ts'
import { checkPart } from './input/check-part.ts'

type ClickOptions = NonNullable<Parameters<Locator['click']>[0]>

interface Clickable {
  click(options: ClickOptions): Promise<void>
  hover(options: CallLimit): Promise<void>
}

/**
 * Returns the element that is clicked in place of another: for the area of an image map the point on its image, for a checkbox or
 * radio button that its own icon covers the icon, else the element.
 */
export async function clickable(element: Locator, limit: CallLimit): Promise<Clickable> {
  const found = await element.evaluateHandle(areaPoint, undefined, { timeout: limit.timeout })
  const position = (await found.evaluate((point) => point?.position)) as Point | undefined
  if (!position) return (await drawnPart(element, limit)) ?? element
  const image = (await found.getProperty('image')).asElement() as ElementHandle
  // Playwright takes an area, which is no part of the image, for something that covers it.
  const force = await found.evaluate((point) => point?.isHit ?? false)
  return {
    click: (options) => image.click({ ...options, position, force }),
    hover: (options) => image.hover({ ...options, position, force }),
  }
}

/** Returns the icon over a visible checkbox or radio button; undefined if it is not covered by one. */
async function drawnPart(element: Locator, { timeout }: CallLimit): Promise<Clickable | undefined> {
  const found = await element.evaluateHandle(checkPart, null, { timeout })
  const part = await found.getProperty('part')
  const position = (await part.evaluate((value) => value?.position)) as Point | undefined
  if (!position || !(await element.isVisible())) return undefined
  const drawn = (await part.getProperty('element')).asElement() as ElementHandle
  return {
    // A position of the caller is one in the control.
    click: (options) => (options.position ? element.click(options) : drawn.click({ position, ...options })),
    hover: (options) => drawn.hover({ position, ...options }),
  }
}

interface AreaPoint {
  readonly image: Element
  readonly position: Point
  /** Whether nothing covers the area there. */
  readonly isHit: boolean
}

/**
 * Runs in the page: returns the visible image of an area, and a point inside the area, relative to the image inside its
 * border. Self-contained: only the text of the function reaches the page.
 */
function areaPoint(node: Element): AreaPoint | null {
  if (!(node instanceof HTMLAreaElement)) return null
  const map = node.closest('map')
  const images = [...document.querySelectorAll<HTMLImageElement>('img[usemap]')]
  const image = images.find((at) => at.useMap === `#${map?.name || map?.id}` && at.getClientRects().length > 0)
  if (!image) return null
  const { clientLeft, clientTop } = image
  const { paddingLeft, paddingTop } = getComputedStyle(image)
  const [dx, dy] = [clientLeft + Number.parseFloat(paddingLeft), clientTop + Number.parseFloat(paddingTop)]
  const numbers = node.coords.split(',').map(Number)
  const points: Point[] = []
  for (let at = 0; at + 1 < numbers.length; at += 2) points.push({ x: numbers[at]!, y: numbers[at + 1]! })
  const middle = (list: readonly Point[]): Point => ({
    x: list.reduce((sum, { x }) => sum + x, 0) / list.length,
    y: list.reduce((sum, { y }) => sum + y, 0) / list.length,
  })
  const whole = { x: image.clientWidth / 2, y: image.clientHeight / 2 }
  const isCircle = /^circ/i.test(node.shape)
  // The middle of a polygon can be outside of it; that of three neighbouring corners is inside for one of them.
  const triangles = points.map((_, at) => middle([0, 1, 2].map((next) => points[(at + next) % points.length]!)))
  const candidates = isCircle ? points.slice(0, 1) : points.length > 0 ? [middle(points), ...triangles] : [whole]
  image.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' })
  const box = image.getBoundingClientRect()
  const isHit = ({ x, y }: Point) => document.elementFromPoint(box.x + dx + x, box.y + dy + y) === node
  const inside = candidates.find(isHit) ?? candidates[0]!
  const position = { x: inside.x + dx - clientLeft, y: inside.y + dy - clientTop }
  return { image, position, isHit: isHit(inside) }
}
