/** Fills arrays: records from what a page repeats, plain values from its lists. */
import { visibleText } from '../tree.ts'
import { coerce } from './coerce.ts'
import type { Collection, CollectionRecord } from './collections.ts'
import { enough, isAbout, nearness, ranked, type Wish } from './match.ts'
import type { Scope } from './scope.ts'
import type { Shape } from './shape.ts'
import { likeness, meaning, wordsOf } from './words.ts'

type Values = Record<string, unknown>

const sampled = 6
/** Collections tried for one wish. */
const mostTried = 80

/** Whether a value says nothing. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.values(value).every(isEmpty)
}

/** Records of the collection that fills the shape best, and whose heading is nearest to the wish. */
export function recordsFor(
  items: Shape,
  scope: Scope,
  wish: Wish,
  fillRecord: (record: CollectionRecord) => Values,
): Values[] {
  let chosen: { collection: Collection; read: (record: CollectionRecord) => Values } | undefined
  let most = 0.3
  for (const collection of scope.collections.slice(0, mostTried)) {
    const read = collection.kind === 'pairs' ? twoFields(items) : fillRecord
    if (!read || !scope.effort.allows(sampled)) continue
    const sample = collection.records.slice(0, sampled).map(read)
    const covered = sample.reduce((sum, record) => sum + coverage(record), 0) / sample.length
    const near = nearness(collection, wish)
    const unlikely = collection.kind === 'pairs' ? near < enough : covered < 0.34 && near < 0.5
    if (covered === 0 || unlikely) continue
    const size = Math.min(Math.log2(collection.records.length + 1), 6) / 30
    const score = covered * 0.75 + near * 0.3 + size + bonus[collection.kind] - (collection.aside ? 0.35 : 0)
    if (score > most) {
      chosen = { collection, read }
      most = score
    }
  }
  return chosen ? chosen.collection.records.map(chosen.read).filter((record) => !isEmpty(record)) : []
}

const bonus: Readonly<Record<Collection['kind'], number>> = { data: 0.06, table: 0.05, cards: 0.02, list: 0, pairs: 0 }

function coverage(record: Values): number {
  const values = Object.values(record)
  return values.length === 0 ? 0 : values.filter((value) => !isEmpty(value)).length / values.length
}

/** Terms and what is said of them fill objects of two fields, whatever these are called. */
function twoFields({ properties }: Shape): ((record: CollectionRecord) => Values) | undefined {
  const [term, value, ...others] = Object.entries(properties)
  if (!term || !value || others.length > 0) return undefined
  return ({ fields }) => ({
    [term[0]]: coerce(String(fields?.['term'] ?? ''), term[1]) ?? null,
    [value[0]]: coerce(String(fields?.['value'] ?? ''), value[1]) ?? null,
  })
}

/** Plain values: a list of data, a list under such a heading, a column of a table, all that carry such a label. */
export function valuesFor(items: Shape, scope: Scope, wish: Wish): unknown[] {
  const read = (texts: readonly string[]): unknown[] => {
    return [...new Set(texts.map((text) => coerce(text, items)).filter((value) => value !== undefined))]
  }
  const [data] = ranked(scope.pairs.filter((pair) => Array.isArray(pair.data)), wish) // prettier-ignore
  if (data) {
    const values = read((data.pair.data as unknown[]).map((item) => (isRecord(item) ? nameOf(item) : String(item))))
    if (values.length > 0) return values
  }
  if (isAbout(wish, 'image')) return read(addresses(scope, (words) => words.some((word) => meaning(word) === 'image')))
  if (isAbout(wish, 'url')) return read(addresses(scope, (words) => words.join() !== 'image'))
  if (!scope.effort.allows(5 * scope.collections.length)) return []
  for (const collection of byNearness(scope.collections, wish)) {
    if (!scope.effort.allows(5 * collection.records.length)) break
    const values = read(textsOf(collection, wish))
    if (values.length > 0) return values
  }
  const labelled = read(labelledTexts(scope, wish))
  if (labelled.length > 0) return labelled
  const ofHeadings = wish.name.some((word) => /^(?:section|heading|chapter|title)$/.test(word))
  return ofHeadings ? read(scope.passages.map(({ heading }) => heading)) : []
}

function labelledTexts(scope: Scope, wish: Wish): string[] {
  const labelled = ranked(scope.pairs, wish)
  const [top] = labelled
  if (!top) return []
  const same = labelled.filter(
    ({ pair, score }) => score > top.score - 0.12 && pair.words.join() === top.pair.words.join(),
  )
  const texts = [...new Set(same.map(({ pair }) => pair.text))]
  // One label with several values: `Tags: a, b, c`.
  return texts.length > 1 ? texts : top.pair.text.split(/\s*[,;|•·\n]\s*/)
}

const isRecord = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const nameOf = (record: Readonly<Values>): string => String(record['name'] ?? record['text'] ?? record['title'] ?? '')

function byNearness(collections: readonly Collection[], wish: Wish): Collection[] {
  const near = (collection: Collection) => {
    const columns = collection.kind === 'table' ? Object.keys(collection.records[0]?.fields ?? {}) : []
    const ofColumns = columns.map((label) => nearness({ label, alias: '' }, wish))
    return Math.max(nearness(collection, wish), ...ofColumns) - (collection.aside ? 0.2 : 0)
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
    const column = columns[scores.indexOf(Math.max(...scores, 0))] ?? columns[0] ?? ''
    return records.map(({ fields }) => String(fields?.[column] ?? ''))
  }
  if (kind === 'pairs') return records.map(({ fields }) => `${String(fields?.['term'])}: ${String(fields?.['value'])}`)
  return records.map(({ element, fields }) => (element ? visibleText(element, 500) : nameOf(fields ?? {})))
}

const addresses = (scope: Scope, wanted: (words: readonly string[]) => boolean): string[] =>
  scope.pairs.flatMap(({ words, address }) => (address && wanted(words) ? [address] : []))
