/** Reads what a page of a PDF shows. */
import type { PDFDocumentProxy, PDFPageProxy } from 'unpdf/pdfjs'
import { annotationsOf, linkAt } from './annotations.ts'
import { Interpreter, type Operators } from './glyphs.ts'
import { apply, type Matrix } from './matrix.ts'
import { type Box, boxAround, type Glyph, type PageContent, type StructureNode } from './page-content.ts'
import { segmentsOf } from './segments.ts'

/** Drawn lines above which a page is a drawing without tables. */
const maxRules = 4000

export async function readPage(
  document: PDFDocumentProxy,
  page: PDFPageProxy,
  operators: Operators,
): Promise<PageContent> {
  const { transform, width, height } = page.getViewport({ scale: 1 })
  const list = await page.getOperatorList()
  const layers = await document.getOptionalContentConfig()
  const interpreter = new Interpreter({
    operators,
    transform: transform as unknown as Matrix,
    fontOf: (name) => (page.commonObjs.has(name) ? (page.commonObjs.get(name) as unknown) : undefined),
    isVisible: (group) => layers.isVisible(group),
  })
  const { glyphs, rules, hasImages, hasLostText } = interpreter.run(list)
  const { links, fields } = annotationsOf(await page.getAnnotations(), transform as unknown as Matrix)
  if (links.length > 0) for (const glyph of glyphs) addLink(glyph, links)
  const isOnPage = (x: number, y: number) => x > -width * 0.01 && y > 0 && x < width * 1.01 && y < height * 1.01
  const visible = glyphs.filter(({ x, y }) => isOnPage(x, y))
  const places = fields.length > 0 ? placesOf(visible) : new Map<number, number[]>()
  const missing = fields.filter(({ box }) => isOnPage(box.left, box.bottom) && !hasGlyph(places, box))
  const turned = byDirection(visible)
  const [main] = turned
  const frame = main ? frameOf(main.turn) : frameOf(0)
  return {
    layers: turned.map(({ turn, glyphs: all }, at) => {
      if (turn !== 0) for (const glyph of all) move(glyph, frameOf(turn))
      const segments = segmentsOf(all)
      return at === 0 ? [...segments, ...missing.map(({ segment }) => segment)] : segments
    }),
    rules: rules.length > maxRules ? [] : rules.map((box) => turnedBox(box, frame)),
    ...rangeOf(turnedBox({ left: 0, top: 0, right: width, bottom: height }, frame)),
    structure: (await structureOf(page)) ?? undefined,
    hasImages,
    hasLostText,
  }
}

const rangeOf = ({ top, bottom }: Box) => ({ top, height: bottom - top })

/** A broken structure tree does not make a page unreadable. */
const structureOf = (page: PDFPageProxy) =>
  page.getStructTree().then(
    (tree) => tree as StructureNode | null,
    () => null,
  )

/** Returns the starts of glyphs, sorted, by their baselines in whole points. */
function placesOf(glyphs: readonly Glyph[]): Map<number, number[]> {
  const places = new Map<number, number[]>()
  for (const { x, y } of glyphs) {
    const row = places.get(Math.round(y))
    if (row) row.push(x)
    else places.set(Math.round(y), [x])
  }
  for (const row of places.values()) row.sort((a, b) => a - b)
  return places
}

function hasGlyph(places: ReadonlyMap<number, readonly number[]>, { left, top, right, bottom }: Box): boolean {
  // A box may be much higher than the page.
  const baselines = bottom - top > places.size ? places.keys() : wholeNumbers(top - 1, bottom + 1)
  for (const y of baselines) {
    if (y < top - 1 || y > bottom + 1) continue
    const row = places.get(y) ?? []
    if (row[firstAtLeast(row, left - 1)]! <= right + 1) return true
  }
  return false
}

function* wholeNumbers(from: number, to: number): Generator<number> {
  for (let value = Math.ceil(from); value <= to; value++) yield value
}

/** Returns the index of the first sorted value that is not below `least`. */
function firstAtLeast(values: readonly number[], least: number): number {
  let [from, to] = [0, values.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (values[middle]! < least) from = middle + 1
    else to = middle
  }
  return from
}

function addLink(glyph: Glyph, links: Parameters<typeof linkAt>[0]): void {
  const [x, y] = apply(frameOf(-glyph.turn), glyph.width / 2, -glyph.size * 0.3)
  glyph.href = linkAt(links, glyph.x + x, glyph.y + y)
}

/** Returns the transformation after which text of a direction runs to the right. */
function frameOf(turn: number): Matrix {
  const angle = (turn * Math.PI) / 2
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)]
  return [cos, -sin, sin, cos, 0, 0]
}

function move(glyph: Glyph, frame: Matrix): void {
  ;[glyph.x, glyph.y] = apply(frame, glyph.x, glyph.y)
  glyph.line = glyph.y
}

function turnedBox(box: Box, frame: Matrix): Box {
  const points = [apply(frame, box.left, box.top), apply(frame, box.right, box.bottom)]
  return boxAround(points.map(([x, y]) => ({ left: x, right: x, top: y, bottom: y })))
}

/** Groups glyphs by the direction of the text, the most frequent first. */
function byDirection(glyphs: readonly Glyph[]): { turn: number; glyphs: Glyph[] }[] {
  const groups = new Map<number, Glyph[]>()
  for (const glyph of glyphs) {
    const quarter = Math.round(glyph.turn)
    const turn = Math.abs(glyph.turn - quarter) < 0.03 ? quarter % 4 : Math.round(glyph.turn * 40) / 40
    const group = groups.get(turn)
    if (group) group.push(glyph)
    else groups.set(turn, [glyph])
  }
  return [...groups].map(([turn, all]) => ({ turn, glyphs: all })).toSorted((a, b) => b.glyphs.length - a.glyphs.length)
}
