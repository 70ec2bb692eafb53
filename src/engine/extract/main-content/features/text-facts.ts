/** Facts about a text alone for the features of its block. Pages of a site share most of their short texts. */
import { addTextScores, type Lexicon, noScores } from './lexicon.ts'
import { patternOf } from './line-patterns.ts'
import { Repeated } from './repeated.ts'
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

/** Maximum length of a text that may repeat on other pages, such as an entry of a menu. */
const maxLength = 160
const repeated = new Repeated((text) => new TextFacts(text), maxLength)

/** Returns the facts of a text. */
export const factsOf = (text: string): TextFacts => repeated.of(text)
