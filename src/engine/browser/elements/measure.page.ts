/** Runs in the page: measures elements. */
import type { BoundingBox } from '../../../core/shapes/commands.ts'
import { isShown, shortText } from './describe.page.ts'

const maxHtml = 10_000

/** Returns the boxes of the first `limit` elements, in CSS pixels of their own frame's viewport. */
export function measure(
  elements: Element[],
  { limit, includeHtml }: { limit: number; includeHtml: boolean },
): { total: number; boxes: BoundingBox[] } {
  const boxes = elements.slice(0, limit).map((element, index) => measureOne(element, index, includeHtml))
  return { total: elements.length, boxes }
}

export function measureOne(element: Element, index: number, includeHtml: boolean): BoundingBox {
  const { x, y, width, height } = element.getBoundingClientRect()
  return {
    index,
    tag: element.localName,
    text: shortText(element, 80),
    visible: isShown(element),
    x: round(x),
    y: round(y),
    width: round(width),
    height: round(height),
    ...(includeHtml && { html: clip(element.outerHTML) }),
  }
}

const round = (value: number) => Math.round(value * 100) / 100
const clip = (html: string) => (html.length > maxHtml ? `${html.slice(0, maxHtml)}…` : html)
