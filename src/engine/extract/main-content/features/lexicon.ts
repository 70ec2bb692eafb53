/** What the words of class names and of texts say: how often they stood in content, as learnt. */
export interface Lexicon {
  /** Words of class names and ids. */
  readonly names: Scores
  /** Words of texts, and pairs of them. */
  readonly texts: Scores
}

/** A table of words and their scores, by the words' hashes: nothing has to be built before it is read. */
export interface Scores {
  /** Ascending. */
  readonly hashes: Uint32Array
  /** Twentieths. */
  readonly scores: Int8Array
  /** Where the hashes begin that have the same highest bits. */
  readonly starts: Uint32Array
}

export interface Leaning {
  /** The least score among the known words: 0 when none speaks against content. */
  low: number
  /** The greatest score among the known words. */
  high: number
  sum: number
  known: number
}

const startBits = 12
const parts = 20
const greatest = 127

/** A table of hashes (ascending) and scores (twentieths). */
export function scoresOf(hashes: Uint32Array, scores: Int8Array): Scores {
  const starts = new Uint32Array((1 << startBits) + 1)
  let at = 0
  for (let bits = 0; bits < starts.length; bits++) {
    while (at < hashes.length && hashes[at]! >>> (32 - startBits) < bits) at++
    starts[bits] = at
  }
  return { hashes, scores, starts }
}

/** A table of words (two words joined by `_` are a pair) and scores, which are kept in twentieths. */
export function scoresOfWords(words: ReadonlyMap<string, number>): Scores {
  const byHash = new Map<number, number>()
  for (const [word, score] of words) {
    const hash = hashOf(word)
    // Of two words with one hash the first in the list counts: there is one such pair in some ten lists.
    if (!byHash.has(hash)) byHash.set(hash, Math.max(-greatest, Math.min(greatest, Math.round(score * parts))))
  }
  const sorted = [...byHash].toSorted(([left], [right]) => left - right)
  return scoresOf(
    Uint32Array.from(sorted, ([hash]) => hash),
    Int8Array.from(sorted, ([, score]) => score),
  )
}

const offset = 0x811c9dc5
const prime = 0x01000193

/** FNV-1a over the text's code units; `from` continues the hash of what stands before it. */
function hashOf(text: string, from = offset): number {
  let hash = from
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), prime)
  return hash >>> 0
}

function addScore(leaning: Leaning, { hashes, scores, starts }: Scores, hash: number): void {
  const bits = hash >>> (32 - startBits)
  for (let at = starts[bits]!; at < starts[bits + 1]!; at++) {
    if (hashes[at] !== hash) continue
    const score = scores[at]! / parts
    leaning.sum += score
    leaning.known++
    if (score < leaning.low) leaning.low = score
    if (score > leaning.high) leaning.high = score
  }
}

export const neutral = (): Leaning => ({ low: 0, high: 0, sum: 0, known: 0 })

/** Adds what `words` say to `leaning`. */
export function lean(leaning: Leaning, words: readonly string[], scores: Scores): void {
  for (const word of words) addScore(leaning, scores, hashOf(word))
}

/** Adds what each word says together with the one after it. */
export function leanPairs(leaning: Leaning, words: readonly string[], scores: Scores): void {
  for (let at = 1; at < words.length; at++)
    addScore(leaning, scores, hashOf(words[at]!, hashOf('_', hashOf(words[at - 1]!))))
}
