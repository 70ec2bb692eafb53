import { distance } from 'fastest-levenshtein'

export { distance }

/** Longer words are not plausible typos. */
const longest = 100

const plain = (text: string) => text.toLowerCase().replaceAll(/[-_\s]/g, '')

/** Returns whether two words differ by one letter at most, besides case and separators. */
export const isNearly = (one: string, other: string): boolean =>
  one.length <= longest && distance(plain(one), plain(other)) <= 1

/** Returns the candidate closest to `word`, if it is close enough. */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > longest) return undefined
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    const far = distance(plain(word), plain(candidate))
    if (far < least) [best, least] = [candidate, far]
  }
  return best
}

/** Returns ` (did you mean "click"?)`, or nothing when no candidate is close. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const found = suggest(word, candidates)
  return found === undefined ? '' : ` (did you mean "${found}"?)`
}
