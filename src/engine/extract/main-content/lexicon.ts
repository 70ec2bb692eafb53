/** What the words of class names and of texts say: how often they stood in content, as learnt. */
export interface Lexicon {
  /** Words of class names and ids. */
  readonly names: ReadonlyMap<string, number>
  /** Words of texts, and pairs of them. */
  readonly texts: ReadonlyMap<string, number>
}

export interface Leaning {
  /** The least score among the known words: 0 when none speaks against content. */
  low: number
  /** The greatest score among the known words. */
  high: number
  sum: number
  known: number
}

export const neutral = (): Leaning => ({ low: 0, high: 0, sum: 0, known: 0 })

/** Adds what `words` say to `leaning`. */
export function lean(leaning: Leaning, words: readonly string[], scores: ReadonlyMap<string, number>): void {
  for (const word of words) {
    const score = scores.get(word)
    if (score === undefined) continue
    leaning.sum += score
    leaning.known++
    if (score < leaning.low) leaning.low = score
    if (score > leaning.high) leaning.high = score
  }
}

/** Each word with the one after it. */
export const pairsOf = (words: readonly string[]): string[] =>
  words.slice(1).map((word, index) => `${words[index]}_${word}`)
