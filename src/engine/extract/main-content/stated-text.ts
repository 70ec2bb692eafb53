/**
 * Keeps text that the structured data of a page states as its subject: what an article, a recipe, a question or an
 * answer says. Structured data is also a feature of the model, but the model may drop text in spite of it.
 */
import type { Block } from './blocks.ts'
import { copiedFrom } from './copies.ts'
import { sharedRuns } from './features/facts.ts'
import type { Survey } from './features/survey.ts'

/** Minimum words of a line, and minimum share of its runs of words that the structured data has. */
const minWords = 8
const minShare = 0.8

/** Returns `kept` with what the structured data states; in forums, also the answers. */
export function withStatedText(survey: Survey, type: string, kept: readonly Block[]): readonly Block[] {
  const { facts, segments, subjectShares, openings } = survey
  if (facts.dataRuns.size === 0) return kept
  const chosen = new Set(kept)
  for (const block of segments.blocks) {
    const { index, measure, linkWords } = block
    if (measure.words < minWords || 2 * linkWords > measure.words || copiedFrom(survey, index) >= 0) continue
    const isVoice = type === 'forum' && sharedRuns(openings[index]!, facts.voiceRuns) >= minShare
    if (isVoice || subjectShares[index]! >= minShare) chosen.add(block)
  }
  return chosen.size === kept.length ? kept : segments.blocks.filter((block) => chosen.has(block))
}
