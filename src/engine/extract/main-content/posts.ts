/**
 * Keeps posts of forums whole: lines that are only a link, and short lines at the end. The model drops them as it drops
 * menus, though they are what a post refers to.
 */
import type { Block, Box } from './blocks.ts'
import { bit } from './features/context.ts'
import type { Survey } from './features/survey.ts'

/** Contexts that are no text of a post, and quotations, which are kept by themselves. */
const outside =
  bit('nav') | bit('footer') | bit('dialog') | bit('button') | bit('noscript') | bit('hidden') | bit('quote')
/** Minimum share of the words of a post that are in kept paragraphs of its own: less is a box around posts. */
const minKeptShare = 0.5

/** Returns `kept` with the rest of the posts of which paragraphs are kept, in document order. */
export function withWholePosts({ segments: { blocks, boxes } }: Survey, kept: readonly Block[]): readonly Block[] {
  const chosen = new Set(kept)
  for (const box of boxes) {
    const found = paragraphsOf(box, blocks).filter((block) => chosen.has(block))
    if (found.length === 0) continue
    const text = blocks.slice(box.first, box.end).filter(({ box: { context } }) => (context & outside) === 0)
    if (wordsOf(found) < minKeptShare * wordsOf(text)) continue
    const [first, last] = [found[0]!.index, found.at(-1)!.index]
    for (const block of text)
      if (block.index > first && (block.index < last || block.box.element.tag === 'p')) chosen.add(block)
  }
  return chosen.size === kept.length ? kept : blocks.filter((block) => chosen.has(block))
}

/** Returns the blocks of the paragraphs directly in a box. */
const paragraphsOf = ({ boxes }: Box, blocks: readonly Block[]): Block[] =>
  boxes.flatMap(({ element, first, end }) => (element.tag === 'p' ? blocks.slice(first, end) : []))

const wordsOf = (blocks: readonly Block[]): number => blocks.reduce((sum, { measure }) => sum + measure.words, 0)
