/** Drops requests to readers to comment, rate or follow, and notices of commissions. */
import type { Block } from './blocks.ts'
import { isHeading } from './features/levels.ts'

const request =
  /\bleav(?:e|ing)\b.{0,30}\b(?:comment|review|rating)s?\b.{0,30}\b(?:below|us|know|how)\b|\bgive\b.{0,20}\bstar rating|\bsubscribe to (?:my|our)\b|\bfollow (?:me|us)\b.{0,20}\b(?:on|@)|\btag (?:me|us|@\w+)\b.{0,10}\b(?:on|in)\b|\bemail (?:me )?this recipe\b/i
const affiliate = /\baffiliate[- ]links?\b/i
const disclosure =
  /\bthis (?:post|article|page|site|website|blog|recipe)\b|\b(?:posts on|commissions?|disclosure|sogenannte)\b/i
/** Maximum words of a request: more is a text that contains one. */
const maxWords = 60
/** Maximum share of the words of a page; a page about one is its text. */
const maxShare = 0.15

/** Returns `kept` without requests, unless they are much of the text. */
export function withoutRequests(kept: readonly Block[]): readonly Block[] {
  const found = new Set(kept.filter((block) => isRequest(block)))
  return found.size > 0 && wordsOf([...found]) <= maxShare * wordsOf(kept)
    ? kept.filter((block) => !found.has(block))
    : kept
}

const isRequest = (block: Block): boolean =>
  block.measure.words <= maxWords && !isHeading(block) && isAsking(block.text)

const isAsking = (text: string): boolean => request.test(text) || (affiliate.test(text) && disclosure.test(text))

const wordsOf = (blocks: readonly Block[]): number => blocks.reduce((sum, { measure }) => sum + measure.words, 0)
