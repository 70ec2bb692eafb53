/** Runs in the page: what the ancestors of an element let people see of it. */
import { shownParent } from '../../elements/describe.page.ts'

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Edges of the area in which an element can be seen, or scrolled into view. */
export interface Area {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

export interface Place {
  readonly element: Element
  readonly above: Place | null
  readonly style: CSSStyleDeclaration
  readonly opacity: number
  /** Position property of the element. */
  readonly position: string
  readonly areas: Areas
}

interface Areas {
  /** Area in which the content of an element can be seen, or scrolled into view. */
  readonly reach: Area
  /** Area in which it can be seen now. */
  readonly window: Area
}

export interface Surroundings {
  placeOf(element: Element): Place
  /** Returns whether an element that is transparent now may become opaque when it is scrolled into view. */
  mayFadeIn(element: Element, box: Box): boolean
}

const nowhere: Area = { left: 0, top: 0, right: 0, bottom: 0 }

/** Measures the document, and returns functions that remember what they have found. */
export function surroundings(): Surroundings {
  const places = new Map<Element, Place>()
  const root = document.scrollingElement ?? document.documentElement
  const [width, height] = [innerWidth, innerHeight]
  const view: Area = { left: 0, top: 0, right: width, bottom: height }
  const page = { reach: pageArea(root, width, height), window: view }
  const fixed = { reach: view, window: view }

  const placeOf = (element: Element): Place => {
    const known = places.get(element)
    if (known) return known
    const parent = shownParent(element)
    const above = parent ? placeOf(parent) : null
    const style = getComputedStyle(element)
    const { position } = style
    const around = position === 'fixed' ? fixed : (holderOf(position, above)?.areas ?? page)
    const place: Place = {
      element,
      above,
      style,
      opacity: (above?.opacity ?? 1) * opacityOf(style),
      position,
      areas: areasWithin(element, style, around, root),
    }
    places.set(element, place)
    return place
  }
  return { placeOf, mayFadeIn: (element, box) => isOutside(box, view) && fades(placeOf(element)) }
}

/** Returns whether less of a box is in an area than people notice: a usual way to hide text leaves it one pixel. */
export const isOutside = ({ x, y, width, height }: Box, { left, top, right, bottom }: Area): boolean =>
  Math.min(x + width, right) - Math.max(x, left) < Math.min(noticed, width) ||
  Math.min(y + height, bottom) - Math.max(y, top) < Math.min(noticed, height)

/** Smallest part of an element that people notice, in pixels. */
const noticed = 3

/** Returns the closest ancestor whose edges cut an element off: not those between it and what it is positioned in. */
function holderOf(position: string, above: Place | null): Place | null {
  let at = above
  if (position === 'absolute') while (at && at.position === 'static' && at.style.transform === 'none') at = at.above
  return at
}

/** Returns the edges of the page, in the viewport's coordinates. */
function pageArea(root: Element, width: number, height: number): Area {
  const [x, y] = [scrollX, scrollY]
  const style = getComputedStyle(document.documentElement)
  const body = document.body as HTMLElement | null
  const cannotScroll = [style, ...(body ? [getComputedStyle(body)] : [])].some(({ overflowX }) => cuts.test(overflowX))
  const more = cannotScroll ? 0 : Math.max(0, root.scrollWidth - width)
  const isReversed = style.direction === 'rtl'
  // A dialog may keep the page from scrolling down for a while.
  return {
    left: (isReversed ? -more : 0) - x,
    top: -y,
    right: width + (isReversed ? 0 : more) - x,
    bottom: Math.max(height, root.scrollHeight) - y,
  }
}

function opacityOf({ opacity, filter }: CSSStyleDeclaration): number {
  const own = opacity === '1' ? 1 : Number(opacity)
  return filter === 'none' ? own : own * Number(/\bopacity\(([\d.]+)\)/.exec(filter)?.[1] ?? 1)
}

const cuts = /hidden|clip/
/** Shapes without an area, at the beginning of `clip-path`. */
const emptyShape =
  /^(?:inset\((?:[5-9]\d|100)%|(?:circle|ellipse)\(0(?:px|%)?[ )]|polygon\((0(?:px|%)? 0(?:px|%)?)(?:, \1)*\))/
/** The older way to do so, of positioned elements. */
const emptyClip = /^rect\((\d+px),? \1,? \1,? \1\)$/

function areasWithin(element: Element, style: CSSStyleDeclaration, around: Areas, root: Element): Areas {
  if (isEmptied(style)) return { reach: nowhere, window: nowhere }
  if (style.overflow === 'visible') return around
  // The browser applies it to the page.
  if (element === root || element === document.body || element === document.documentElement) return around
  if (style.display === 'inline' || style.display === 'contents') return around
  const { reach, window } = around
  const box = element.getBoundingClientRect()
  if (isOutside(box, reach)) return { reach: nowhere, window: nowhere }
  const [left, top, right, bottom] = [box.x, box.y, box.x + box.width, box.y + box.height]
  // Content that scrolls is shown within the box of its element, which can be reached.
  const x = cuts.test(style.overflowX)
    ? { left: Math.max(left, reach.left), right: Math.min(right, reach.right) }
    : style.direction === 'rtl'
      ? { left: -Infinity, right: right - element.scrollLeft }
      : { left: left - element.scrollLeft, right: Infinity }
  const y = cuts.test(style.overflowY)
    ? { top: Math.max(top, reach.top), bottom: Math.min(bottom, reach.bottom) }
    : { top: top - element.scrollTop, bottom: Infinity }
  return {
    reach: { ...x, ...y },
    window: {
      left: Math.max(left, window.left),
      top: Math.max(top, window.top),
      right: Math.min(right, window.right),
      bottom: Math.min(bottom, window.bottom),
    },
  }
}

/** Returns whether an element has a shape or property that removes all of it. */
const isEmptied = (style: CSSStyleDeclaration): boolean =>
  (style.clipPath !== 'none' && emptyShape.test(style.clipPath)) ||
  style.contentVisibility === 'hidden' ||
  (style.position === 'absolute' && emptyClip.test(style.clip))

/** Returns whether the first transparent element, or one around it, is prepared to move or fade in. */
function fades(place: Place): boolean {
  for (let at: Place | null = place; at; at = at.above) {
    const { style } = at
    if (style.opacity === '1') continue
    return (
      style.transform !== 'none' ||
      style.animationName !== 'none' ||
      style.willChange.includes('opacity') ||
      style.transitionDuration.split(', ').some((duration) => duration !== '0s')
    )
  }
  return false
}
