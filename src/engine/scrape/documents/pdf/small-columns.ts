/** Tells columns of few lines from rows of a table or a form, by their text. */
import type { Segment } from './page/page-content.ts'

/** The parts of a line in one column. */
type Line = readonly Segment[]

/** Maximum number of lines of a block. */
const maxLines = 8

/** Whether both columns have a short title with sentences. */
export const areCards = (left: readonly Line[], right: readonly Line[]): boolean => isCard(left) && isCard(right)

/** Whether two blocks of lines side by side are texts of their own. */
export const areBlocks = (left: readonly Line[], right: readonly Line[]): boolean =>
  Math.min(left.length, right.length) >= 2 &&
  Math.max(left.length, right.length) <= maxLines &&
  (areCards(left, right) || (isAddress(left) && isAddress(right)) || areParagraphs(left, right))

const textOf = (line: Line): string => line.map(({ text }) => text).join(' ')

/** Characters of scripts without spaces count as half a word. */
export const wordsIn = (text: string): number =>
  text.split(' ').length + (text.match(/[\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF\u0E00-\u0E7F]/g)?.length ?? 0) / 2

/** Whether lines are a short title and sentences. */
function isCard([title, ...lines]: readonly Line[]): boolean {
  if (!title || lines.length === 0) return false
  const text = lines.map(textOf).join(' ')
  // The dots of a matrix are no sentence.
  if (!/\p{L}{2}/u.test(text)) return false
  return (
    !/[.!?:,;。]$/.test(textOf(title)) && wordsIn(textOf(title)) <= 6 && wordsIn(text) >= 4 && /[.!?。！？]$/.test(text)
  )
}

/** Whether lines continue each other to sentences in one of the columns, and the other one may be sentences too. */
const areParagraphs = (left: readonly Line[], right: readonly Line[]): boolean =>
  [left, right].every((lines) => isLong(lines) && !lines.slice(0, -1).some((line) => textOf(line).endsWith(':'))) &&
  [left, right].some(isContinued) &&
  !areLabels(left)

/** Whether lines have several words each, which letters and numbers of formulas are not. */
const isLong = (lines: readonly Line[]): boolean =>
  lines.reduce((sum, line) => sum + (textOf(line).match(/\p{L}{2,}/gu)?.length ?? 0), 0) >= lines.length * 2.5

/** Whether all lines but the first continue a sentence, and all but the last fill the column. */
function isContinued(lines: readonly Line[]): boolean {
  const widths = lines.map((line) => line.at(-1)!.right - line[0]!.left)
  const full = Math.max(...widths)
  return lines.every((line, at) => {
    const next = lines[at + 1]
    return !next || (widths[at]! > full * 0.65 && /^\p{Ll}/u.test(textOf(next)) && !/[.!?:;]$/.test(textOf(line)))
  })
}

/** Kinds of lines of addresses: a street with a number, a place with a postal code, and ways to reach a person. */
const addressLines = [
  /^(?:\d{1,5}[a-z]?,? \p{L}[\p{L}\s.'’-]+|\p{L}[\p{L}\s.'’-]+ \d{1,4} ?[a-z]?)$/iu,
  /^(?:(?:[A-Z]{1,2}-)?\d{4,6},? \p{L}.*|\p{Lu}.* (?:\d{5}(?:-\d{4})?|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}))$/u,
  /^\S+@\S+\.\S+$/,
  /^[+(]?\d[\d\s()/.-]{6,}$/,
]

/** Whether lines are a name and two lines of an address, of different kinds. */
function isAddress([name, ...lines]: readonly Line[]): boolean {
  if (!name || /\d/.test(textOf(name))) return false
  const kinds = lines.map((line) => addressLines.flatMap((kind, at) => (kind.test(textOf(line)) ? [at] : [])).join(' '))
  return new Set(kinds.filter((kind) => kind !== '')).size >= 2
}

/** Whether few lines all begin with a capital letter, as the labels of a form do, and text that continues does not. */
export const areLabels = (lines: readonly Line[]): boolean =>
  lines.length <= maxLines && lines.every((line) => /^\p{Lu}/u.test(textOf(line)))
