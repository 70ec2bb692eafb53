/** Selects the content of a page with the summary of the other pages of its site. */
import { parseUrl } from '../../../../core/net/parse-url.ts'
import type { Block } from '../blocks.ts'
import type { Survey } from '../features/survey.ts'
import { keysOf } from './block-keys.ts'
import { outlineOf } from './outline.ts'
import { repeatedParts } from './repeated-parts.ts'
import { repeatedTexts, type SiteSummary } from './site-memory.ts'

/** Reduction of the log odds of a repeated part. */
const shift = 5
/** Minimum share of the words of the content that must be left: a page with less is a copy of other pages. */
const minLeft = 0.06

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
  const keys = keysOf(survey.segments, parseUrl(url ?? '')?.host ?? '')
  const outline = outlineOf(keys, kept)
  const repeated = repeatedTexts(site)
  if (repeated.size === 0) return { kept, outline }
  const isRepeated = Uint8Array.from(keys.texts, (key) => (repeated.has(key) ? 1 : 0))
  const parts = repeatedParts(survey, isRepeated)
  const left = kept.filter(({ index }) => parts[index] === 0 || lowered(chances[index]!) >= threshold)
  const ownWords = wordsOf(left.filter(({ index }) => isRepeated[index] === 0))
  return { kept: left.length < kept.length && ownWords >= minLeft * wordsOf(kept) ? left : kept, outline }
}

/** Returns a probability with `shift` subtracted from its log odds. */
function lowered(chance: number): number {
  const odds = (chance / Math.max(1 - chance, 1e-6)) * Math.exp(-shift)
  return odds / (1 + odds)
}

const wordsOf = (blocks: readonly Block[]): number => blocks.reduce((sum, { measure }) => sum + measure.words, 0)
