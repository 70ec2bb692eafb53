/** Matches the fields of a schema with the labels and headings of a page. */
import { coerce } from './coerce.ts'
import type { Collection } from './collections.ts'
import type { Pair } from './pairs.ts'
import type { Shape } from './shape.ts'
import { coreWords, similarity, synonymOf, wordsOf } from './words.ts'

export interface FieldQuery {
  /** Words of the name. */
  readonly name: readonly string[]
  /** Words of the description. */
  readonly about: readonly string[]
  /** Words of the description, of the enclosing names and of the question. */
  readonly context: readonly string[]
}

/** Minimum score of a matching label. */
export const minScore = 0.42

/** Returns the pairs that match the field, best first; equal ones in page order. */
export function rankPairs(pairs: readonly Pair[], query: FieldQuery) {
  return pairs
    .map((pair) => ({ pair, score: scoreOf(pair, query) }))
    .filter(({ score }) => score >= minScore)
    .sort((a, b) => b.score - a.score)
}

function scoreOf(pair: Pair, { name, context }: FieldQuery): number {
  const near = similarity(name, pair.words)
  if (near === 0) return 0
  return near * (0.5 + 0.5 * pair.rank) + 0.06 * overlap(context, pair.words)
}

/** Returns the similarity of a collection's heading and class names to the field. */
export function collectionSimilarity(
  { label, alias }: Pick<Collection, 'label' | 'alias'>,
  { name, context }: FieldQuery,
): number {
  const heading = wordsOf(label)
  const marked = new Set(wordsOf(alias).map(synonymOf))
  const called = coreWords(name).every((word) => marked.has(word)) ? 0.7 : 0
  return Math.max(similarity(name, heading), 0.8 * overlap(context, heading), called)
}

/** Returns the share of `given` with a synonym in `known`. */
function overlap(known: readonly string[], given: readonly string[]): number {
  if (known.length === 0 || given.length === 0) return 0
  const meanings = new Set(known.map(synonymOf))
  return given.filter((word) => meanings.has(synonymOf(word))).length / given.length
}

/** Whether the last word of the field's name means `word`: `product_image` is an image. */
export const hasMeaning = ({ name }: FieldQuery, word: string): boolean =>
  name.length > 0 && synonymOf(name.at(-1)!) === word

/** Returns the first text, or the URL if the field is one, that can be converted to the shape. */
export function firstValue(pairs: Iterable<Pair>, shape: Shape, query: FieldQuery): unknown {
  const isUrl = wantsUrl(shape, query)
  for (const { url, text } of pairs) {
    const value = coerce(isUrl ? (url ?? text) : text, shape)
    if (value !== undefined) return value
  }
  return undefined
}

export const wantsUrl = (shape: Shape, query: FieldQuery): boolean =>
  shape.format === 'uri' || shape.format === 'url' || hasMeaning(query, 'url') || hasMeaning(query, 'image')
