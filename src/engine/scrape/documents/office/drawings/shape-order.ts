/** Orders the shapes of a slide as they are read: by position where the file contradicts it. */
import type { ElementNode } from '../../../../extract/tree.ts'
import { child, children, first, textOf } from '../office-xml.ts'

interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** The placeholder of a layout that a placeholder of a slide takes its position and bullets from. */
export type Inherit = (shape: ElementNode) => readonly ElementNode[]

/** Slides with more shapes keep the order of the file. */
const maxOrdered = 500

/** Parts of a box by which neighbours may overlap. */
const slack = 0.25

/** Returns the shapes of a slide or a group in reading order; a group stays together. */
export function orderedShapes(parent: ElementNode | undefined, inherit: Inherit): ElementNode[] {
  const shapes = shapesOf(parent).filter(
    ({ tag, ...node }) => !/^(?:sp|cxnSp)$/.test(tag) || textOf({ tag, ...node }).trim() !== '',
  )
  return byPosition(shapes, inherit).flatMap((shape) =>
    shape.tag === 'grpSp' ? orderedShapes(shape, inherit) : [shape],
  )
}

const shapesOf = (node: ElementNode | undefined): ElementNode[] =>
  children(node).flatMap((one) =>
    one.tag === 'AlternateContent'
      ? shapesOf(child(one, 'Choice') ?? child(one, 'Fallback'))
      : /^(?:sp|graphicFrame|pic|cxnSp|grpSp)$/.test(one.tag)
        ? [one]
        : [],
  )

/** Repeatedly takes the first shape that no other one precedes. */
function byPosition(shapes: readonly ElementNode[], inherit: Inherit): readonly ElementNode[] {
  if (shapes.length > maxOrdered) return shapes
  const left = shapes.map((shape) => ({ shape, box: boxOf(shape) ?? inherit(shape).map(boxOf).find(Boolean) }))
  const ordered: ElementNode[] = []
  while (left.length > 0) {
    const free = left.findIndex(({ box }) => !left.some((other) => precedes(other.box, box)))
    ordered.push(left.splice(Math.max(free, 0), 1)[0]!.shape)
  }
  return ordered
}

/** Whether a box is above another one, or to its left in the same row. */
const precedes = (a: Box | undefined, b: Box | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  a !== b &&
  ((isAbove(a, b) && !isLeft(b, a)) || (isLeft(a, b) && !isAbove(b, a)))

const isAbove = (a: Box, b: Box): boolean => a.bottom <= b.top + slack * Math.min(a.bottom - a.top, b.bottom - b.top)
const isLeft = (a: Box, b: Box): boolean => a.right <= b.left + slack * Math.min(a.right - a.left, b.right - b.left)

function boxOf(shape: ElementNode): Box | undefined {
  const frame = child(shape, 'xfrm') ?? child(child(shape, 'spPr') ?? child(shape, 'grpSpPr'), 'xfrm')
  const { x, y } = child(frame, 'off')?.attributes ?? {}
  const { cx, cy } = child(frame, 'ext')?.attributes ?? {}
  const [left, top, width, height] = [x, y, cx, cy].map(Number) as [number, number, number, number]
  const isKnown = [left, top, width, height].every(Number.isFinite)
  return isKnown ? { left, top, right: left + width, bottom: top + height } : undefined
}

export const placeholderOf = (shape: ElementNode): ElementNode | undefined =>
  /^(?:sp|pic|graphicFrame)$/.test(shape.tag) ? first(children(shape)[0], 'ph') : undefined

/** Finds the placeholders that correspond to one of a slide: by number in the layout, by type in the master. */
export function inheritFrom(layout: ElementNode | undefined, master: ElementNode | undefined): Inherit {
  const [inLayout, inMaster] = [layout, master].map((part) => shapesOf(first(part, 'spTree')))
  const typeOf = (ph: ElementNode | undefined) =>
    (ph?.attributes['type'] ?? 'obj').replace(/^ctrTitle$/, 'title').replace(/^(?:obj|subTitle)$/, 'body')
  return (shape) => {
    const ph = placeholderOf(shape)
    if (!ph) return []
    const { idx } = ph.attributes
    const ofLayout =
      inLayout!.find((one) => idx !== undefined && placeholderOf(one)?.attributes['idx'] === idx) ??
      inLayout!.find((one) => placeholderOf(one) && typeOf(placeholderOf(one)) === typeOf(ph))
    const ofMaster = inMaster!.find((one) => placeholderOf(one) && typeOf(placeholderOf(one)) === typeOf(ph))
    return [ofLayout, ofMaster].filter((one) => one !== undefined)
  }
}
