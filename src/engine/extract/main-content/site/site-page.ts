/** Uses what is known about the other pages of a site for the content of one page. */
import type { Block } from '../blocks.ts'
import type { Survey } from '../features/survey.ts'
import { keysOf } from './block-keys.ts'
import { outlineOf } from './outline.ts'
import { lowerRepeated } from './repeated-parts.ts'
import { repeatedTexts, type SiteSummary } from './site-memory.ts'

export interface Selection {
  readonly chances: Float32Array
  /** Content as selected without knowledge about other pages. */
  readonly kept: Block[]
  /** Selects content by other probabilities. */
  readonly select: (chances: Float32Array) => Block[]
}

/** Minimum share of the words of the content that must be left: a page with less is a copy of other pages. */
const minLeft = 0.06

/** Returns the content without parts that repeat on other pages, and the outline of the page. */
export function selectWithin(
  site: SiteSummary,
  survey: Survey,
  { chances, kept, select, url }: Selection & { readonly url: string | undefined },
): { readonly kept: Block[]; readonly outline: string } {
  const keys = keysOf(survey.segments, url && URL.canParse(url) ? new URL(url).host : '')
  const outline = outlineOf(keys, kept)
  const repeated = repeatedTexts(site)
  if (repeated.size === 0) return { kept, outline }
  const isRepeated = Uint8Array.from(keys.texts, (key) => (repeated.has(key) ? 1 : 0))
  const lowered = lowerRepeated(survey, chances, isRepeated)
  const other = lowered ? select(lowered) : kept
  if (other.length === kept.length && other.every((block, at) => block === kept[at])) return { kept, outline }
  const isCopy = wordsOf(other.filter(({ index }) => isRepeated[index] === 0)) < minLeft * wordsOf(kept)
  return { kept: isCopy ? kept : other, outline }
}

const wordsOf = (blocks: readonly Block[]): number => blocks.reduce((sum, { measure }) => sum + measure.words, 0)
