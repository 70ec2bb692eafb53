/** Facts about the names of an element (classes, id, role, itemprop) for the features of its blocks. */
import type { ElementNode } from '../../tree.ts'
import { addWordScores, type Lexicon, noScores } from './lexicon.ts'
import { Repeated } from './repeated.ts'
import { maxNameLength, namesOf, wordsOfName } from './text-measure.ts'
import { kindsOfWords } from './topics.ts'

export class NameFacts {
  readonly words: readonly string[]
  /** Kinds of sections that the words indicate, as bits of topics.ts. */
  readonly kinds: number
  #scores: ReturnType<typeof noScores> | undefined
  #lexicon: Lexicon | undefined

  constructor(names: string) {
    this.words = wordsOfName(names.slice(0, maxNameLength))
    this.kinds = kindsOfWords(this.words)
  }

  /** Returns the scores of the words. */
  scoresIn(lexicon: Lexicon): ReturnType<typeof noScores> {
    if (this.#scores && this.#lexicon === lexicon) return this.#scores
    this.#lexicon = lexicon
    this.#scores = noScores()
    addWordScores(this.#scores, this.words, lexicon.names)
    return this.#scores
  }
}

const repeated = new Repeated((names) => new NameFacts(names), maxNameLength)
const nameless = new NameFacts('')

/** Returns the facts of the names of an element. */
export function nameFactsOf(element: ElementNode): NameFacts {
  const names = namesOf(element)
  return names === '' ? nameless : repeated.of(names)
}
