/** Features of a block itself: its text, its tag, its context. */
import { classes, type ElementNode } from '../../tree.ts'
import type { Block } from '../blocks.ts'
import { contexts } from './context.ts'
import { sharedRuns } from './facts.ts'
import { isHeading, isPlain, type Level } from './levels.ts'
import { addWordScores, type Lexicon, noScores } from './lexicon.ts'
import type { Survey } from './survey.ts'
import { wordsOfName } from './text-measure.ts'
import { kinds, topics } from './topics.ts'

export const textFeatures = [
  'words',
  'word length',
  'link share',
  'links',
  'strong share',
  'commas',
  'stops',
  'digits',
  'capitals',
  'marks',
  'opens with',
  'ends with',
  'text low',
  'text high',
  'text mean',
  'text known',
  'repeats',
  'is a copy',
  'looks like',
  'plain',
  'linked',
  'title overlap',
  'title cover',
  'description overlap',
  'data overlap',
  'subject overlap',
  'voice overlap',
] as const

export const tagFeatures = [
  'tag',
  'heading level',
  'lead tag',
  'lead low',
  'lead high',
  'own class',
  ...contexts.map((context) => `in ${context}`),
]

/** Returns the positions of words in a list, from 1. */
const codesOf = (words: string) => new Map(words.split(' ').map((word, index) => [word, index + 1]))

const tagCodes = codesOf(
  'p h1 h2 h3 h4 h5 h6 li dd dt td th tr caption pre blockquote figcaption article section main div span summary label legend button aside header footer nav form fieldset body address',
)
const leadTags = codesOf('a span strong b em i time small code img label cite button')

export const tagCode = (element: ElementNode): number => tagCodes.get(element.tag) ?? 0

export const shareOf = (part: number, whole: number): number => (whole > 0 ? part / whole : 0)

/** Logarithms of small counts, which are most of the values. */
const logs = Float64Array.from({ length: 1024 }, (_, value) => Math.log2(1 + value))

export const log = (value: number): number =>
  // Reading beyond the end or at a fraction is slow.
  value >= 0 && value < logs.length && Math.trunc(value) === value ? logs[value]! : Math.log2(1 + value)

const asciiEdges = Uint8Array.from({ length: 128 }, (_, code) => codeOfEdge(String.fromCharCode(code)))

const edgeCode = (char: string): number => asciiEdges[char.charCodeAt(0)] ?? codeOfEdge(char)

function codeOfEdge(char: string): number {
  if (/\p{Ll}/u.test(char)) return 1
  if (/\p{Lu}/u.test(char)) return 2
  if (/\p{N}/u.test(char)) return 3
  if (/[.!?。！？]/.test(char)) return 4
  if (/[\p{L}]/u.test(char)) return 5
  if (/["'”’»)\]]/.test(char)) return 6
  return /[:;,]/.test(char) ? 7 : 8
}

/** Writes the text features of block `index`. */
export function writeText(out: Float32Array, from: number, survey: Survey, index: number): number {
  const { text, measure, linkWords, links, strongWords, linked } = survey.segments.blocks[index]!
  const { words } = measure
  const opening = survey.openings[index]!
  const totals = survey.wordScores[index]!
  const { titleWords, descriptionWords, dataRuns, voiceRuns } = survey.facts
  let inTitle = 0
  let inDescription = 0
  if (titleWords.size > 0) for (const word of opening) if (titleWords.has(word)) inTitle++
  if (descriptionWords.size > 0) for (const word of opening) if (descriptionWords.has(word)) inDescription++
  let at = from
  out[at++] = log(words)
  out[at++] = shareOf(measure.letters, words)
  out[at++] = shareOf(linkWords, words)
  out[at++] = links
  out[at++] = shareOf(strongWords, words)
  out[at++] = shareOf(measure.commas, words)
  out[at++] = shareOf(measure.stops, words)
  out[at++] = shareOf(measure.digits, text.length)
  out[at++] = shareOf(measure.capitals, measure.letters)
  out[at++] = shareOf(measure.otherMarks, text.length)
  out[at++] = edgeCode(text[0]!)
  out[at++] = edgeCode(text.at(-1)!)
  out[at++] = totals.low
  out[at++] = totals.high
  out[at++] = shareOf(totals.sum, totals.known)
  out[at++] = shareOf(totals.known, opening.length)
  out[at++] = survey.repeats[index]!
  out[at++] = survey.originals[index]! < 0 ? 0 : 1
  out[at++] = survey.linePatterns[index]!
  out[at++] = isPlain(survey.segments.blocks[index]!) ? 1 : 0
  out[at++] = linked ? 1 : 0
  out[at++] = shareOf(inTitle, opening.length)
  out[at++] = shareOf(inTitle, titleWords.size)
  out[at++] = shareOf(inDescription, opening.length)
  out[at++] = sharedRuns(opening, dataRuns)
  out[at++] = survey.subjectShares[index]!
  out[at++] = sharedRuns(opening, voiceRuns)
  return at
}

/** Writes the tags and contexts of a block. */
export function writeTags(out: Float32Array, from: number, block: Block, lexicon: Lexicon): number {
  const { element, context } = block.box
  let at = from
  out[at++] = tagCode(element)
  out[at++] = isHeading(block) ? Number(element.tag[1]) : 0
  out[at++] = block.lead ? (leadTags.get(block.lead.tag) ?? 20) : 0
  const leadName = block.lead?.attributes['class']
  if (leadName !== undefined) {
    const totals = noScores()
    addWordScores(totals, wordsOfName(leadName), lexicon.names)
    out[at] = totals.low
    out[at + 1] = totals.high
  }
  at += 2
  out[at++] = element.attributes['class'] === undefined ? 0 : classes(element).length
  for (let index = 0; index < contexts.length; index++) out[at++] = (context >> index) & 1
  return at
}

export const topicFeatures = [
  ...kinds.map((kind) => `part of ${kind}`),
  ...topics.map((topic) => `headed by ${topic}`),
  ...topics.map((topic) => `opened by ${topic}`),
]

const openingLevels = 8

/** Writes the topics of the page sections around a block. */
export function writeTopics(out: Float32Array, from: number, survey: Survey, index: number): number {
  const { box } = survey.segments.blocks[index]!
  let at = from
  for (let kind = 0; kind < kinds.length; kind++) {
    const mark = box.kinds[kind]!
    out[at++] = mark === 0 ? 0 : 1 / (box.depth + 2 - mark)
  }
  const near = survey.near[index]!
  const far = survey.far[index]!
  for (let topic = 0; topic < topics.length; topic++) out[at++] = ((near >> topic) & 1) + ((far >> topic) & 1)
  let opening = 0
  let level: Level | undefined = survey.levels[index]
  for (let step = 0; level && step < openingLevels; step++, level = level.parent) opening |= survey.topics[level.first]!
  for (let topic = 0; topic < topics.length; topic++) out[at++] = (opening >> topic) & 1
  return at
}
