/** Joins glyphs to words and words to segments, by their positions. */
import { logicalOrder } from './bidi.ts'
import { type Glyph, median, type Run, type Segment } from './page-content.ts'

/** Gap that separates words, and segments, in heights of the font. */
const wordGap = 0.15
const segmentGap = 0.75

/** Parts of a row above which it is a drawing without raised text. */
const maxRowChunks = 1000

/** Glyphs drawn one after the other on one line. */
interface Chunk {
  readonly glyphs: Glyph[]
  readonly size: number
  readonly y: number
  left: number
  right: number
  isRaised: boolean
}

/** Returns the segments of horizontal text, from top to bottom. */
export function segmentsOf(glyphs: readonly Glyph[]): Segment[] {
  return rowsOf(chunksOf(glyphs)).flatMap((row) => rowSegments(row))
}

function chunksOf(glyphs: readonly Glyph[]): Chunk[] {
  const chunks: Chunk[] = []
  let last: Chunk | undefined
  for (const glyph of glyphs) {
    const { x, y, size, width } = glyph
    if (
      last &&
      Math.abs(y - last.y) < size * 0.05 &&
      Math.abs(size - last.size) < size * 0.05 &&
      x > last.right - size * 0.5 &&
      x < last.right + size
    ) {
      last.glyphs.push(glyph)
      last.right = Math.max(last.right, x + width)
    } else if (glyph.text.trim() === '' && last && Math.abs(y - last.y) < size) last.glyphs.push(glyph)
    else chunks.push((last = { glyphs: [glyph], size, y, left: x, right: x + width, isRaised: false }))
  }
  return chunks.filter((chunk) => chunk.glyphs.some(({ text }) => text.trim() !== ''))
}

/** Groups chunks by their baselines; raised and lowered ones join the line of the chunk that they follow. */
function rowsOf(chunks: readonly Chunk[]): Chunk[][] {
  const rows: Chunk[][] = []
  let row: Chunk[] = []
  for (const chunk of chunks.toSorted((a, b) => a.y - b.y)) {
    const first = row[0]
    if (first && chunk.y - first.y > Math.min(first.size, chunk.size) * 0.25) {
      rows.push(row)
      row = []
    }
    row.push(chunk)
  }
  if (row.length > 0) rows.push(row)
  return joinRaised(rows)
}

function joinRaised(rows: Chunk[][]): Chunk[][] {
  const sizes = rows.map((row) => Math.max(...row.map(({ size }) => size)))
  for (const [at, row] of rows.entries())
    rows[at] = row.filter((chunk) => chunk.isRaised || !joinsOther(chunk, at, rows, sizes))
  return rows.filter((row) => row.length > 0)
}

/** Moves a chunk to another row where it follows larger text; returns whether there is one. */
function joinsOther(chunk: Chunk, at: number, rows: readonly Chunk[][], sizes: readonly number[]): boolean {
  if (chunk.right - chunk.left > chunk.size * 8 || rows[at]!.length > maxRowChunks) return false
  const own =
    chunk.size * 1.15 < sizes[at]! && rows[at]!.find((one) => isShiftedFrom(one, chunk) && isBaseOf(one, chunk))
  if (own) {
    raise(chunk, own)
    return false
  }
  for (const other of nearRows(rows, sizes, at, chunk)) {
    const base = rows[other]!.find((one) => isBaseOf(one, chunk))
    if (!base) continue
    raise(chunk, base)
    rows[other]!.push(chunk)
    return true
  }
  return false
}

function raise(chunk: Chunk, base: Chunk): void {
  chunk.isRaised = true
  for (const glyph of chunk.glyphs) {
    if (chunk.size * 1.15 < base.size) glyph.raised = chunk.y < base.y ? 'sup' : 'sub'
    glyph.line = base.y
  }
}

/** Returns the indexes of rows near a chunk whose text is not smaller. */
function nearRows(rows: readonly Chunk[][], sizes: readonly number[], at: number, chunk: Chunk): number[] {
  const near: number[] = []
  for (const step of [1, -1])
    for (let other = at + step; other >= 0 && other < rows.length && Math.abs(other - at) <= 3; other += step)
      if (sizes[other]! > chunk.size * 0.85 && rows[other]!.length <= maxRowChunks) near.push(other)
  return near
}

/** Whether small text is raised or lowered beside or within `base`. */
const isBaseOf = (base: Chunk, chunk: Chunk): boolean =>
  !base.isRaised &&
  !chunk.isRaised &&
  base.size < chunk.size * 3 &&
  isBeside(base, chunk) &&
  (base.size > chunk.size * 1.15
    ? chunk.y - base.y < base.size * 0.35 && base.y - chunk.y < base.size * 0.7
    : isShifted(base, chunk))

/** Whether small text in the row of larger text is off its line. */
const isShiftedFrom = (base: Chunk, { size, y }: Chunk): boolean =>
  base.size > size * 1.15 && Math.abs(base.y - y) > base.size * 0.05

/** Whether single letters of the same size are a little off the line, as in logos. */
const isShifted = (base: Chunk, { glyphs, size, y }: Chunk): boolean =>
  glyphs.length <= 2 &&
  base.glyphs.length > 2 &&
  Math.abs(base.size - size) < size * 0.15 &&
  Math.abs(y - base.y) < size * 0.36

const isBeside = (base: Chunk, { left, right }: Chunk): boolean =>
  (left > base.right - base.size * 0.6 && left < base.right + base.size * 0.3) ||
  (right > base.left - base.size * 0.3 && right < base.left + base.size * 0.6) ||
  (left >= base.left && right <= base.right)

/** Splits a row into segments at wide gaps, and where the marked content or the size changes. */
function rowSegments(row: readonly Chunk[]): Segment[] {
  const placed = lineOf(row)
  const segments: Segment[] = []
  let group: Glyph[] = []
  const tracking = trackingOf(placed)
  for (const glyph of placed) {
    const last = group.at(-1)
    if (last && isApart(last, glyph, tracking)) {
      segments.push(segmentOf(group, tracking))
      group = []
    }
    group.push(glyph)
  }
  if (group.length > 0) segments.push(segmentOf(group, tracking))
  return segments
}

const isApart = (last: Glyph, glyph: Glyph, tracking: number): boolean => {
  const size = Math.max(last.size, glyph.size)
  const isOtherSize = Math.min(last.size, glyph.size) < size * 0.75 && !last.raised && !glyph.raised
  return glyph.x - last.x - last.width > segmentGap * size + tracking || glyph.mark !== last.mark || isOtherSize
}

/** Returns the glyphs of a row from left to right, without spaces and copies drawn for boldness. */
function lineOf(row: readonly Chunk[]): Glyph[] {
  const sorted = row.flatMap(({ glyphs }) => glyphs).sort((a, b) => a.x - b.x)
  const line: Glyph[] = []
  let spaced = false
  for (const glyph of sorted) {
    const last = line.at(-1)
    if (glyph.text === ' ' || glyph.text.trim() === '') spaced = true
    else if (last && isCopy(last, glyph)) continue
    else if (last && isAccentOn(last, glyph)) {
      glyph.text = accented(glyph.text, last.text)
      glyph.spaced = last.spaced
      line[line.length - 1] = glyph
    } else if (last && isAccentOn(glyph, last)) last.text = accented(last.text, glyph.text)
    else {
      glyph.spaced = spaced
      spaced = false
      line.push(glyph)
    }
  }
  return line
}

const isCopy = (last: Glyph, { text, x, y, size }: Glyph): boolean =>
  last.text === text && x - last.x < last.width * 0.3 && Math.abs(y - last.y) < size * 0.15

/** Accents that old TeX fonts draw over their letter, as combining characters. */
const accents = new Map([
  ['´', '\u0301'],
  ['`', '\u0300'],
  ['¨', '\u0308'],
  ['ˆ', '\u0302'],
  ['˜', '\u0303'],
  ['ˇ', '\u030C'],
  ['˚', '\u030A'],
  ['¸', '\u0327'],
  ['˙', '\u0307'],
  ['˘', '\u0306'],
  ['¯', '\u0304'],
  ['˝', '\u030B'],
])

const isAccentOn = (accent: Glyph, letter: Glyph): boolean => {
  const middle = accent.x + accent.width / 2
  return (
    middle > letter.x && middle < letter.x + letter.width && accents.has(accent.text) && /^\p{L}$/u.test(letter.text)
  )
}

const accented = (letter: string, accent: string): string =>
  ((letter === 'ı' ? 'i' : letter === 'ȷ' ? 'j' : letter) + accents.get(accent)!).normalize('NFC')

/** Returns the gap between letters of letter-spaced text, else 0. */
function trackingOf(line: readonly Glyph[]): number {
  const gaps: number[] = []
  for (let at = 1; at < line.length; at++) {
    const [last, glyph] = [line[at - 1]!, line[at]!]
    const gap = glyph.x - last.x - last.width
    if (!glyph.spaced && gap < last.size && isLetter(last.text) && isLetter(glyph.text)) gaps.push(gap)
  }
  const limit = (line[0]?.size ?? 0) * 0.08
  const wide = gaps.filter((gap) => gap > limit).length
  return gaps.length >= 4 && wide > gaps.length / 2 ? median(gaps) : 0
}

const isLetter = (text: string): boolean => {
  const code = text.charCodeAt(0)
  return code > 0x7f ? /\p{L}/u.test(text) : (code > 64 && code < 91) || (code > 96 && code < 123)
}

function segmentOf(glyphs: readonly Glyph[], tracking: number): Segment {
  const main = glyphs.filter(({ raised }) => !raised)
  const measured = main.length > 0 ? main : glyphs
  const size = median(measured.map((glyph) => glyph.size))
  const baseline = median(measured.map(({ line }) => line))
  const runs = runsOf(logicalOrder(piecesOf(glyphs, tracking)))
  return {
    left: glyphs[0]!.x,
    right: glyphs.reduce((most, { x, width }) => Math.max(most, x + width), -Infinity),
    top: baseline - size * 0.8,
    bottom: baseline,
    runs,
    text: runs.length === 1 ? runs[0]!.text : runs.map(({ text }) => text).join(''),
    size,
    bold: glyphs.filter(({ bold }) => bold).length > glyphs.length * 0.8,
    mark: glyphs[0]!.mark,
  }
}

/** Returns glyphs with the spaces between words. */
function piecesOf(glyphs: readonly Glyph[], tracking: number): Piece[] {
  const pieces: Piece[] = []
  for (let at = 0; at < glyphs.length; at++) {
    const glyph = glyphs[at]!
    const last = glyphs[at - 1]
    if (last && isWordStart(last, glyph, tracking))
      pieces.push({ text: ' ', href: last.href === glyph.href ? last.href : undefined, raised: undefined })
    pieces.push(glyph)
  }
  return pieces
}

function isWordStart(last: Glyph, glyph: Glyph, tracking: number): boolean {
  const gap = glyph.x - last.x - last.width
  const size = last.raised === glyph.raised ? Math.min(last.size, glyph.size) : Math.max(last.size, glyph.size)
  if (glyph.spaced) return gap > size * 0.02 + tracking
  return gap > size * wordGap + tracking * 1.3
}

type Piece = Pick<Glyph, 'text' | 'raised' | 'href'>

function runsOf(pieces: readonly Piece[]): Run[] {
  const runs: Run[] = []
  for (let from = 0; from < pieces.length;) {
    const { raised, href } = pieces[from]!
    let to = from
    const texts: string[] = []
    for (; to < pieces.length && pieces[to]!.raised === raised && pieces[to]!.href === href; to++)
      texts.push(pieces[to]!.text)
    // Joined at once: concatenated character by character, a string takes many times the memory.
    runs.push({ text: texts.join(''), raised, href })
    from = to
  }
  return runs
}
