/** Splits texts and class names into words, and counts words and classes of characters. */
import type { ElementNode } from '../../tree.ts'

export type TextMeasure = Readonly<ReturnType<typeof measureText>>

const [space, letter, capital, digit, comma, stop, mark, ideograph] = [0, 1, 2, 3, 4, 5, 6, 7] as const

const ascii = new Uint8Array(128)
for (let code = 33; code < 127; code++) ascii[code] = mark
for (let code = 97; code <= 122; code++) ascii[code] = letter
for (let code = 65; code <= 90; code++) ascii[code] = capital
for (let code = 48; code <= 57; code++) ascii[code] = digit
ascii[95] = letter
ascii[44] = comma
ascii[33] = ascii[46] = ascii[63] = stop

const kindOf = (code: number): number => (code < 128 ? ascii[code]! : kindBeyondAscii(code))

function kindBeyondAscii(code: number): number {
  if (code < 0xc0) return code === 0xa0 ? space : mark
  if (code < 0xdf) return code === 0xd7 ? mark : capital
  if (code < 0x370) return letter
  if (code < 0x430) return (code >= 0x391 && code <= 0x3a9) || (code >= 0x400 && code <= 0x42f) ? capital : letter
  if (code === 0x60c) return comma
  if (code === 0x61f || code === 0x6d4 || code === 0x964) return stop
  if (code < 0x2000) return letter
  if (code < 0x2c00) return code <= 0x200a || code === 0x2028 || code === 0x202f ? space : mark
  if (code < 0x3040) return eastAsianMark(code)
  if (code <= 0x30ff || (code >= 0x3400 && code <= 0x9fff)) return ideograph
  if (code >= 0xff00 && code <= 0xffef) return eastAsianMark(code)
  return letter
}

function eastAsianMark(code: number): number {
  if (code === 0x3000) return space
  if (code === 0x3001 || code === 0xff0c) return comma
  return code === 0x3002 || code === 0xff01 || code === 0xff1f || code === 0xff0e ? stop : mark
}

/** A bit for each kind that words consist of. */
const wordKinds = (1 << letter) | (1 << capital) | (1 << digit)

/** Number of characters of each kind in the measured text. */
const counts = new Int32Array(8)

export function measureText(text: string) {
  counts.fill(0)
  let words = 0
  /** 1 in a word, otherwise 0: numbers take less time than branches. */
  let inWord = 0
  for (let at = 0; at < text.length; at++) {
    const kind = kindOf(text.charCodeAt(at))
    counts[kind]!++
    const ofWord = (wordKinds >> kind) & 1
    words += ofWord & ~inWord
    inWord = ofWord
  }
  return {
    /** Two characters of a script without spaces count as one word. */
    words: words + counts[ideograph]! / 2,
    letters: counts[letter]! + counts[capital]! + counts[ideograph]!,
    digits: counts[digit]!,
    capitals: counts[capital]!,
    commas: counts[comma]!,
    /** Marks that end a sentence. */
    stops: counts[stop]!,
    otherMarks: counts[mark]!,
  }
}

/** Returns the first `limit` words in lower case. */
export function leadingWords(text: string, limit: number): string[] {
  const words: string[] = []
  let start = -1
  let isLower = true
  for (let at = 0; at <= text.length && words.length < limit; at++) {
    const code = at < text.length ? text.charCodeAt(at) : 32
    const kind = kindOf(code)
    if (kind >= letter && kind <= digit) {
      if (start < 0) {
        start = at
        isLower = true
      }
      if (kind === capital || code > 127) isLower = false
    } else if (start >= 0) {
      const word = text.slice(start, at)
      words.push(isLower ? word : word.toLowerCase())
      start = -1
    }
  }
  return words
}

const nameWords = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g

/** Returns the words of class names and ids: `post-bodyText` gives `post`, `body`, `text`. */
export function wordsOfName(name: string): string[] {
  const found = name.match(nameWords)
  if (!found) return []
  const words: string[] = []
  for (const part of found) {
    if (part.length < 3 || part.length > 18) continue
    const word = part.toLowerCase()
    if (!words.includes(word)) words.push(word)
  }
  return words
}

/** Maximum number of characters of names that are read. */
export const maxNameLength = 300

/** Returns the classes, id, role and itemprop of an element. */
export function namesOf({ attributes }: ElementNode): string {
  const { class: classes = '', id, role, itemprop } = attributes
  if (id === undefined && role === undefined && itemprop === undefined) return classes
  return `${classes} ${id ?? ''} ${role ?? ''} ${itemprop ?? ''}`
}

/** Returns the words of the names of an element. */
export const nameWordsOf = (element: ElementNode): string[] => wordsOfName(namesOf(element).slice(0, maxNameLength))
