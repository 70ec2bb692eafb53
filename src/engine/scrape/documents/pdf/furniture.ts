/**
 * Finds what repeats at the top and bottom of most pages: running headers, footers and page numbers. Words that are
 * nowhere else in the document are kept where they are for the first time.
 */
import { segmentRows } from './lines.ts'
import { boxAround, type PageContent, type Segment } from './page/page-content.ts'

/** Outermost rows of a page that may repeat. */
const outerRows = 3
/** Part of the height of the page at its ends that they are in. */
const margin = 0.14

interface OuterRow {
  readonly page: number
  readonly segments: readonly Segment[]
  readonly text: string
  /** Distance from the end of the page that it is near. */
  readonly place: string
}

/** Text larger than the usual one by this factor is a heading, which may repeat. */
const larger = 1.12

/** Returns the segments of running headers, footers and page numbers. `body`: the usual size of text. */
export function furnitureOf(pages: readonly PageContent[], body: number): Set<Segment> {
  const places = new Map<string, Map<string, OuterRow[]>>()
  for (const row of pages.flatMap((page, at) => outerRowsOf(page, at))) {
    for (const key of keysOf(row)) {
      const place = places.get(row.place) ?? new Map<string, OuterRow[]>()
      places.set(row.place, place)
      const group = place.get(key)
      if (group) group.push(row)
      else place.set(key, [row])
    }
  }
  const rows = new Set<OuterRow>()
  for (const place of places.values()) {
    // Headers of chapters and of odd pages repeat only on some of the pages.
    const repeated = new Set(
      [...place].filter(([key, group]) => repeats(key, group, pages.length, body)).flatMap(([, group]) => group),
    )
    if (pagesOf(repeated) <= pages.length * 0.5) continue
    for (const row of repeated) rows.add(row)
  }
  const found = new Set([...rows].flatMap(({ segments }) => segments))
  for (const row of firstOnes(rows, pages, found)) for (const segment of row.segments) found.delete(segment)
  return found
}

/** Returns the first row of each text whose words do not follow each other anywhere else in the document. */
function firstOnes(rows: Iterable<OuterRow>, pages: readonly PageContent[], found: ReadonlySet<Segment>): OuterRow[] {
  const firsts = new Map<string, OuterRow>()
  for (const row of [...rows].toSorted((a, b) => a.page - b.page)) {
    const words = wordsOf(row.text)
    if (words.length > 0 && !firsts.has(words.join(' '))) firsts.set(words.join(' '), row)
  }
  const missing = new Set([...firsts.values()].flatMap(({ text }) => pairsOf(wordsOf(text))))
  for (const { layers } of pages) {
    let last = ''
    for (const segment of layers.flat()) {
      if (found.has(segment)) continue
      for (const word of wordsOf(segment.text)) {
        missing.delete(`${last} ${word}`)
        missing.delete(word)
        last = word
      }
    }
  }
  return [...firsts.values()].filter(({ text }) => pairsOf(wordsOf(text)).some((pair) => missing.has(pair)))
}

/** Returns the words with letters, without the names of page numbers. */
const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/\p{L}[\p{L}\p{M}]*/gu) ?? []).filter((word) => !pageWords.test(word))

/** Returns each word with the one before it, or the only word. */
const pairsOf = (words: readonly string[]): string[] =>
  words.length === 1 ? [...words] : words.slice(1).map((word, at) => `${words[at]!} ${word}`)

const pageWords = /^(?:page|seite|pagina|página|стр|p|of|von|de|sur|di|из|[ivxl]+)$/

const pagesOf = (rows: Iterable<OuterRow>): number => new Set([...rows].map(({ page }) => page)).size

function repeats(key: string, group: readonly OuterRow[], pages: number, body: number): boolean {
  const count = pagesOf(group)
  if (count < 2 || (pages < 3 && !isPageNumber(key))) return false
  const isLarge = group.some(({ segments }) => segments.some(({ size }) => size > body * larger))
  return !isLarge || count > pages * 0.8
}

const isPageNumber = (key: string): boolean =>
  /^\W*(?:page|seite|pagina|página|стр\.?|p\.)?\W*#-?\d+\W*(?:(?:of|\/|von|de|sur|di|из)\W*\d+)?\W*$/i.test(key)

function outerRowsOf({ layers: [main = []], top, height }: PageContent, page: number): OuterRow[] {
  const rows = segmentRows(main)
  const limit = height * margin
  const upper = rows.slice(0, outerRows).filter((row) => boxAround(row).top - top < limit)
  const lower = rows.slice(-outerRows).filter((row) => top + height - boxAround(row).bottom < limit)
  return [
    ...upper.map((segments) => outerRow(segments, page, `top ${Math.round((segments[0]!.bottom - top) / 4)}`)),
    ...lower.map((segments) =>
      outerRow(segments, page, `bottom ${Math.round((top + height - segments[0]!.bottom) / 4)}`),
    ),
  ]
}

const outerRow = (segments: readonly Segment[], page: number, place: string): OuterRow => ({
  page,
  segments,
  place,
  text: segments
    .map(({ text }) => text)
    .join(' ')
    .trim(),
})

/** Returns the text, and the text with each number in place of which another page may have its own. */
function keysOf({ text, page }: OuterRow): string[] {
  const keys = [text]
  for (const match of text.matchAll(/(?<![\w.])(?:\d{1,4}|[ivxl]{1,8})(?![\w])/g)) {
    const value = /\d/.test(match[0]) ? Number(match[0]) : roman(match[0])
    keys.push(`${text.slice(0, match.index)}#${value - page}${text.slice(match.index + match[0].length)}`)
  }
  return keys.slice(0, 12)
}

const digits = new Map([
  ['i', 1],
  ['v', 5],
  ['x', 10],
  ['l', 50],
])

function roman(text: string): number {
  const values = [...text].map((digit) => digits.get(digit) ?? 0)
  return values.reduce((sum, value, at) => sum + (value < (values[at + 1] ?? 0) ? -value : value), 0)
}
