/** Runs in the page: finds text in the color of its background. */
import { shownParent } from '../../elements/describe.page.ts'
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
function canvas(view: Window = window): Background | null {
  if (isDark(view.document.documentElement, view)) return null
  // Null also in frames of other sites: most pages are white.
  const frame = view.frameElement
  // A frame whose scheme is not that of its page has a canvas of its own.
  if (!frame || isDark(frame, view.parent)) return white
  for (let at: Element | null = frame; at; at = shownParent(at)) {
    const { backgroundColor, backgroundImage } = view.parent.getComputedStyle(at)
    if (backgroundImage !== 'none') return null
    const color = colorOf(backgroundColor)
    if (color[3] > 1 - faint) return { color, place: undefined }
    if (color[3] > faint) return null
  }
  return canvas(view.parent)
}

const white: Background = { color: [255, 255, 255, 1], place: undefined }

/** Returns whether the browser uses its dark colors for an element. */
function isDark(element: Element, view: Window): boolean {
  const own = view.getComputedStyle(element).colorScheme
  const ofPage = view.document.querySelector<HTMLMetaElement>('meta[name="color-scheme"]')?.content ?? ''
  const schemes = (own === 'normal' ? ofPage : own).split(/\s+/)
  if (!schemes.includes('dark')) return false
  return !schemes.includes('light') || view.matchMedia('(prefers-color-scheme: dark)').matches
}

/** Returns whether something that is no ancestor of the text paints below it, as a picture below a title does. */
function hasPicture(element: Element, box: Box, { color, place }: Background, around: Surroundings): boolean {
  const known = paintedIn(document, around)
  for (const { element: other, box: theirs, color: own, isDrawn } of known.elements) {
    // A page that was built to keep the observation busy hides what it shows from it.
    if (known.budget-- <= 0) return false
    const { x, y, width, height } = theirs
    const meets = x < box.x + box.width && box.x < x + width && y < box.y + box.height && box.y < y + height
    if (!meets || other.contains(element)) continue
    const isSame = own[3] > faint && distance(own, color) < noticed && !isDrawn
    if (!isSame && other !== place?.element) return true
  }
  return false
}

interface Painted {
  readonly element: Element
  readonly box: Box
  readonly color: Color
  readonly isDrawn: boolean
}

interface PaintedElements {
  readonly elements: readonly Painted[]
  /** Comparisons that are left for all texts of one observation. */
  budget: number
}

const painted = new WeakMap<Surroundings, PaintedElements>()
const comparisons = 2_000_000

/** Lists the elements that paint more than text. */
function paintedIn(root: Document, around: Surroundings): PaintedElements {
  let known = painted.get(around)
  if (!known) {
    const elements = [...root.querySelectorAll('body *')].flatMap((element) => {
      const isDrawn = isPicture(element, around)
      const color = colorOf(around.placeOf(element).style.backgroundColor)
      if (!isDrawn && color[3] <= faint) return []
      return [{ element, box: element.getBoundingClientRect(), color, isDrawn }]
    })
    known = { elements, budget: comparisons }
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
/** Colors that are remembered: those of animations are all different. */
const maxColors = 1000

/** Reads a computed color. */
function colorOf(text: string): Color {
  let color = colors.get(text)
  if (!color) {
    const rgb = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(text)
    color = rgb ? [Number(rgb[1]), Number(rgb[2]), Number(rgb[3]), Number(rgb[4] ?? 1)] : drawnColor(text)
    if (colors.size === maxColors) colors.clear()
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
