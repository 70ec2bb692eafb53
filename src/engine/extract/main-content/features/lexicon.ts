/** Learnt scores of words in class names and texts: how often they occurred in content. */
export interface Lexicon {
  /** Words of class names and ids. */
  readonly names: Scores
  /** Words of texts, and pairs of them. */
  readonly texts: Scores
}

/** A table of scores by word hash, which can be used without building a map. */
export interface Scores {
  /** Ascending. */
  readonly hashes: Uint32Array
  /** In twentieths. */
  readonly scores: Int8Array
  /** Start index of the hashes with the same highest bits. */
  readonly starts: Uint32Array
}

const startBits = 14
const parts = 20
const maxScore = 127

/** Creates a table of hashes (ascending) and scores (in twentieths). */
export function scoresOf(hashes: Uint32Array, scores: Int8Array): Scores {
  const starts = new Uint32Array((1 << startBits) + 1)
  let at = 0
  for (let bits = 0; bits < starts.length; bits++) {
    while (at < hashes.length && hashes[at]! >>> (32 - startBits) < bits) at++
    starts[bits] = at
  }
  return { hashes, scores, starts }
}

/** Creates a table of words (two words joined by `_` are a pair) and scores, which are rounded to twentieths. */
export function scoresOfWords(words: ReadonlyMap<string, number>): Scores {
  const byHash = new Map<number, number>()
  for (const [word, score] of words) {
    const hash = hashOf(word)
    // On a hash collision the first word wins: about one list in ten has one.
    if (!byHash.has(hash)) byHash.set(hash, Math.max(-maxScore, Math.min(maxScore, Math.round(score * parts))))
  }
  const sorted = [...byHash].toSorted(([left], [right]) => left - right)
  return scoresOf(
    Uint32Array.from(sorted, ([hash]) => hash),
    Int8Array.from(sorted, ([, score]) => score),
  )
}

const offset = 0x811c9dc5
const prime = 0x01000193
/** Joins the words of a pair. */
const joiner = '_'.charCodeAt(0)

/** Computes FNV-1a over the text's code units; `from` continues the hash of preceding text. */
export function hashOf(text: string, from = offset): number {
  let hash = from
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), prime)
  return hash >>> 0
}

function addScore(totals: WordScores, { hashes, scores, starts }: Scores, hash: number): void {
  const bits = hash >>> (32 - startBits)
  for (let at = starts[bits]!; at < starts[bits + 1]!; at++) {
    if (hashes[at] !== hash) continue
    const score = scores[at]! / parts
    totals.sum += score
    totals.known++
    if (score < totals.low) totals.low = score
    if (score > totals.high) totals.high = score
  }
}

/** The lowest score (at most 0) and the highest (at least 0) of known words, and their sum and number. */
type WordScores = ReturnType<typeof noScores>

export const noScores = () => ({ low: 0, high: 0, sum: 0, known: 0 })

/** Adds the scores of `words` to `totals`. */
export function addWordScores(totals: WordScores, words: readonly string[], scores: Scores): void {
  for (const word of words) addScore(totals, scores, hashOf(word))
}

/** Hashes of the words of a text. */
let hashes = new Uint32Array(64)

/** Adds the scores of `words`, and then those of pairs of adjacent words, to `totals`. */
export function addTextScores(totals: WordScores, words: readonly string[], scores: Scores): void {
  if (words.length > hashes.length) hashes = new Uint32Array(2 * words.length)
  for (let at = 0; at < words.length; at++) addScore(totals, scores, (hashes[at] = hashOf(words[at]!)))
  for (let at = 1; at < words.length; at++)
    addScore(totals, scores, hashOf(words[at]!, Math.imul(hashes[at - 1]! ^ joiner, prime)))
}
