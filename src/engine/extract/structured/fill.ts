/** Fills a shape from what a page offers; null for what is not found. */
import { visibleText } from '../tree.ts'
import { coerce, emailIn } from './coerce.ts'
import type { Collection } from './collections.ts'
import type { Pair } from './pairs.ts'
import { dataScope, recordScope, type Scope } from './scope.ts'
import type { Shape } from './shape.ts'
import { likeness, meaning, meaningOf, wordsOf } from './words.ts'

/** Below this a label is about something else. */
const enough = 0.42
const deepest = 6
const sampled = 6

export interface Wish {
  /** Words of the name. */
  readonly name: readonly string[]
  /** Words of the names around, of the description and of the question. */
  readonly context: readonly string[]
}

/** The value for a shape; `question` is what was asked for in words. */
export function fill(shape: Shape, scope: Scope, question: string): unknown {
  const context = meaningOf(`${question} ${shape.about}`)
  if (shape.kind === 'object') return fillObject(shape, scope, context, 0)
  const name = context.length > 0 ? context : ['value']
  return fillField(shape, scope, { name, context }, 0)
}

function fillObject(shape: Shape, scope: Scope, context: readonly string[], depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(shape.properties).map(([property, field]) => {
      const about = meaningOf(field.about)
      return [property, fillField(field, scope, { name: wordsOf(property), context: [...about, ...context] }, depth)]
    }),
  )
}

function fillField(shape: Shape, scope: Scope, wish: Wish, depth: number): unknown {
  if (depth > deepest) return null
  if (shape.kind === 'object') return fillInner(shape, scope, wish, depth)
  if (shape.kind === 'array') return fillArray(shape, scope, wish, depth)
  return scalar(shape, scope, wish) ?? null
}

/** An object inside: the entity of that name, else what the surroundings say under its own names and this one. */
function fillInner(shape: Shape, scope: Scope, wish: Wish, depth: number): unknown {
  const records = scope.pairs.filter((pair) => isRecord(pair.data))
  const named = best(records, wish, (pair) => pair.data as Record<string, unknown>)
  const context = [...wish.name, ...wish.context]
  if (named) {
    const inner = fillObject(shape, dataScope(named, scope.baseUrl), context, depth + 1)
    if (!isEmpty(inner)) return inner
  }
  const prefixed = Object.fromEntries(
    Object.entries(shape.properties).map(([property, field]) => {
      const words = wordsOf(property)
      const joint = { name: [...wish.name, ...words], context }
      const value = fillField(field, scope, joint, depth + 1)
      return [property, isEmpty(value) ? fillField(field, scope, { name: words, context }, depth + 1) : value]
    }),
  )
  return isEmpty(prefixed) ? null : prefixed
}

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.values(value).every(isEmpty)
}

function fillArray(shape: Shape, scope: Scope, wish: Wish, depth: number): unknown[] {
  const items = shape.items ?? { kind: 'any', about: '', properties: {} }
  return items.kind === 'object' ? recordsFor(items, scope, wish, depth) : valuesFor(items, scope, wish)
}

/** The collection whose records fill the shape best, and whose heading is nearest to the wish. */
function recordsFor(items: Shape, scope: Scope, wish: Wish, depth: number): unknown[] {
  const context = [...wish.name, ...wish.context]
  const inside = (record: Collection['records'][number]) =>
    fillObject(items, recordScope(record, scope.baseUrl), context, depth + 1)
  let chosen: Collection | undefined
  let most = 0.3
  for (const collection of scope.collections) {
    const sample = collection.records.slice(0, sampled).map(inside)
    const covered = sample.reduce((sum, record) => sum + coverage(record), 0) / sample.length
    const near = nearness(collection.label, wish)
    if (covered === 0 || (covered < 0.34 && near < 0.5)) continue
    const size = Math.min(Math.log2(collection.records.length + 1), 6) / 30
    const score = covered * 0.75 + near * 0.3 + size + kindBonus(collection) - (collection.aside ? 0.35 : 0)
    if (score > most) [chosen, most] = [collection, score]
  }
  return chosen ? chosen.records.map(inside).filter((record) => !isEmpty(record)) : []
}

const kindBonus = ({ kind }: Collection): number => ({ data: 0.06, table: 0.05, cards: 0.02, list: 0 })[kind]

function coverage(record: Record<string, unknown>): number {
  const values = Object.values(record)
  return values.length === 0 ? 0 : values.filter((value) => !isEmpty(value)).length / values.length
}

const nearness = (label: string, { name, context }: Wish): number =>
  Math.max(likeness(name, wordsOf(label)), 0.8 * overlap(context, wordsOf(label)))

function overlap(wanted: readonly string[], given: readonly string[]): number {
  if (wanted.length === 0 || given.length === 0) return 0
  const meanings = new Set(wanted.map(meaning))
  return given.filter((word) => meanings.has(meaning(word))).length / given.length
}

/** Plain values: a list under such a heading, a column of a table, all that carry such a label, keywords. */
function valuesFor(items: Shape, scope: Scope, wish: Wish): unknown[] {
  const read = (texts: readonly string[]) => distinct(texts.map((text) => coerce(text, items)).filter((value) => value !== undefined)) // prettier-ignore
  const data = best(
    scope.pairs.filter((pair) => Array.isArray(pair.data)),
    wish,
    (pair) => pair.data as unknown[],
  )
  if (data) {
    const values = read(data.map((item) => (isRecord(item) ? nameOf(item as Record<string, unknown>) : String(item))))
    if (values.length > 0) return values
  }
  if (isAbout(wish, 'image')) return read(allImages(scope))
  if (isAbout(wish, 'url')) return read(scope.pairs.flatMap(({ address, label }) => (address && label !== 'image' ? [address] : []))) // prettier-ignore
  for (const collection of byNearness(scope.collections, wish)) {
    const values = read(textsOf(collection, wish))
    if (values.length > 0) return values
  }
  const labelled = ranked(scope.pairs, wish)
  const [top] = labelled
  if (!top) return []
  const same = labelled.filter(
    ({ pair, score }) => score > top.score - 0.12 && pair.words.join() === top.pair.words.join(),
  )
  const values = read(same.map(({ pair }) => pair.text))
  // One label with several values: `Tags: a, b, c`.
  const single = same.length === 1 || values.length <= 1
  return single ? read(top.pair.text.split(/\s*[,;|•·\n]\s*/)) : values
}

const nameOf = (record: Record<string, unknown>): string =>
  String(record['name'] ?? record['text'] ?? record['title'] ?? '')

function byNearness(collections: readonly Collection[], wish: Wish): Collection[] {
  const near = (collection: Collection) => {
    const column = Object.keys(collection.records[0]?.fields ?? {})
    const labels = [collection.label, ...(collection.kind === 'table' ? column : [])]
    return Math.max(...labels.map((label) => nearness(label, wish))) - (collection.aside ? 0.2 : 0)
  }
  return collections
    .map((collection) => ({ collection, score: near(collection) }))
    .filter(({ score }) => score >= enough)
    .sort((a, b) => b.score - a.score)
    .map(({ collection }) => collection)
}

function textsOf({ kind, records }: Collection, wish: Wish): string[] {
  if (kind === 'table') {
    const columns = Object.keys(records[0]?.fields ?? {})
    const scores = columns.map((name) => likeness(wish.name, wordsOf(name)))
    const column = columns[scores.indexOf(Math.max(...scores, 0))] ?? columns[0]
    return records.map(({ fields }) => String(fields?.[column ?? ''] ?? ''))
  }
  return records.map(({ element, fields }) =>
    element ? visibleText(element, 500) : fields ? nameOf({ ...fields }) : '',
  )
}

function allImages(scope: Scope): string[] {
  return scope.pairs.flatMap(({ words, address }) => (address && words.some((word) => meaning(word) === 'image') ? [address] : [])) // prettier-ignore
}

const distinct = (values: unknown[]): unknown[] => [...new Set(values)]

const isAbout = ({ name }: Wish, word: string): boolean => name.length > 0 && meaning(name.at(-1)!) === word

/** One value: the best label whose value can be read as the shape wants it. */
function scalar(shape: Shape, scope: Scope, wish: Wish): unknown {
  for (const { pair } of ranked(scope.pairs, wish).slice(0, 40)) {
    const value = coerce(textFor(pair, shape, wish), shape)
    if (value !== undefined) return value
  }
  return fallback(shape, scope, wish)
}

/** Addresses are wanted where the name or the format says so; the text of a link otherwise. */
function textFor(pair: Pair, shape: Shape, wish: Wish): string {
  const wantsAddress =
    shape.format === 'uri' || shape.format === 'url' || isAbout(wish, 'url') || isAbout(wish, 'image')
  return wantsAddress ? (pair.address ?? pair.text) : pair.text
}

interface Ranked {
  readonly pair: Pair
  readonly score: number
}

/** Pairs that answer to the wish, the best first; equal ones in the order of the page. */
function ranked(pairs: readonly Pair[], wish: Wish): Ranked[] {
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

function best<Value>(pairs: readonly Pair[], wish: Wish, take: (pair: Pair) => Value): Value | undefined {
  const [top] = ranked(pairs, wish)
  return top && take(top.pair)
}

const money = /(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF)\b)\s?\d[\d.,' ]*|\d[\d.,' ]*\s?(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|kr)\b)/
const currencies: Readonly<Record<string, string>> = { $: 'USD', '€': 'EUR', '£': 'GBP', '¥': 'JPY', '₹': 'INR' }
const phone = /(?:\+|\b0|\(\d)[\d ()/.-]{6,18}\d/

/** What has no label can still be known by its form. */
function fallback(shape: Shape, scope: Scope, wish: Wish): unknown {
  const texts = () => scope.passages.map(({ text }) => text)
  const matching = (pattern: RegExp) => texts().map((text) => pattern.exec(text)?.[0]).find((found) => found !== undefined) // prettier-ignore
  const said = (text: string | undefined) => (text === undefined ? undefined : coerce(text, shape))
  switch (wish.name.length > 0 ? meaning(wish.name.at(-1)!) : '') {
    case 'email':
      return said(texts().map(emailIn).find((found) => found !== undefined)) // prettier-ignore
    case 'phone':
      return said(matching(phone))
    case 'price':
      return said(matching(money))
    case 'currency': {
      const sign = /[$€£¥₹]|\b(?:USD|EUR|GBP|CHF)\b/.exec(matching(money) ?? '')?.[0]
      return said(sign && (currencies[sign] ?? sign))
    }
    case 'image':
      return said(scope.element && firstImage(scope))
    case 'url':
      return said(scope.pairs.find((pair) => pair.address !== undefined && pair.label !== 'image')?.address)
    case 'title':
      return said(titleOf(scope))
    case 'description':
      return said(texts().find((text) => text.length >= 60))
    default:
      return byDescription(shape, scope, wish)
  }
}

const firstImage = (scope: Scope): string | undefined =>
  scope.pairs.find(({ label, address }) => label === 'image' && address)?.address

/** Without a heading, what a record is called stands in its link, or is its only text. */
function titleOf(scope: Scope): string | undefined {
  const link = scope.pairs.find((pair) => pair.address !== undefined && pair.label === pair.text)
  return link?.text ?? (scope.passages[0] && scope.passages[0].text.length < 200 ? scope.passages[0].text : undefined)
}

const vague = new Set('value result answer data content text info information detail fact'.split(' '))

/** A name that says nothing is meant as its description, or as the question. */
function byDescription(shape: Shape, scope: Scope, wish: Wish): unknown {
  if (wish.context.length === 0) return undefined
  const isVague = wish.name.every((word) => vague.has(word))
  const about = isVague ? wish.context : [...wish.name, ...wish.context]
  for (const { pair } of labelsAmong(scope.pairs, about, isVague ? [] : wish.name)) {
    const value = coerce(textFor(pair, shape, wish), shape)
    if (value !== undefined) return value
  }
  return undefined
}

/** Pairs all of whose label's words are asked for, those with most of them first. */
function labelsAmong(pairs: readonly Pair[], about: readonly string[], needed: readonly string[]): { pair: Pair }[] {
  const wanted = new Set(about.map(meaning))
  const must = new Set(needed.map(meaning))
  return pairs
    .filter(({ words }) => words.length > 0 && words.every((word) => wanted.has(meaning(word))))
    .filter(({ words }) => must.size === 0 || words.some((word) => must.has(meaning(word))))
    .map((pair) => ({ pair, score: pair.words.length + pair.rank }))
    .sort((a, b) => b.score - a.score)
    .slice(0, 20)
}
