/** Text, rules and images of a PDF page, in points from its upper left corner. */

/** A character, or several drawn as one. Changed in place, because a document has millions. */
export interface Glyph {
  text: string
  /** Start of its baseline. */
  x: number
  y: number
  readonly width: number
  /** Height of the font. */
  readonly size: number
  readonly bold: boolean
  /** Direction of the text, clockwise: quarter turns, or a fraction for other angles. */
  readonly turn: number
  /** Marked content that it belongs to, for the structure tree. */
  readonly mark: number
  href: string | undefined
  /** Whether a space was drawn before it. */
  spaced: boolean
  raised: 'sub' | 'sup' | undefined
  /** Baseline of the line that it belongs to, which a raised character is not on. */
  line: number
}

export interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** A part of a segment with one style. */
export interface Run {
  text: string
  readonly raised?: 'sub' | 'sup' | undefined
  readonly href?: string | undefined
}

/** Text on one line without wide gaps. `bottom` is its baseline. */
export interface Segment extends Box {
  readonly runs: readonly Run[]
  readonly text: string
  readonly size: number
  readonly bold: boolean
  readonly mark: number
}

/** Element of the structure tree of a tagged PDF. */
export interface StructureNode {
  readonly role?: string
  readonly children?: readonly StructureNode[]
  readonly type?: string
  readonly id?: string
  readonly alt?: string
}

/** The parts of a page. Text that runs in other directions has layers of its own. */
export interface PageContent {
  readonly layers: readonly (readonly Segment[])[]
  /** Drawn lines of the main layer. */
  readonly rules: readonly Box[]
  /** Range of the page in the direction of the lines of the main layer. */
  readonly top: number
  readonly height: number
  readonly structure?: StructureNode | undefined
  readonly hasImages: boolean
  readonly hasLostText: boolean
}

/** Returns the length that two ranges have in common, negative for the distance between them. */
export const overlap = (from: number, to: number, start: number, end: number): number =>
  Math.min(to, end) - Math.max(from, start)

export function boxAround(boxes: readonly Box[]): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const box of boxes) {
    left = Math.min(left, box.left)
    top = Math.min(top, box.top)
    right = Math.max(right, box.right)
    bottom = Math.max(bottom, box.bottom)
  }
  return { left, top, right, bottom }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? 0
}
