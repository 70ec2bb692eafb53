/** How wishes are matched with the labels and headings of a page. */
import type { Collection } from './collections.ts'
import type { Pair } from './pairs.ts'
import type { Shape } from './shape.ts'
import { core, likeness, meaning, wordsOf } from './words.ts'

export interface Wish {
  /** Words of the name. */
  readonly name: readonly string[]
  /** Words of the description. */
  readonly about: readonly string[]
  /** Words of the description, of the names around and of the question. */
  readonly context: readonly string[]
}

interface Ranked {
  readonly pair: Pair
  readonly score: number
}

/** Below this a label is about something else. */
export const enough = 0.42

/** Pairs that answer to the wish, the best first; equal ones in the order of the page. */
export function ranked(pairs: readonly Pair[], wish: Wish): Ranked[] {
  return pairs
    .map((pair) => ({ pair, score: scoreOf(pair, wish) }))
    .filter(({ score }) => score >= enough)
    .sort((a, b) => b.score - a.score)
}

function scoreOf(pair: Pair, { name, context }: Wish): number {
  const near = likeness(name, pair.words)
  if (near === 0) return 0
  return near * (0.5 + 0.5 * pair.rank) + 0.06 * overlap(context, pair.words)
}

/** How near a collection is to the wish by what stands over it. */
export function nearness({ label, alias }: Pick<Collection, 'label' | 'alias'>, { name, context }: Wish): number {
  const heading = wordsOf(label)
  const marked = new Set(wordsOf(alias).map(meaning))
  const called = core(name).every((word) => marked.has(word)) ? 0.7 : 0
  return Math.max(likeness(name, heading), 0.8 * overlap(context, heading), called)
}

/** How much of `given` is wanted, by meaning. */
function overlap(wanted: readonly string[], given: readonly string[]): number {
  if (wanted.length === 0 || given.length === 0) return 0
  const meanings = new Set(wanted.map(meaning))
  return given.filter((word) => meanings.has(meaning(word))).length / given.length
}

/** Whether the wish is for this kind of thing: `product_image` is about an image. */
export const isAbout = ({ name }: Wish, word: string): boolean => name.length > 0 && meaning(name.at(-1)!) === word

/** Addresses are wanted where the name or the format says so; the text of a link otherwise. */
export function textFor(pair: Pair, shape: Shape, wish: Wish): string {
  return wantsAddress(shape, wish) ? (pair.address ?? pair.text) : pair.text
}

export const wantsAddress = (shape: Shape, wish: Wish): boolean =>
  shape.format === 'uri' || shape.format === 'url' || isAbout(wish, 'url') || isAbout(wish, 'image')
