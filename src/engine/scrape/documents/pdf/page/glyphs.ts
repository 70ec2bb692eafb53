/** Follows the drawing operators of a page: where each glyph and each straight line is. */
import { type FontFacts, fontFacts, plainText } from './fonts.ts'
import { apply, identity, type Matrix, multiply } from './matrix.ts'
import type { Box, Glyph } from './page-content.ts'

/** Operators by name, as numbers. */
export type Operators = Readonly<Record<string, number>>

export interface OperatorList {
  readonly fnArray: readonly number[]
  readonly argsArray: readonly unknown[]
}

/** The facts of a page with which its drawing operators are interpreted. */
export interface Drawing {
  readonly operators: Operators
  /** Transformation to points from the upper left corner. */
  readonly transform: Matrix
  readonly fontOf: (name: string) => unknown
  /** Whether optional content is visible. */
  readonly isVisible: (group: unknown) => boolean
}

export interface Drawn {
  readonly glyphs: Glyph[]
  readonly rules: Box[]
  hasImages: boolean
  /** Whether text is missing because its font could not be loaded. */
  hasLostText: boolean
}

interface DrawnGlyph {
  readonly unicode: string
  readonly width: number
  readonly isSpace: boolean
  readonly vmetric?: readonly number[] | null
}

const startSizes = { size: 0, charSpacing: 0, wordSpacing: 0, scale: 1, leading: 0, rise: 0 }

/** The graphics state that `save` and `restore` keep. */
type State = typeof startSizes & { matrix: Matrix; font: FontFacts }

const start: State = { ...startSizes, matrix: identity, font: fontFacts(undefined) }

/** Thickness up to which a filled rectangle is a line, in points. */
const ruleThickness = 3

type Handler = (args: readonly never[]) => void

export class Interpreter {
  readonly drawn: Drawn = { glyphs: [], rules: [], hasImages: false, hasLostText: false }
  readonly #drawing: Drawing
  readonly #fonts = new Map<string, FontFacts>()
  readonly #handlers = new Map<number, Handler>()
  readonly #stack: State[] = []
  /** Marked content around the current operator, and whether it is hidden. */
  readonly #marks: { id: number; isHidden: boolean }[] = []
  #state: State
  #textMatrix: Matrix = identity
  #line: readonly [number, number] = [0, 0]
  #at: readonly [number, number] = [0, 0]

  constructor(drawing: Drawing) {
    this.#drawing = drawing
    this.#state = { ...start, matrix: drawing.transform }
    const on = (names: string, handler: (...args: never[]) => void) => {
      for (const name of names.split(' ')) {
        const operator = drawing.operators[name]
        if (operator !== undefined) this.#handlers.set(operator, (args) => handler(...args))
      }
    }
    this.#onState(on)
    this.#onText(on)
    this.#onMarks(on)
    on('constructPath', (paint: number, [path]: readonly ArrayLike<number>[]) => this.#path(paint, path))
    on(
      'paintImageXObject paintInlineImageXObject paintImageXObjectRepeat paintImageMaskXObject paintImageMaskXObjectGroup paintInlineImageXObjectGroup',
      () => (this.drawn.hasImages = true),
    )
  }

  run({ fnArray, argsArray }: OperatorList): Drawn {
    for (let at = 0; at < fnArray.length; at++) {
      const args = argsArray[at] as readonly never[] | null
      this.#handlers.get(fnArray[at]!)?.(args ?? [])
    }
    return this.drawn
  }

  #onState(on: (names: string, handler: (...args: never[]) => void) => void): void {
    const save = () => this.#stack.push({ ...this.#state })
    const restore = () => (this.#state = this.#stack.pop() ?? this.#state)
    const transform = (matrix: Matrix | null) => {
      if (matrix) this.#state.matrix = multiply(this.#state.matrix, matrix)
    }
    on('save', save)
    on('restore paintFormXObjectEnd endAnnotation endGroup', restore)
    on('beginGroup', save)
    on('transform', (...matrix: number[]) => transform(matrix as unknown as Matrix))
    on('paintFormXObjectBegin', (matrix: Matrix | null) => (save(), transform(matrix)))
    on('beginAnnotation', (_id: string, _rect: unknown, move: Matrix | null, matrix: Matrix | null) => {
      save()
      this.#state.matrix = this.#drawing.transform
      transform(move)
      transform(matrix)
    })
    on('setCharSpacing', (value: number) => (this.#state.charSpacing = value))
    on('setWordSpacing', (value: number) => (this.#state.wordSpacing = value))
    on('setHScale', (value: number) => (this.#state.scale = value / 100))
    on('setLeading', (value: number) => (this.#state.leading = -value))
    on('setTextRise', (value: number) => (this.#state.rise = value))
    on('setFont', (name: string, size: number) => this.#setFont(name, size))
    on('setGState', (pairs: readonly (readonly [string, unknown])[]) => {
      for (const [key, value] of pairs) if (key === 'Font') this.#setFont(...(value as [string, number]))
    })
  }

  #setFont(name: string, size: number): void {
    let font = this.#fonts.get(name)
    if (!font) this.#fonts.set(name, (font = fontFacts(this.#drawing.fontOf(name))))
    this.#state.font = font
    this.#state.size = size
  }

  #onText(on: (names: string, handler: (...args: never[]) => void) => void): void {
    const moveTo = (x: number, y: number) => (this.#line = this.#at = [x, y])
    const move = (x: number, y: number) => moveTo(this.#line[0] + x, this.#line[1] + y)
    on('beginText', () => {
      this.#textMatrix = identity
      moveTo(0, 0)
    })
    on('setTextMatrix', (matrix: Matrix) => {
      this.#textMatrix = matrix
      moveTo(0, 0)
    })
    on('moveText', move)
    on('setLeadingMoveText', (x: number, y: number) => {
      this.#state.leading = y
      move(x, y)
    })
    on('nextLine', () => move(0, this.#state.leading))
    on('showText', (glyphs: readonly (DrawnGlyph | number)[]) => this.#show(glyphs))
  }

  #onMarks(on: (names: string, handler: (...args: never[]) => void) => void): void {
    const enter = (id: number | undefined, isHidden: boolean) => {
      const outer = this.#marks.at(-1)
      this.#marks.push({ id: id ?? outer?.id ?? -1, isHidden: isHidden || (outer?.isHidden ?? false) })
    }
    on('beginMarkedContent', () => enter(undefined, false))
    on('beginMarkedContentProps', (tag: string, properties: unknown) => {
      if (tag === 'OC') enter(undefined, !this.#drawing.isVisible(properties))
      else enter(typeof properties === 'number' ? properties : undefined, false)
    })
    on('endMarkedContent', () => this.#marks.pop())
  }

  #show(glyphs: readonly (DrawnGlyph | number)[]): void {
    const { font, size, charSpacing, wordSpacing, scale, rise, matrix } = this.#state
    const full = multiply(matrix, this.#textMatrix)
    const mark = this.#marks.at(-1)
    const isVertical = font.vertical
    if (font.isLost && glyphs.length === 0) this.drawn.hasLostText = true
    let [x, y] = this.#at
    for (const glyph of glyphs) {
      if (typeof glyph === 'number') {
        const back = (glyph * size) / 1000
        if (isVertical) y -= back
        else x -= back * scale
        continue
      }
      const width = isVertical && glyph.vmetric ? (glyph.vmetric[0] ?? -1000) : glyph.width
      const unit = isVertical ? 0.001 : font.unit
      const advance = width * unit * size
      const total = advance + charSpacing + (glyph.isSpace ? wordSpacing : 0)
      if (!mark?.isHidden)
        this.#add(glyph.unicode, full, {
          x,
          y: y + rise,
          advance: isVertical ? advance : advance * scale,
          id: mark?.id ?? -1,
        })
      if (isVertical) y += total
      else x += total * scale
    }
    this.#at = [x, y]
  }

  #add(unicode: string, full: Matrix, place: { x: number; y: number; advance: number; id: number }): void {
    const { font, size } = this.#state
    const text = plainText(unicode, font)
    const [x, y] = apply(full, place.x, place.y)
    const [a, b, c, d] = full
    // Vertical writing advances along the other axis of the text.
    const [dx, dy] = font.vertical ? [-c, -d] : [a, b]
    const sign = !font.vertical && size < 0 ? -1 : 1
    const turn = (Math.atan2(dy * sign, dx * sign) * 2) / Math.PI
    const width = Math.abs(place.advance) * Math.hypot(dx, dy)
    const height = Math.abs(size) * Math.hypot(c, d) * font.height
    if (text === '' || !Number.isFinite(x + y + width + height) || height === 0) return
    this.drawn.glyphs.push({
      text,
      x,
      y,
      width,
      size: height,
      bold: font.bold,
      turn: turn < -1.999 ? 2 : turn,
      mark: place.id,
      href: undefined,
      spaced: false,
      raised: undefined,
      line: y,
    })
  }

  /** Adds straight lines of a path: strokes, and the edges of filled rectangles that are thin. */
  #path(paint: number, path: ArrayLike<number> | null | undefined): void {
    const { endPath, clip, eoClip } = this.#drawing.operators
    if (!path || paint === endPath || paint === clip || paint === eoClip) return
    const { stroke, closeStroke } = this.#drawing.operators
    const isStroke = paint === stroke || paint === closeStroke
    for (const points of subpaths(path)) {
      const placed = points.map(([x, y]) => apply(this.#state.matrix, x, y))
      const sides = placed.slice(1).map((point, at) => boxOf([placed[at]!, point]))
      if (isStroke) this.#addLines(sides)
      else {
        const box = boxOf(placed)
        if (isThin(box)) this.#addLines([box])
        else if (sides.length >= 3 && sides.length <= 5 && sides.every(isThin)) this.#addLines(edges(box))
      }
    }
  }

  #addLines(boxes: readonly Box[]): void {
    for (const box of boxes) {
      const length = Math.max(box.right - box.left, box.bottom - box.top)
      if (isThin(box) && length > 2 && Number.isFinite(length)) this.drawn.rules.push(box)
    }
  }
}

const isThin = ({ left, top, right, bottom }: Box): boolean => Math.min(right - left, bottom - top) <= ruleThickness

const edges = ({ left, top, right, bottom }: Box): Box[] => [
  { left, right, top, bottom: top },
  { left, right, top: bottom, bottom },
  { left, right: left, top, bottom },
  { left: right, right, top, bottom },
]

function boxOf(points: readonly (readonly [number, number])[]): Box {
  const xs = points.map(([x]) => x)
  const ys = points.map(([, y]) => y)
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) }
}

/** Returns the corners of the parts of a path without curves. */
function subpaths(path: ArrayLike<number>): [number, number][][] {
  const found: [number, number][][] = []
  let points: [number, number][] = []
  let isCurved = false
  const finish = () => {
    if (points.length > 1 && points.length <= 100 && !isCurved) found.push(points)
    points = []
    isCurved = false
  }
  for (let at = 0; at < path.length;) {
    const kind = path[at]!
    if (kind <= 1) {
      if (kind === 0) finish()
      points.push([path[at + 1]!, path[at + 2]!])
      at += 3
    } else if (kind === 4) {
      if (points[0]) points.push(points[0])
      at++
    } else {
      isCurved = true
      at += kind === 2 ? 7 : 5
    }
  }
  finish()
  return found
}
