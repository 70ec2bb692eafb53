/** Matches the fields of a schema with the labels and headings of a page. */
import { coerce } from './coerce.ts'
import type { Collection } from './collections.ts'
import type { Pair } from './pairs.ts'
import type { Shape } from './shape.ts'
import { core, likeness, meaning, wordsOf } from './words.ts'

export interface Wish {
  /** Words of the name. */
  readonly name: readonly string[]
  /** Words of the description. */
  readonly about: readonly string[]
  /** Words of the description, of the enclosing names and of the question. */
  readonly context: readonly string[]
}

interface Ranked {
  readonly pair: Pair
  readonly score: number
}

/** Minimum score of a matching label. */
export const enough = 0.42

/** Returns the pairs that match the field, best first; equal ones in page order. */
export function ranked(pairs: readonly Pair[], query: Wish): Ranked[] {
  return pairs
    .map((pair) => ({ pair, score: scoreOf(pair, query) }))
    .filter(({ score }) => score >= enough)
    .sort((a, b) => b.score - a.score)
}

function scoreOf(pair: Pair, { name, context }: Wish): number {
  const near = likeness(name, pair.words)
  if (near === 0) return 0
  return near * (0.5 + 0.5 * pair.rank) + 0.06 * overlap(context, pair.words)
}

/** Returns the similarity of a collection's heading and class names to the field. */
export function nearness({ label, alias }: Pick<Collection, 'label' | 'alias'>, { name, context }: Wish): number {
  const heading = wordsOf(label)
  const marked = new Set(wordsOf(alias).map(meaning))
  const called = core(name).every((word) => marked.has(word)) ? 0.7 : 0
  return Math.max(likeness(name, heading), 0.8 * overlap(context, heading), called)
}

/** Returns the share of `given` with a synonym in `known`. */
function overlap(known: readonly string[], given: readonly string[]): number {
  if (known.length === 0 || given.length === 0) return 0
  const meanings = new Set(known.map(meaning))
  return given.filter((word) => meanings.has(meaning(word))).length / given.length
}

/** Whether the last word of the field's name means `word`: `product_image` is an image. */
export const isAbout = ({ name }: Wish, word: string): boolean => name.length > 0 && meaning(name.at(-1)!) === word

/** Returns the first text, or the URL if the field is one, that can be converted to the shape. */
export function firstValue(pairs: Iterable<Pair>, shape: Shape, query: Wish): unknown {
  const isUrl = wantsAddress(shape, query)
  for (const { url, text } of pairs) {
    const value = coerce(isUrl ? (url ?? text) : text, shape)
    if (value !== undefined) return value
  }
  return undefined
}

export const wantsAddress = (shape: Shape, query: Wish): boolean =>
  shape.format === 'uri' || shape.format === 'url' || isAbout(query, 'url') || isAbout(query, 'image')
