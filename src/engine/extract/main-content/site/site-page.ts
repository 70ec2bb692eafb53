/** Selects the content of a page with the summary of the other pages of its site. */
import type { Block } from '../blocks.ts'
import type { Survey } from '../features/survey.ts'
import { keysOf } from './block-keys.ts'
import { outlineOf } from './outline.ts'
import { repeatedParts } from './repeated-parts.ts'
import { repeatedTexts, type SiteSummary } from './site-memory.ts'

/** Reduction of the log odds of a repeated part. */
const shift = 5
/** Minimum share of the words of the content that must be left: a page with less is a copy of other pages. */
const minLeft = 0.2

/** Content as selected without knowledge about other pages. */
export interface Selection {
  readonly kept: Block[]
  readonly chances: Float32Array
  /** Minimum probability of content. */
  readonly threshold: number
}

/** Returns the content without parts that repeat on other pages, and the outline of the page. */
export function selectWithin(
  site: SiteSummary,
  survey: Survey,
  { kept, chances, threshold }: Selection,
  url: string | undefined,
): { readonly kept: Block[]; readonly outline: string } {
  const keys = keysOf(survey.segments, hostOf(url))
  const outline = outlineOf(keys, kept)
  const repeated = repeatedTexts(site)
  if (repeated.size === 0) return { kept, outline }
  const isRepeated = new Uint8Array(keys.texts.length)
  for (let at = 0; at < isRepeated.length; at++) if (repeated.has(keys.texts[at]!)) isRepeated[at] = 1
  if (!kept.some(({ index }) => isRepeated[index] === 1)) return { kept, outline }
  const parts = repeatedParts(survey, kept, isRepeated)
  const left = kept.filter(({ index }) => parts[index] === 0 || lowered(chances[index]!) >= threshold)
  const ownWords = wordsOf(left.filter(({ index }) => isRepeated[index] === 0))
  return { kept: left.length < kept.length && ownWords >= minLeft * wordsOf(kept) ? left : kept, outline }
}

/** Returns the host of a normalized URL, which is faster than parsing it. */
const hostOf = (url = ''): string => /^\w+:\/\/(?:[^/@]*@)?([^/?#]*)/.exec(url)?.[1] ?? ''

/** Returns a probability with `shift` subtracted from its log odds. */
function lowered(chance: number): number {
  const odds = (chance / Math.max(1 - chance, 1e-6)) * Math.exp(-shift)
  return odds / (1 + odds)
}

const wordsOf = (blocks: readonly Block[]): number => blocks.reduce((sum, { measure }) => sum + measure.words, 0)
