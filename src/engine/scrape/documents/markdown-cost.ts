/** Refuses Markdown that was built to keep the parser busy. */
import type { parse } from 'micromark'
import { BaxError } from '../../../core/errors/errors.ts'

type Blocks = ReturnType<ReturnType<ReturnType<typeof parse>['document']>['write']>

/** More quotes and list items in each other than documents have; each copies the state of all around it. */
const deep = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))){250}/m

/** Sum of the squares of the numbers of marks, which is the time that the paragraphs take. */
const maxCost = 1e8

/** @throws BaxError `content_too_large` */
export function assertShallow(text: string): void {
  if (deep.test(text)) throw new BaxError('content_too_large', 'it has too many quotes and lists in each other')
}

/** Checks the blocks of a text, before emphasis and links are parsed. @throws BaxError `content_too_large` */
export function assertCheap(text: string, blocks: Blocks): void {
  const flows = new Set(blocks.flatMap(([, token]) => token._tokenizer ?? []))
  let cost = 0
  let marks = 0
  for (const [kind, token] of [...flows].flatMap(({ events }) => events)) {
    if (kind !== 'enter' || token.contentType !== 'text') continue
    // Each line of a paragraph is a token.
    if (!token.previous) marks = 0
    const before = marks
    marks += text.slice(token.start.offset, token.end.offset).match(/[*_~[\]]/g)?.length ?? 0
    cost += marks ** 2 - before ** 2
    if (cost > maxCost) throw new BaxError('content_too_large', 'a paragraph has too many marks')
  }
}
