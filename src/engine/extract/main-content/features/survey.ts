/** Collects everything about a page that the features of its blocks need. */
import type { ElementNode } from '../../tree.ts'
import { type Block, segment } from '../blocks.ts'
import { rolesOf } from '../item-groups.ts'
import { PageFacts, sharedRuns } from './facts.ts'
import { isHeading, isPlain, type Level, levelsOf, noSums, sumUp } from './levels.ts'
import type { Lexicon } from './lexicon.ts'
import { datePattern, pricePattern } from './line-patterns.ts'

/** Everything about a page that the features of its blocks need. */
export type Survey = ReturnType<typeof surveyPage>

/** Surveys the tree of a page. */
export function surveyPage(root: ElementNode, url: string | undefined, lexicon: Lexicon) {
  const segments = segment(root)
  const { blocks } = segments
  const sums = sumUp(blocks)
  /** The innermost level of every block. */
  const levels = levelsOf(segments, sums, lexicon)
  /** First words of every block, in lower case. */
  const openings = blocks.map((block) => block.facts.opening)
  const facts = new PageFacts(root, url)
  return {
    segments,
    /** Corresponding blocks in the items of lists, tables and grids. */
    roles: rolesOf(segments),
    facts,
    sums,
    levels,
    openings,
    /** Scores of the openings. */
    wordScores: blocks.map((block) => block.facts.scoresIn(lexicon)),
    /** Share of every opening that the structured data contains in the text of the page's subject. */
    subjectShares: Float32Array.from(openings, (words) => sharedRuns(words, facts.subjectRuns)),
    headings: headingsAbove(blocks),
    ...topicsAbove(blocks),
    ...linePatternsOf(blocks),
    /** Index of the page's first h1 (or first heading); -1 for none. */
    title: titleOf(blocks),
    candidate: bestLevel(blocks, levels),
    run: densestRun(blocks),
    ...copiesOf(blocks, levels),
    words: sums.words[blocks.length]!,
  }
}

/** Returns the index of the heading above every block; -1 for none. */
function headingsAbove(blocks: readonly Block[]): Int32Array {
  const above = new Int32Array(blocks.length)
  let last = -1
  for (const [at, block] of blocks.entries()) {
    above[at] = last
    if (isHeading(block)) last = at
  }
  return above
}

/** Maximum number of words in a line that announces a topic. */
const maxLineWords = 10

/**
 * Returns the topics (bits of topics.ts) announced by every block that is a short line, those of the nearest heading
 * above each block, and those of that heading and its parent headings.
 */
function topicsAbove(blocks: readonly Block[]): { topics: Int32Array; near: Int32Array; far: Int32Array } {
  const topics = new Int32Array(blocks.length)
  const near = new Int32Array(blocks.length)
  const far = new Int32Array(blocks.length)
  /** Open headings by rank, the topics of each with those above. */
  const ranks = [0, 0, 0, 0, 0, 0, 0]
  let rank = 0
  for (let at = 0; at < blocks.length; at++) {
    const block = blocks[at]!
    const heading = isHeading(block)
    if (heading || block.measure.words <= maxLineWords) topics[at] = block.facts.topics
    if (heading) {
      rank = Number(block.box.element.tag[1])
      near[at] = topics[at]!
      ranks.fill(ranks[rank - 1]! | topics[at]!, rank)
    } else near[at] = at > 0 ? near[at - 1]! : 0
    far[at] = ranks[rank]!
  }
  return { topics, near, far }
}

/** Returns the code of every short line, 0 for none, and the number of prices and dates before each index. */
function linePatternsOf(blocks: readonly Block[]) {
  const linePatterns = new Uint8Array(blocks.length)
  const [prices, dates] = [noSums(blocks), noSums(blocks)]
  for (let at = 0; at < blocks.length; at++) {
    const pattern = blocks[at]!.facts.linePattern
    linePatterns[at] = pattern
    prices[at + 1] = prices[at]! + (pattern === pricePattern ? 1 : 0)
    dates[at + 1] = dates[at]! + (pattern === datePattern ? 1 : 0)
  }
  return { linePatterns, prices, dates }
}

function titleOf(blocks: readonly Block[]): number {
  const first = blocks.findIndex((block) => block.box.element.tag === 'h1')
  return first >= 0 ? first : blocks.findIndex(isHeading)
}

/** Returns the level that Readability's scoring would choose. */
function bestLevel(blocks: readonly Block[], levels: readonly Level[]): Level | undefined {
  const scores = new Map<Level, number>()
  for (const [at, block] of blocks.entries()) {
    if (!isPlain(block)) continue
    const vote = 1 + block.measure.commas + Math.min(block.measure.letters / 100, 3)
    let part = 1
    let level: Level | undefined = levels[at]!
    if (level.end - level.first === 1) level = level.parent
    for (; level && part > 0.1; level = level.parent, part /= 2)
      scores.set(level, (scores.get(level) ?? 0) + vote * part)
  }
  let best: Level | undefined
  let most = 0
  for (const [level, score] of scores) {
    const weighed =
      score * (1 - level.linkWords / (level.words || 1)) * (1 + 0.1 * (level.names.high + level.names.low))
    if (weighed <= most) continue
    most = weighed
    best = level
  }
  return best
}

/** Returns the run of blocks with the most text and the fewest links. */
function densestRun(blocks: readonly Block[]): { first: number; end: number } {
  let best = { first: 0, end: 0 }
  let most = 0
  let sum = 0
  let first = 0
  for (const [at, block] of blocks.entries()) {
    sum += block.measure.words - 2.5 * block.linkWords - 4
    if (sum > most) {
      most = sum
      best = { first, end: at + 1 }
    }
    if (sum < 0) {
      sum = 0
      first = at + 1
    }
  }
  return best
}

const minRepeatedWords = 4

/**
 * Returns the number of blocks with the same text (`repeats`), and the index of an earlier block elsewhere with the same
 * text, such as a second layout or a preview, -1 for none (`originals`): repetitions within one parent are intended by
 * the author and do not count.
 */
function copiesOf(blocks: readonly Block[], levels: readonly Level[]) {
  const firsts = new Map<string, number>()
  const firstOf = new Int32Array(blocks.length)
  const counts = new Int32Array(blocks.length)
  const originals = new Int32Array(blocks.length).fill(-1)
  for (let at = 0; at < blocks.length; at++) {
    const { text, measure } = blocks[at]!
    const first = firsts.get(text) ?? at
    if (first === at) firsts.set(text, at)
    else if (measure.words >= minRepeatedWords && levels[first]!.parent !== levels[at]!.parent) originals[at] = first
    firstOf[at] = first
    counts[first]!++
  }
  return { repeats: firstOf.map((first) => counts[first]!), originals }
}
