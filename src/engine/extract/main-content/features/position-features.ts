/** Features of a block's position: in the page, among its neighbours, in the levels around it. */
import { log, shareOf, tagCode } from './block-features.ts'
import type { Level } from './levels.ts'
import type { Survey } from './survey.ts'

const levelCount = 5
const perLevel = [
  'blocks',
  'words',
  'page share',
  'link share',
  'words per block',
  'plain share',
  'names low',
  'names high',
  'alike',
  'position',
  'place',
  'media',
  'opening',
] as const

export const levelFeatures = [
  ...Array.from({ length: levelCount }, (_, level) => perLevel.map((name) => `level ${level} ${name}`)).flat(),
  'names low of all',
  'names high of all',
  'names near',
  'depth',
  'card distance',
  'card count',
  'card words',
  'card link share',
  'card plain share',
  'cards of page',
  'card position',
  'card prices',
  'card dates',
  'prices beside card',
  'dates beside card',
  'in candidate',
  'candidate share',
  'shared with candidate',
  'side of candidate',
  'in run',
  'run distance',
  'run share',
  'shared with title',
]

/** Writes the features of the levels around block `index`. */
export function writeLevels(out: Float32Array, from: number, survey: Survey, index: number): number {
  let at = from
  let level: Level | undefined = survey.levels[index]!
  for (let step = 0; step < levelCount; step++) {
    if (level) writeLevel(out, at, survey, level, index)
    else out.fill(-1, at, at + perLevel.length)
    at += perLevel.length
    level = level?.parent
  }
  at = writeNames(out, at, survey.levels[index]!)
  at = writeCard(out, at, survey, index)
  return writeCandidate(out, at, survey, index)
}

function writeLevel(out: Float32Array, at: number, survey: Survey, level: Level, index: number): void {
  const { first, end, words, parent } = level
  const count = end - first
  out[at] = log(count)
  out[at + 1] = log(words)
  out[at + 2] = shareOf(words, survey.words)
  out[at + 3] = shareOf(level.linkWords, words)
  out[at + 4] = shareOf(words, count)
  out[at + 5] = shareOf(level.plainWords, words)
  out[at + 6] = level.names.low
  out[at + 7] = level.names.high
  out[at + 8] = log(level.alike.count)
  out[at + 9] = (index - first) / count
  out[at + 10] = parent ? level.place / parent.parts.length : 0
  out[at + 11] = log(level.media)
  out[at + 12] = openingOf(survey, first)
}

/** Returns the mean score of the line that opens a level, such as "Comments" or "Related". */
function openingOf(survey: Survey, first: number): number {
  const { sum, known } = survey.wordScores[first]!
  return survey.segments.blocks[first]!.measure.words > 8 ? 0 : shareOf(sum, known)
}

function writeNames(out: Float32Array, at: number, from: Level): number {
  let low = 0
  let high = 0
  let near = 0
  let weight = 1
  for (let level: Level | undefined = from; level; level = level.parent) {
    low = Math.min(low, level.names.low)
    high = Math.max(high, level.names.high)
    near += weight * (level.names.low + level.names.high)
    weight *= 0.7
  }
  out[at] = low
  out[at + 1] = high
  out[at + 2] = near
  out[at + 3] = from.depth
  return at + 4
}

function writeCard(out: Float32Array, at: number, survey: Survey, index: number): number {
  let distance = 0
  let level: Level | undefined = survey.levels[index]!
  for (; level && level.alike.count < 3; level = level.parent) distance++
  if (level) {
    out[at] = distance
    const { first, end, parent, alike } = level
    out[at + 1] = log(alike.count)
    out[at + 2] = alike.words / alike.count
    out[at + 3] = shareOf(level.linkWords, level.words)
    out[at + 4] = shareOf(level.plainWords, level.words)
    out[at + 5] = shareOf(alike.words, survey.words)
    out[at + 6] = level.place / parent!.parts.length
    const { prices, dates } = survey
    out[at + 7] = log(prices[end]! - prices[first]!)
    out[at + 8] = log(dates[end]! - dates[first]!)
    out[at + 9] = (prices[parent!.end]! - prices[parent!.first]!) / parent!.parts.length
    out[at + 10] = (dates[parent!.end]! - dates[parent!.first]!) / parent!.parts.length
  } else out.fill(-1, at, at + 11)
  return at + 11
}

/** Returns the share of the page in the innermost level that contains both blocks. */
export function sharedLevel(survey: Survey, index: number, other: number): number {
  let level: Level | undefined = survey.levels[index]
  while (level && (other < level.first || other >= level.end)) level = level.parent
  return level ? shareOf(level.words, survey.words) : 1
}

function writeCandidate(out: Float32Array, at: number, survey: Survey, index: number): number {
  const { candidate, run, segments, sums, title } = survey
  const count = segments.blocks.length
  const inside = candidate !== undefined && index >= candidate.first && index < candidate.end
  out[at] = inside ? 1 : 0
  out[at + 1] = candidate ? shareOf(candidate.words, survey.words) : 0
  out[at + 2] = candidate ? sharedLevel(survey, index, (candidate.first + candidate.end) >> 1) : 1
  out[at + 3] = !candidate || inside ? 0 : Math.sign(index - candidate.first) * log(distanceTo(index, candidate))
  out[at + 4] = index >= run.first && index < run.end ? 1 : 0
  out[at + 5] = distanceTo(index, run) / (count || 1)
  out[at + 6] = shareOf(sums.words[run.end]! - sums.words[run.first]!, survey.words)
  out[at + 7] = title < 0 ? 1 : sharedLevel(survey, index, title)
  return at + 8
}

function distanceTo(index: number, { first, end }: { readonly first: number; readonly end: number }): number {
  if (index < first) return first - index
  return index >= end ? index - end + 1 : 0
}

const offsets = [-3, -2, -1, 1, 2, 3]
const windows = [4, 12]
const perNeighbour = ['words', 'link share', 'tag', 'text']

export const neighbourFeatures = [
  ...offsets.flatMap((offset) => perNeighbour.map((name) => `${name} at ${offset}`)),
  ...windows.flatMap((size) => ['words', 'link share', 'plain share'].map((name) => `${name} within ${size}`)),
  'blocks before',
  'words before',
  'blocks after',
  'words after',
  'heading distance',
  'words since heading',
  'heading level above',
  'heading low',
  'heading mean',
  'heading in candidate',
  'title distance',
  'words since title',
]

/** Returns the values that every block contributes to the rows of its neighbours. */
export function valuesForNeighbours({ segments, wordScores }: Survey): Float32Array {
  const values = new Float32Array(segments.blocks.length * perNeighbour.length)
  let at = 0
  for (const { index, box, linkWords, measure } of segments.blocks) {
    const { sum, known } = wordScores[index]!
    values[at++] = log(measure.words)
    values[at++] = shareOf(linkWords, measure.words)
    values[at++] = tagCode(box.element)
    values[at++] = shareOf(sum, known)
  }
  return values
}

/** Writes the features of the blocks before and after block `index`. */
export function writeNeighbours(
  out: Float32Array,
  from: number,
  survey: Survey,
  index: number,
  neighbours: Float32Array,
): number {
  const { blocks } = survey.segments
  let at = from
  for (const offset of offsets) {
    const other = index + offset
    const isBlock = other >= 0 && other < blocks.length
    for (let column = 0; column < perNeighbour.length; column++)
      out[at++] = isBlock ? neighbours[other * perNeighbour.length + column]! : -1
  }
  const { sums } = survey
  for (const size of windows) {
    const first = Math.max(0, index - size)
    const end = Math.min(blocks.length, index + size + 1)
    const words = sums.words[end]! - sums.words[first]!
    out[at++] = words / (end - first)
    out[at++] = shareOf(sums.linkWords[end]! - sums.linkWords[first]!, words)
    out[at++] = shareOf(sums.plainWords[end]! - sums.plainWords[first]!, words)
  }
  out[at++] = log(index)
  out[at++] = shareOf(sums.words[index]!, survey.words)
  out[at++] = log(blocks.length - index)
  out[at++] = log(survey.words - sums.words[index + 1]!)
  return writeHeadings(out, at, survey, index)
}

function writeHeadings(out: Float32Array, at: number, survey: Survey, index: number): number {
  const heading = survey.headings[index]!
  const { sums, title, candidate } = survey
  if (heading >= 0) {
    const totals = survey.wordScores[heading]!
    out[at] = log(index - heading)
    out[at + 1] = log(sums.words[index]! - sums.words[heading]!)
    out[at + 2] = Number(survey.segments.blocks[heading]!.box.element.tag[1])
    out[at + 3] = totals.low
    out[at + 4] = shareOf(totals.sum, totals.known)
    out[at + 5] = candidate && heading >= candidate.first && heading < candidate.end ? 1 : 0
  } else out.fill(-1, at, at + 6)
  out[at + 6] = title < 0 ? 0 : Math.sign(index - title) * log(Math.abs(index - title))
  out[at + 7] = title < 0 ? 0 : log(Math.max(0, sums.words[index]! - sums.words[title]!))
  return at + 8
}
