/** Runs in the page: finds text in the color of its background. */
import type { Box, Place, Surroundings } from './surroundings.page.ts'

type Color = readonly [red: number, green: number, blue: number, alpha: number]

/** Returns whether text has the color of what is behind it, or none. */
export function hasNoContrast(element: Element, box: Box, place: Place, around: Surroundings): boolean {
  const text = colorOf(place.style.webkitTextFillColor)
  const back = text[3] < faint ? null : backgroundOf(place)
  if (text[3] >= faint && (back === null || distance(text, back.color) >= noticed)) return false
  // From here on, the text is an exception: look closer.
  const { webkitTextStrokeWidth, textShadow } = place.style
  if (textShadow !== 'none' || !webkitTextStrokeWidth.startsWith('0')) return false
  for (let at: Place | null = place; at; at = at.above) {
    const { backgroundImage, backgroundClip } = at.style
    // The text may be what the background shows through.
    if (backgroundImage !== 'none' && (back !== null || backgroundClip.includes('text'))) return false
    if (at === back?.place) break
  }
  return back === null || !hasPicture(element, box, back, around)
}

const faint = 0.1
/** Smallest difference of a color's channel that people notice. */
const noticed = 16

interface Background {
  readonly color: Color
  /** Undefined for the color of the page. */
  readonly place: Place | undefined
}

const backgrounds = new WeakMap<Place, Background | null>()

/** Returns the color behind an element, null if it is not known. */
function backgroundOf(place: Place): Background | null {
  let known = backgrounds.get(place)
  if (known !== undefined) return known
  const color = colorOf(place.style.backgroundColor)
  if (color[3] > 1 - faint) known = { color, place }
  else if (color[3] > faint) known = null
  else known = place.above ? backgroundOf(place.above) : canvas()
  backgrounds.set(place, known)
  return known
}

/** Returns the color of the page where nothing is drawn: frames show what is behind them. */
function canvas(): Background | null {
  const { colorScheme } = getComputedStyle(document.documentElement)
  return window.top === window && !colorScheme.includes('dark') ? { color: [255, 255, 255, 1], place: undefined } : null
}

/** Returns whether something that is no ancestor of the text paints below it, as a picture below a title does. */
function hasPicture(element: Element, box: Box, { color, place }: Background, around: Surroundings): boolean {
  for (const other of paintedElements(document, around)) {
    const { x, y, width, height } = other.getBoundingClientRect()
    const meets = x < box.x + box.width && box.x < x + width && y < box.y + box.height && box.y < y + height
    if (!meets || other.contains(element)) continue
    const own = colorOf(around.placeOf(other).style.backgroundColor)
    const isSame = own[3] > faint && distance(own, color) < noticed && !isPicture(other, around)
    if (!isSame && other !== place?.element) return true
  }
  return false
}

const painted = new WeakMap<Surroundings, readonly Element[]>()

/** Lists the elements that paint more than text. */
function paintedElements(root: Document, around: Surroundings): readonly Element[] {
  let known = painted.get(around)
  if (!known) {
    const all = [...root.querySelectorAll('body *')]
    known = all.filter((one) => isPicture(one, around) || colorOf(around.placeOf(one).style.backgroundColor)[3] > faint)
    painted.set(around, known)
  }
  return known
}

const isPicture = (element: Element, around: Surroundings): boolean =>
  element.matches('img, picture, video, canvas, svg, iframe, object, embed') ||
  around.placeOf(element).style.backgroundImage !== 'none'

const distance = (a: Color, b: Color): number =>
  Math.max(Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1]), Math.abs(a[2] - b[2]))

const colors = new Map<string, Color>()

/** Reads a computed color. */
function colorOf(text: string): Color {
  let color = colors.get(text)
  if (!color) {
    const rgb = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(text)
    color = rgb ? [Number(rgb[1]), Number(rgb[2]), Number(rgb[3]), Number(rgb[4] ?? 1)] : drawnColor(text)
    colors.set(text, color)
  }
  return color
}

/** Draws one pixel in a color of another color space. */
function drawnColor(text: string): Color {
  const context = new OffscreenCanvas(1, 1).getContext('2d')!
  context.fillStyle = text
  context.fillRect(0, 0, 1, 1)
  const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data
  return [red!, green!, blue!, alpha! / 255]
}
