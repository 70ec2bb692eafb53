/** Features of the second pass: the first probabilities of a block, its neighbours, levels and similar blocks. */
import { log, shareOf } from './block-features.ts'
import { type Level, noSums } from './levels.ts'
import { expectedBest, orderOf } from '../selection.ts'
import { sharedLevel } from './position-features.ts'
import type { Survey } from './survey.ts'

const offsets = [-3, -2, -1, 1, 2, 3]
const windows = [2, 5, 12]
const levelCount = 5

export const secondPassFeatures = [
  'chance',
  'chance rank',
  'above threshold',
  ...offsets.map((offset) => `chance at ${offset}`),
  ...windows.map((size) => `chance within ${size}`),
  ...Array.from({ length: levelCount }, (_, level) => `chance of level ${level}`),
  'chance of look-alikes',
  'words of look-alikes',
  'chance of heading',
  'chance of section',
  'words of section',
  'chance of page',
  'content before',
  'content after',
  'in best level',
  'worth of best level',
  'shared with best level',
  'chance of original',
]

type FirstPass = ReturnType<typeof firstPassOf>

function firstPassOf(survey: Survey, chances: Float32Array) {
  const { blocks } = survey.segments
  /** Expected content words before an index. */
  const content = noSums(blocks)
  for (let at = 0; at < blocks.length; at++) content[at + 1] = content[at]! + chances[at]! * blocks[at]!.measure.words
  const ranks = new Float32Array(blocks.length)
  const order = orderOf(chances, { descending: false })
  for (let rank = 0; rank < order.length; rank++) ranks[order[rank]!] = rank / blocks.length
  const total = content[blocks.length]!
  let best: Level | undefined
  let bestWorth = 0
  for (const level of allLevels(survey.levels)) {
    const inside = content[level.end]! - content[level.first]!
    const worth = shareOf(2 * inside, level.words + total)
    if (worth <= bestWorth) continue
    bestWorth = worth
    best = level
  }
  const threshold = expectedBest(survey, chances).threshold
  return { chances, content, threshold, ranks, best, bestWorth, alike: similarBlocks(survey, chances) }
}

/** Returns all levels, each once. */
function allLevels(levels: readonly Level[]): Set<Level> {
  const all = new Set<Level>()
  for (const level of levels)
    for (let current: Level | undefined = level; current && !all.has(current); current = current.parent)
      all.add(current)
  return all
}

function similarBlocks(survey: Survey, chances: Float32Array): { words: number; content: number }[] {
  const groups = new Map<string, { words: number; content: number }>()
  return survey.segments.blocks.map((block, index) => {
    const level = survey.levels[index]!
    const key = `${block.box.element.tag} ${level.shape} ${level.parent?.shape ?? ''}`
    let group = groups.get(key)
    if (!group) groups.set(key, (group = { words: 0, content: 0 }))
    group.words += block.measure.words
    group.content += block.measure.words * chances[index]!
    return group
  })
}

/** Writes the features of the second pass to the last columns of each row of `values`. */
export function writeSecond(values: Float32Array, width: number, survey: Survey, chances: Float32Array): void {
  const firstPass = firstPassOf(survey, chances)
  const sections = sectionEnds(survey)
  for (let index = 0; index < chances.length; index++) {
    let at = index * width + width - secondPassFeatures.length
    at = writeChances(values, at, survey, firstPass, index)
    writeSection(values, at, survey, firstPass, index, sections[index]!)
  }
}

/** Returns the end of each block's section: the next heading. */
function sectionEnds({ headings }: Survey): Int32Array {
  const ends = new Int32Array(headings.length)
  let end = headings.length
  for (let index = headings.length - 1; index >= 0; index--) {
    ends[index] = end
    if (index > 0 && headings[index] !== headings[index - 1]) end = headings[index]!
  }
  return ends
}

function writeChances(out: Float32Array, from: number, survey: Survey, firstPass: FirstPass, index: number): number {
  const { chances, content } = firstPass
  const { words } = survey.sums
  let at = from
  out[at++] = chances[index]!
  out[at++] = firstPass.ranks[index]!
  out[at++] = chances[index]! - firstPass.threshold
  for (const offset of offsets) out[at++] = chances[index + offset] ?? -1
  for (const size of windows) {
    const first = Math.max(0, index - size)
    const end = Math.min(chances.length, index + size + 1)
    out[at++] = shareOf(content[end]! - content[first]!, words[end]! - words[first]!)
  }
  let level: Level | undefined = survey.levels[index]
  for (let step = 0; step < levelCount; step++) {
    out[at++] = level ? shareOf(content[level.end]! - content[level.first]!, level.words) : -1
    level = level?.parent
  }
  const group = firstPass.alike[index]!
  out[at++] = shareOf(group.content, group.words)
  out[at++] = log(group.words)
  return at
}

/** Writes the features of the section that ends at `end`, of the best level, and of the original of a copy. */
function writeSection(
  out: Float32Array,
  at: number,
  survey: Survey,
  { best, bestWorth, chances, content }: FirstPass,
  index: number,
  end: number,
): void {
  const { words } = survey.sums
  const heading = survey.headings[index]!
  const first = heading + 1
  const total = content[chances.length]!
  out[at] = heading < 0 ? -1 : chances[heading]!
  out[at + 1] = shareOf(content[end]! - content[first]!, words[end]! - words[first]!)
  out[at + 2] = log(words[end]! - words[first]!)
  out[at + 3] = shareOf(total, survey.words)
  out[at + 4] = shareOf(content[index]!, total)
  out[at + 5] = shareOf(total - content[index + 1]!, total)
  out[at + 6] = best && index >= best.first && index < best.end ? 1 : 0
  out[at + 7] = bestWorth
  out[at + 8] = best ? sharedLevel(survey, index, best.first) : 1
  const original = survey.originals[index]!
  out[at + 9] = original < 0 ? -1 : chances[original]!
}
