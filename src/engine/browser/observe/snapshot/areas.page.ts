/** Runs in Playwright's isolated world, before a snapshot: shows areas of image maps to it, which have no box. */

const key = Symbol.for('bax.style')
/** The browser's own function; this file can run several times in a document. */
const registry = globalThis as { [key]?: typeof getComputedStyle }
const ownStyle = (registry[key] ??= globalThis.getComputedStyle)

/** Gives the areas of visible image maps the style and box of their image, in this world only. */
export function revealAreas(): void {
  const areas = [...document.querySelectorAll<HTMLAreaElement>('map area[href]')]
  const images = new Map<Element, HTMLImageElement>()
  for (const area of areas) {
    const map = area.closest('map')!
    const image = document.querySelector<HTMLImageElement>(`img[usemap="#${CSS.escape(map.name || map.id)}"]`)
    if (!image || image.getClientRects().length === 0) continue
    images.set(area, image)
    Object.defineProperties(area, {
      getBoundingClientRect: { configurable: true, value: () => boxOf(area, image) },
      checkVisibility: { configurable: true, value: () => image.checkVisibility({ visibilityProperty: true }) },
    })
  }
  globalThis.getComputedStyle =
    images.size === 0
      ? ownStyle
      : (element, pseudo) => ownStyle.call(globalThis, images.get(element) ?? element, pseudo)
}

function boxOf({ shape, coords }: HTMLAreaElement, image: HTMLImageElement): DOMRect {
  const { x, y, width, height } = image.getBoundingClientRect()
  const numbers = coords.split(',').map(Number)
  if (numbers.length < 3) return new DOMRect(x, y, width, height)
  const [cx, cy, radius] = numbers as [number, number, number]
  if (/^circ/i.test(shape)) return new DOMRect(x + cx - radius, y + cy - radius, 2 * radius, 2 * radius)
  const [xs, ys] = [0, 1].map((axis) => numbers.filter((_, at) => at % 2 === axis)) as [number[], number[]]
  const [left, top] = [Math.min(...xs), Math.min(...ys)]
  return new DOMRect(x + left, y + top, Math.max(...xs) - left, Math.max(...ys) - top)
}
