/** Finds words in the text of pages. */
import { limits } from '../limits/limits.ts'
import { charStart } from './text-part.ts'
import { replaceRuns } from './pieces.ts'

const { matchChars, matchesOfPage } = limits.mcp

/** Passages of a page, and how well it fits. */
interface Match {
  readonly passages: readonly string[]
  /** Number of passages of the page, of which `passages` has the first ones. */
  readonly count: number
  readonly score: number
}

/**
 * Finds the passages of a text that contain all words, in upper or lower case; those with the words as one phrase win.
 * Returns undefined if some word is missing.
 */
export function excerpts(
  text: string,
  find: string,
  { title = '', most = matchesOfPage }: { readonly title?: string | undefined; readonly most?: number } = {},
): Match | undefined {
  const plain = replaceRuns(text, /\s+/g, ' ')
  const lower = plain.toLowerCase()
  const phrase = find.trim().toLowerCase().replaceAll(/\s+/g, ' ')
  const words = phrase.split(' ')
  if (words.some((word) => !lower.includes(word))) return undefined
  // Lower case may have another length, such as that of İ; then the passages cannot be cut out of the original.
  const source = lower.length === plain.length ? plain : lower
  const phrases = positions(lower, phrase)
  const rarest = words.map((word) => positions(lower, word)).toSorted((a, b) => a.length - b.length)[0]!
  const near = rarest.filter((at) => words.every((word) => around(lower, at, phrase.length).includes(word)))
  // Positions are in ascending order.
  const apart: number[] = []
  for (const at of phrases.length > 0 ? phrases : near)
    if (at - (apart.at(-1) ?? -Infinity) > matchChars) apart.push(at)
  const inTitle = words.every((word) => title.toLowerCase().includes(word)) ? 10 : 0
  const score = inTitle + Math.min(phrases.length, 10) * 3 + Math.min(near.length, 10)
  return { passages: apart.slice(0, most).map((at) => around(source, at, phrase.length)), count: apart.length, score }
}

function around(text: string, at: number, length: number): string {
  const from = charStart(text, Math.max(0, at - matchChars))
  const to = charStart(text, Math.min(text.length, at + length + matchChars))
  return `${from > 0 ? '…' : ''}${text.slice(from, to).trim()}${to < text.length ? '…' : ''}`
}

/** Returns up to a thousand positions of a text. */
function positions(text: string, part: string): number[] {
  const found: number[] = []
  for (let at = text.indexOf(part); at !== -1 && found.length < 1000; at = text.indexOf(part, at + part.length))
    found.push(at)
  return found
}
