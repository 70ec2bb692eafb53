import { distance } from 'fastest-levenshtein'

export { distance }

/** Longer words are not plausible typos. */
const longest = 100

const plain = (text: string) => text.toLowerCase().replaceAll(/[-_\s]/g, '')

/** Returns the words in which two neighbouring letters have changed places. */
const swapsOf = (word: string): string[] =>
  Array.from(
    { length: Math.max(0, word.length - 1) },
    (_, at) => word.slice(0, at) + word[at + 1]! + word[at]! + word.slice(at + 2),
  )

/** Returns a function for the number of typing errors that lead to `word`; two letters that changed places are one. */
function errorsIn(word: string): (meant: string) => number {
  const typed = plain(word)
  const swaps = swapsOf(typed)
  return (meant) => (swaps.includes(plain(meant)) ? 1 : distance(typed, plain(meant)))
}

/** Returns whether two words differ by one typing error at most, besides case and separators. */
export const isNearly = (one: string, other: string): boolean => one.length <= longest && errorsIn(one)(other) <= 1

/** Returns the candidate closest to `word`, if it is close enough. */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > longest) return undefined
  const errorsTo = errorsIn(word)
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    const far = errorsTo(candidate)
    if (far < least) [best, least] = [candidate, far]
  }
  return best
}

/** Returns ` (did you mean "click"?)`, or nothing when no candidate is close. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const found = suggest(word, candidates)
  return found === undefined ? '' : ` (did you mean "${found}"?)`
}
