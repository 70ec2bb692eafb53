/** Features of the whole page: its size, its sections, its metadata. */
import { bit, type Context } from './context.ts'
import type { Block } from '../blocks.ts'
import { log, shareOf } from './block-features.ts'
import { dataTypes, systemCount } from './facts.ts'
import type { Survey } from './survey.ts'
import { kinds, topics } from './topics.ts'

const shares: readonly Context[] = [
  'article',
  'main',
  'nav',
  'list',
  'table',
  'noscript',
  'hidden',
  'form',
  'code',
  'comment-property',
]

/** Parts of URL paths that distinguish kinds of pages. */
const pathHints: readonly RegExp[] = [
  /^(?:forums?|threads?|topics?|t|discussions?|questions?|community|viewtopic|showthread|comments?)$/i,
  /^(?:products?|p|dp|item|itm|prod|pd)$/i,
  /^(?:categor(?:y|ies)|collections?|shop|c|tags?|list|browse|catalog|archives?|search|topics)$/i,
  /^(?:docs?|documentation|references?|guides?|api|manual|wiki|help|tutorials?|learn|handbook)$/i,
  /^(?:blog|news|articles?|posts?|stor(?:y|ies)|20\d\d)$/i,
  /^(?:services?|solutions?|about|pricing|features?|platform|company|contact|industries)$/i,
]

export const pageFeatures = [
  'page words',
  'page blocks',
  'page link share',
  'page words per block',
  'page plain share',
  'page headings',
  'page candidate share',
  'page run share',
  'page scripts',
  'page title known',
  ...shares.map((context) => `page share in ${context}`),
  ...dataTypes.map(([type]) => `page data ${type}`),
  ...Array.from({ length: systemCount }, (_, index) => `page system ${index}`),
  ...pathHints.map((_, index) => `page address ${index}`),
  'page address depth',
  'page address words',
  'page address digits',
  'page address query',
  'page data runs',
  'page articles',
  'page prices',
  'page dates',
  'page subject words',
  'page subject share',
  'page subject found',
  ...kinds.map((kind) => `page share of ${kind}`),
  ...topics.map((topic) => `page announces ${topic}`),
]

/** Writes the features that all blocks of the page share. */
export function writePage(out: Float32Array, from: number, survey: Survey): number {
  const { facts, sums, words, candidate, run, title } = survey
  const { blocks } = survey.segments
  const count = blocks.length
  const values = [
    log(words),
    log(count),
    shareOf(sums.linkWords[count]!, words),
    shareOf(words, count),
    shareOf(sums.plainWords[count]!, words),
    shareOf(sums.headings[count]!, count),
    shareOf(candidate?.words ?? 0, words),
    shareOf(sums.words[run.end]! - sums.words[run.first]!, words),
    log(facts.scripts),
    title < 0 ? 0 : 1,
  ]
  const { inContext, ofKind } = wordsInside(blocks)
  for (const inside of inContext) values.push(shareOf(inside, words))
  for (let index = 0; index < dataTypes.length; index++) values.push((facts.types >> index) & 1)
  for (let index = 0; index < systemCount; index++) values.push((facts.systems >> index) & 1)
  const { path } = facts
  for (const hint of pathHints) values.push(path.some((part) => hint.test(part)) ? 1 : 0)
  const last = path.at(-1) ?? ''
  values.push(path.length, last.split(/[-_]/).length, /\d{3}/.test(last) ? 1 : 0, facts.hasQuery ? 1 : 0)
  values.push(log(facts.dataRuns.size), log(articlesOf(survey)))
  values.push(log(survey.prices[count]!), log(survey.dates[count]!))
  const { subjectWords } = facts
  let found = 0
  for (const { index, measure } of blocks) found += survey.subjectShares[index]! * measure.words
  values.push(log(subjectWords), Math.min(4, shareOf(subjectWords, words)), Math.min(4, shareOf(found, subjectWords)))
  for (const inside of ofKind) values.push(shareOf(inside, words))
  for (let topic = 0; topic < topics.length; topic++) {
    let announced = 0
    for (const bits of survey.topics) announced += (bits >> topic) & 1
    values.push(log(announced))
  }
  out.set(values, from)
  return from + values.length
}

const masks = shares.map(bit)

/** Returns the number of words inside each context of `shares`, and inside sections of each kind. */
function wordsInside(blocks: readonly Block[]) {
  const inContext = new Float64Array(masks.length)
  const ofKind = new Float64Array(kinds.length)
  for (const { box, measure } of blocks) {
    const { words } = measure
    for (let index = 0; index < masks.length; index++) if (box.context & masks[index]!) inContext[index]! += words
    for (let kind = 0; kind < ofKind.length; kind++) if (box.kinds[kind]! > 0) ofKind[kind]! += words
  }
  return { inContext, ofKind }
}

const articlesOf = ({ segments }: Survey): number =>
  segments.boxes.filter(({ element }) => element.tag === 'article').length
