/**
 * Keeps tables, code, lists and similar parts that follow kept text. The model judges their blocks one by one, and often
 * wrongly: they have few words, and few training pages end with such a part.
 */
import { isFormula } from '../markdown/math.ts'
import { type ElementNode, hasClass, isElement, type TreeNode, wordSet } from '../tree.ts'
import type { Block, Box } from './blocks.ts'
import { copiedFrom } from './copies.ts'
import type { Survey } from './features/survey.ts'

const partTags = new Set(['table', 'pre', 'ul', 'ol', 'dl', 'figure', 'blockquote', 'details'])
const partNames = wordSet('footnotes footnote tabs tab tabbed tabset')
/** Class names of notes: "Warning", "Tip". */
const noteNames =
  /^(?:[\w-]+-)?(?:(?:admonition|callout|alert)(?:block|-[\w-]+)?|(?:aside-|macro)-\w+|note|tip|hint|warning|caution|important)$/i

/** Minimum mean chance of the words of a part; those of navigation and related links are far below. */
const minChance = 0.13
/** Maximum share of words in links. */
const maxLinkShare = 0.5
/** Minimum share of words that are kept in the paragraphs beside a part. */
const minKeptShare = 0.8

/** Returns `kept`, and the blocks of the parts that belong to it, in document order. */
export function withAttachedParts(survey: Survey, chances: Float32Array, kept: Block[]): Block[] {
  const { blocks, boxes } = survey.segments
  const chosen = new Uint8Array(blocks.length)
  for (const { index } of kept) chosen[index] = 1
  for (const box of boxes)
    if (hasKeptParagraphs(box, survey, chosen)) attach(box, partsOf(box), survey, chances, chosen)
  return blocks.filter(({ index }) => chosen[index] === 1)
}

/** Returns the parts in a box, among them headings of formulas, which themselves have no text to judge. */
function partsOf({ element, boxes }: Box): Set<ElementNode> {
  const parts = new Set<ElementNode>()
  for (const box of boxes) if (isPart(box)) parts.add(box.element)
  let last: TreeNode | undefined
  for (const child of element.children) {
    if (!isElement(child) && !/\S/.test(child.text)) continue
    if (last && isElement(last) && /^h[1-6]$/.test(last.tag) && isElement(child) && isFormula(child)) parts.add(last)
    last = child
  }
  return parts
}

const isPart = ({ element, names }: Box): boolean =>
  partTags.has(element.tag) ||
  element.attributes['role'] === 'tablist' ||
  names.words.some((name) => partNames.has(name)) ||
  hasClass(element, noteNames)

/** Whether most of the words in the paragraphs directly in a box are kept. */
function hasKeptParagraphs({ boxes }: Box, { sums }: Survey, chosen: Uint8Array): boolean {
  let words = 0
  let keptWords = 0
  for (const { element, first, end } of boxes) {
    if (element.tag !== 'p') continue
    for (let at = first; at < end; at++) {
      const own = wordsIn(sums.words, at, at + 1)
      words += own
      if (chosen[at] === 1) keptWords += own
    }
  }
  return keptWords > 0 && keptWords >= minKeptShare * words
}

/** Chooses the parts in a box that follow a chosen block. */
function attach(
  { boxes }: Box,
  parts: ReadonlySet<ElementNode>,
  survey: Survey,
  chances: Float32Array,
  chosen: Uint8Array,
): void {
  for (const part of boxes) {
    if (part.first === 0 || chosen[part.first - 1] === 0 || !parts.has(part.element)) continue
    if (!isLikely(part, survey, chances)) continue
    for (let at = part.first; at < part.end; at++) if (copiedFrom(survey, at) < 0) chosen[at] = 1
  }
}

function isLikely({ first, end }: Box, { sums }: Survey, chances: Float32Array): boolean {
  const words = wordsIn(sums.words, first, end)
  if (words === 0 || wordsIn(sums.linkWords, first, end) > maxLinkShare * words) return false
  let expected = 0
  for (let at = first; at < end; at++) expected += chances[at]! * wordsIn(sums.words, at, at + 1)
  return expected >= minChance * words
}

const wordsIn = (sums: Float64Array, first: number, end: number): number => sums[end]! - sums[first]!
