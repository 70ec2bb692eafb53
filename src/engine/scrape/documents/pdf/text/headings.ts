/** Decides which paragraphs are headings, and of which level. */
import type { Paragraph } from './paragraphs.ts'

/** Text larger than the usual one by this factor is a heading. */
const larger = 1.12
const maxChars = 250
const maxBoldChars = 110

export interface Candidate {
  readonly size: number
  readonly depth: number
}

const textOf = ({ lines }: Paragraph): string => lines.map(({ text }) => text).join(' ')

/** Returns the size of most characters, or a larger one of nearly as many: long notes do not make the text headings. */
export function bodySize(lines: Iterable<{ readonly size: number; readonly text: string }>): number {
  const chars = new Map<number, number>()
  for (const { size, text } of lines) {
    const key = Math.round(size * 5) / 5
    chars.set(key, (chars.get(key) ?? 0) + text.length)
  }
  let most = 0
  for (const count of chars.values()) most = Math.max(most, count)
  let body = 0
  for (const [size, count] of chars) if (count > most * 0.5) body = Math.max(body, size)
  return body
}

const numbering =
  /^(?:(\d+(?:\.\d+)*)\.?|([IVXL]+)\.|([A-Z])\.|(?:chapter|section|part|appendix) \w+[.:]?)\s+(?=\p{L})/iu
const caption = /^(?:table|figure|fig\.|algorithm|listing|abb\.|tab\.)\s*\d/i

/** Returns the size and depth of a paragraph that is likely to be a heading. */
export function headingOf(paragraph: Paragraph, body: number): Candidate | undefined {
  const { lines } = paragraph
  const text = textOf(paragraph)
  const { size } = lines[0]!
  if (text.length > maxChars || lines.length > 4 || !/\p{L}/u.test(text) || paragraph.marker?.kind === 'bullet')
    return undefined
  const number = numbering.exec(text)
  const depth = number?.[1] ? number[1].split('.').length : 0
  if (size > body * larger) return { size: rounded(size), depth }
  if (size < body * 0.88 || lines.length > 2 || text.length > maxBoldChars || caption.test(text)) return undefined
  const isCapital = number !== null && lines.length === 1 && /\p{Lu}{3}/u.test(text) && !/\p{Ll}/u.test(text)
  const isBold = lines.every(({ bold }) => bold) && !/[.,;:]$/.test(text)
  return isBold || isCapital ? { size: rounded(Math.min(size, body)), depth } : undefined
}

const rounded = (size: number): number => Math.round(size * 2) / 2

/** Returns the level of each candidate: by size, then by the depth of its number. */
export function levelsOf(candidates: readonly Candidate[]): (candidate: Candidate) => number {
  const keys = new Map<string, Candidate>()
  for (const one of candidates) keys.set(keyOf(one), one)
  const sorted = [...keys.values()].toSorted((a, b) => b.size - a.size || a.depth - b.depth)
  const levels = new Map<string, number>()
  let level = 0
  for (const [at, one] of sorted.entries()) {
    const before = sorted[at - 1]
    // Headings without a number are like those with the first one.
    if (!before || before.size !== one.size || (one.depth > 1 && before.depth !== one.depth)) level++
    levels.set(keyOf(one), Math.min(level, 6))
  }
  return (candidate) => levels.get(keyOf(candidate)) ?? 6
}

const keyOf = ({ size, depth }: Candidate): string => `${size} ${depth}`
