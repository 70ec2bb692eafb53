/** Keeps the quotations in posts: they repeat another post, but the answer below is about them. */
import { hasClass } from '../tree.ts'
import type { Block, Box } from './blocks.ts'
import type { Survey } from './features/survey.ts'

const quoteNames = /^(?:\w+-)?(?:bbcode-?)?quote(?:block)?$|^ipsQuote$/i

/** Returns `kept` with the quotations in boxes of which other text is kept, in document order. */
export function withQuotes({ segments: { blocks, boxes } }: Survey, kept: readonly Block[]): readonly Block[] {
  const chosen = new Set(kept)
  for (const box of boxes) {
    if (!isQuote(box) || !box.parent) continue
    const beside = blocks.slice(box.parent.first, box.parent.end)
    const isOutside = ({ index }: Block) => index < box.first || index >= box.end
    if (!beside.some((block) => isOutside(block) && chosen.has(block))) continue
    for (const block of blocks.slice(box.first, box.end)) chosen.add(block)
  }
  return chosen.size === kept.length ? kept : blocks.filter((block) => chosen.has(block))
}

const isQuote = ({ element }: Box): boolean => element.tag === 'blockquote' || hasClass(element, quoteNames)
