/** What the features need to know of a text alone. Pages of a site share most of their short texts. */
import { addTextScores, hashOf, type Lexicon, noScores } from './lexicon.ts'
import { patternOf } from './line-patterns.ts'
import { leadingWords, measureText } from './text-measure.ts'
import { topicsOf } from './topics.ts'

const openingWords = 16

export class TextFacts {
  readonly text: string
  readonly measure: ReturnType<typeof measureText>
  /** First words in lower case. */
  readonly opening: readonly string[]
  /** Code of a price, date or byline; 0 for none. */
  readonly linePattern: number
  #topics: number | undefined
  #scores: ReturnType<typeof noScores> | undefined
  #lexicon: Lexicon | undefined

  constructor(text: string) {
    this.text = text
    this.measure = measureText(text)
    this.opening = leadingWords(text, openingWords)
    this.linePattern = patternOf(text)
  }

  /** Bits of topics.ts that the text announces. */
  get topics(): number {
    return (this.#topics ??= topicsOf(this.text))
  }

  /** Returns the scores of the opening. */
  scoresIn(lexicon: Lexicon): ReturnType<typeof noScores> {
    if (this.#scores && this.#lexicon === lexicon) return this.#scores
    this.#lexicon = lexicon
    this.#scores = noScores()
    addTextScores(this.#scores, this.opening, lexicon.texts)
    return this.#scores
  }
}

/** Maximum length of a text that is remembered, and number of them. */
const maxLength = 160
const maxRemembered = 2000
const remembered = new Map<string, TextFacts>()

/** Hashes of texts that were seen: only those seen again are remembered. */
const seen = new Uint32Array(4096)

/** Returns the facts of a text. */
export function factsOf(text: string): TextFacts {
  if (text.length > maxLength) return new TextFacts(text)
  const known = remembered.get(text)
  if (known) return known
  const hash = hashOf(text)
  const slot = hash % seen.length
  if (seen[slot] !== hash) {
    seen[slot] = hash
    return new TextFacts(text)
  }
  if (remembered.size >= maxRemembered) remembered.clear()
  // A copy, because a part of a text keeps the whole text in memory.
  const facts = new TextFacts(JSON.parse(JSON.stringify(text)) as string)
  remembered.set(facts.text, facts)
  return facts
}
