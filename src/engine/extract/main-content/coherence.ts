/**
 * Makes a selection coherent: items of a list, table or grid get one decision, paragraphs between kept ones are kept, and
 * so are the headings of kept sections; those of removed boxes are dropped. The model decides about every block alone.
 */
import { attribute, wordSet } from '../tree.ts'
import type { Block, Box } from './blocks.ts'
import { copiedFrom } from './copies.ts'
import { headings, isHeading } from './features/levels.ts'
import type { Survey } from './features/survey.ts'
import { topicBits } from './features/topics.ts'

/**
 * Kept share of the words of a role up to which all of its blocks are dropped, and from which all likely ones and even
 * unlikely ones are kept.
 */
const agreement = { dropAll: 0.2, keepLikely: 0.8, keepAll: Infinity }
/** The same for posts of forums, which are all alike. */
const majority = { dropAll: 0.2, keepLikely: 0.5, keepAll: 0.8 }
/** Minimum number of blocks of such a role. */
const minBlocks = 3
/** Minimum probability of likely blocks, which are kept because of others. */
const minChance = 0.1
/** Minimum kept share of the words of a section, or of the text in a box. */
const minKeptShare = 0.8
/** Minimum kept words in a box, and minimum number of its paragraphs. */
const minKeptWords = 30
const minParagraphs = 2
/** Maximum number of boxes around a heading alone, such as that of a section's header. */
const maxWrappers = 2

/** Topics of headings that are dropped with everything below them. */
const boilerplate = topicBits('related', 'promotion', 'author', 'filters')

const textTags = wordSet('p h2 h3 h4 h5 h6 ul ol dl table pre blockquote figure details')

/** Returns `kept` with the decisions that cohere with it, in document order. */
export function withCoherentParts(
  survey: Survey,
  chances: Float32Array,
  kept: readonly Block[],
  isForum = false,
): Block[] {
  const { blocks, boxes } = survey.segments
  const chosen = new Uint8Array(blocks.length)
  for (const { index } of kept) chosen[index] = 1
  const mayKeep = (block: Block): boolean => {
    const { index, linkWords, measure } = block
    if (chosen[index] === 1 || (2 * linkWords > measure.words && !(isHeading(block) && linksToItself(block))))
      return false
    const original = copiedFrom(survey, index)
    return original < 0 || chosen[original] === 0
  }
  const isLikely = (block: Block): boolean => chances[block.index]! >= minChance && mayKeep(block)
  for (const role of survey.roles) decideTogether(role, chosen, { isLikely, mayKeep }, isForum ? majority : agreement)
  for (const box of boxes)
    for (const block of betweenKept(box, blocks, chosen)) if (isLikely(block)) chosen[block.index] = 1
  const first = chosen.indexOf(1)
  for (let at = blocks.length - 2; at >= first && first >= 0; at--) {
    const block = blocks[at]!
    const title = titleOf(block)
    if (!title) continue
    const section = sectionOf(title, blocks)
    const { words, keptWords } = wordsOf(section, chosen)
    if (words > 0 && keptWords === 0 && (survey.topics[at]! & boilerplate) !== 0) chosen[at] = 0
    else if (at > first && keptWords > 0 && keptWords >= minKeptShare * words && chosen[at + 1] === 1 && mayKeep(block))
      chosen[at] = 1
  }
  return blocks.filter(({ index }) => chosen[index] === 1)
}

/** Gives blocks of the same role in different items the decision that most of their words have. */
function decideTogether(
  role: readonly Block[],
  chosen: Uint8Array,
  { isLikely, mayKeep }: Record<'isLikely' | 'mayKeep', (block: Block) => boolean>,
  { dropAll, keepLikely, keepAll }: typeof agreement,
): void {
  if (role.length < minBlocks) return
  let words = 0
  let keptWords = 0
  for (const { index, measure } of role) {
    words += measure.words + 1
    if (chosen[index] === 1) keptWords += measure.words + 1
  }
  if (keptWords === 0 || keptWords === words) return
  const isKept = keptWords >= keepAll * words ? mayKeep : isLikely
  if (keptWords >= keepLikely * words) for (const block of role) if (isKept(block)) chosen[block.index] = 1
  if (keptWords <= dropAll * words) for (const { index } of role) chosen[index] = 0
}

/** Returns the paragraphs and headings between kept blocks in the text directly in a box, if most of it is kept. */
function betweenKept({ boxes }: Box, blocks: readonly Block[], chosen: Uint8Array): Block[] {
  const parts = boxes.filter(({ element }) => textTags.has(element.tag))
  if (parts.filter(({ element }) => element.tag === 'p').length < minParagraphs) return []
  const text = parts.flatMap(({ first, end }) => blocks.slice(first, end))
  const { words, keptWords } = wordsOf(text, chosen)
  if (keptWords < minKeptWords || keptWords < minKeptShare * words) return []
  const isKept = ({ index }: Block) => chosen[index] === 1
  return text.slice(text.findIndex(isKept), text.findLastIndex(isKept)).filter(isTextLine)
}

const isTextLine = (block: Block): boolean => block.box.element.tag === 'p' || isHeading(block)

/** Returns the box of a heading whose only block is the given one, which may be in an element within it. */
function titleOf({ box, index }: Block): Box | undefined {
  let title: Box | undefined = box
  while (title && !headings.has(title.element.tag)) {
    title = title.parent
    if (title && (title.first < index || title.end > index + 1)) return undefined
  }
  return title
}

/** Whether a heading is a link to itself. */
const linksToItself = ({ box: { element }, lead }: Block): boolean =>
  element.attributes['id'] !== undefined && attribute(lead ?? element, 'href') === `#${element.attributes['id']}`

/** Returns the blocks below a heading, up to the next heading of its rank in the box around it. */
function sectionOf({ element, parent, end: first }: Box, blocks: readonly Block[]): Block[] {
  let around = parent
  for (let wrappers = 0; around && around.end === first && wrappers < maxWrappers; wrappers++) around = around.parent
  const endsAt = (block: Block) => (titleOf(block)?.element.tag ?? 'none') <= element.tag
  let end = first
  while (end < (around?.end ?? 0) && !endsAt(blocks[end]!)) end++
  return blocks.slice(first, end)
}

function wordsOf(some: readonly Block[], chosen: Uint8Array): { words: number; keptWords: number } {
  let words = 0
  let keptWords = 0
  for (const { index, measure } of some) {
    words += measure.words
    if (chosen[index] === 1) keptWords += measure.words
  }
  return { words, keptWords }
}
