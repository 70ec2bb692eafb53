/** Fills a shape with values of a page: objects from labels and collections, lists from lists; null for values not found. */
import { visibleText } from '../tree.ts'
import { valueByFormat } from './by-format.ts'
import { coerce } from './coerce.ts'
import type { Collection, CollectionRecord } from './collections.ts'
import {
  collectionSimilarity,
  firstValue,
  hasMeaning,
  minScore,
  rankPairs,
  wantsUrl,
  type FieldQuery,
} from './match.ts'
import type { Pair } from './pairs.ts'
import { recordScope, type Scope } from './scope.ts'
import { anything, isRecord, type Shape } from './shape.ts'
import { contentWords, similarity, synonymOf, wordsOf } from './words.ts'

const maxDepth = 6
/** Maximum number of labels tried for one value. */
const maxTried = 40

/** Returns the value for a shape; `question` is the query of the request. */
export function fill(shape: Shape, scope: Scope, question: string): unknown {
  const context = contentWords(`${question} ${shape.about}`)
  if (shape.kind === 'object') return fillObject(shape, scope, context, 0)
  const name = context.length > 0 ? context : ['value']
  return fillField(shape, scope, { name, about: [], context }, 0)
}

function fillObject(shape: Shape, scope: Scope, context: readonly string[], depth: number): Record<string, unknown> {
  return mapProperties(shape, (name, field) => {
    const about = contentWords(field.about)
    return fillField(field, scope, { name, about, context: [...about, ...context] }, depth)
  })
}

/** Maps the properties of a shape, given the words of each name. */
const mapProperties = (
  { properties }: Shape,
  map: (name: readonly string[], field: Shape) => unknown,
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, map(wordsOf(name), field)]))

function fillField(shape: Shape, scope: Scope, query: FieldQuery, depth: number): unknown {
  if (depth > maxDepth || !scope.budget.allows(1 + scope.pairs.length)) return null
  if (shape.kind === 'object') return fillInner(shape, scope, query, depth)
  if (shape.kind !== 'array') return scalar(shape, scope, query) ?? null
  const items = shape.items ?? anything
  if (items.kind !== 'object') return valuesFor(items, scope, query)
  const context = [...query.name, ...query.context]
  return recordsFor(items, scope, query, (record) => fillObject(items, recordScope(record, scope), context, depth + 1))
}

/** Fills a nested object from the entity of its name, else by its field names, with and without its name as prefix. */
function fillInner(shape: Shape, scope: Scope, query: FieldQuery, depth: number): unknown {
  const [named] = rankPairs(
    scope.pairs.filter(({ data }) => isRecord(data)),
    query,
  )
  const context = [...query.name, ...query.context]
  if (named) {
    const fields = named.pair.data as Record<string, unknown>
    const inner = fillObject(shape, recordScope({ fields }, scope), context, depth + 1)
    if (!isEmpty(inner)) return inner
  }
  const around = mapProperties(shape, (words, field) => {
    const about = contentWords(field.about)
    const value = fillField(field, scope, { name: [...query.name, ...words], about, context }, depth + 1)
    return isEmpty(value) ? fillField(field, scope, { name: words, about, context }, depth + 1) : value
  })
  return isEmpty(around) ? null : around
}

/** Returns the value of the best label that can be converted to the shape, else one with the right format. */
const scalar = (shape: Shape, scope: Scope, query: FieldQuery): unknown =>
  firstValue(bestPairs(scope, query), shape, query) ??
  ofOwner(shape, scope, query) ??
  valueByFormat(shape, scope, query)

const bestPairs = ({ pairs }: Scope, query: FieldQuery): Pair[] =>
  rankPairs(pairs, query)
    .slice(0, maxTried)
    .map(({ pair }) => pair)

/** Reads `author_name` and `author_url` from the text and the link of the label `author`. */
function ofOwner(shape: Shape, scope: Scope, query: FieldQuery): unknown {
  const head = query.name.length > 1 ? synonymOf(query.name.at(-1)!) : ''
  if (head !== 'title' && head !== 'url' && head !== 'image') return undefined
  const labels = bestPairs(scope, { ...query, name: query.name.slice(0, -1) })
  const usable = wantsUrl(shape, query) ? labels.filter(({ url }) => url !== undefined) : labels
  return firstValue(usable, shape, query)
}

type Values = Record<string, unknown>

const sampled = 6
/** Maximum number of collections tried for one field. */
const maxCollections = 80

/** Whether a value has no content. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.values(value).every(isEmpty)
}

/** Returns the records of the collection that fills the shape best and whose heading is most similar to the field. */
function recordsFor(
  items: Shape,
  scope: Scope,
  query: FieldQuery,
  fillRecord: (record: CollectionRecord) => Values,
): Values[] {
  let chosen: { collection: Collection; read: (record: CollectionRecord) => Values } | undefined
  let most = 0.3
  for (const collection of scope.collections.slice(0, maxCollections)) {
    const read = collection.kind === 'pairs' ? twoFields(items) : fillRecord
    if (!read || !scope.budget.allows(sampled)) continue
    const sample = collection.records.slice(0, sampled).map(read)
    const covered = sample.reduce((sum, record) => sum + coverage(record), 0) / sample.length
    const near = collectionSimilarity(collection, query)
    const unlikely = collection.kind === 'pairs' ? near < minScore : covered < 0.34 && near < 0.5
    if (covered === 0 || unlikely) continue
    const size = Math.min(Math.log2(collection.records.length + 1), 6) / 30
    const score = covered * 0.75 + near * 0.3 + size + bonus[collection.kind] - (collection.isBoilerplate ? 0.35 : 0)
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

/** Fills objects with two fields of any name from terms and their definitions. */
function twoFields({ properties }: Shape): ((record: CollectionRecord) => Values) | undefined {
  const [term, value, ...others] = Object.entries(properties)
  if (!term || !value || others.length > 0) return undefined
  return ({ fields }) => ({
    [term[0]]: coerce(String(fields?.['term'] ?? ''), term[1]) ?? null,
    [value[0]]: coerce(String(fields?.['value'] ?? ''), value[1]) ?? null,
  })
}

/** Returns plain values: a list in structured data or below a similar heading, a table column, or labelled values. */
function valuesFor(items: Shape, scope: Scope, query: FieldQuery): unknown[] {
  const read = (texts: readonly string[]): unknown[] => [
    ...new Set(texts.map((text) => coerce(text, items)).filter((value) => value !== undefined)),
  ]
  const [data] = rankPairs(
    scope.pairs.filter((pair) => Array.isArray(pair.data)),
    query,
  )
  if (data) {
    const values = read((data.pair.data as unknown[]).map((item) => (isRecord(item) ? nameOf(item) : String(item))))
    if (values.length > 0) return values
  }
  if (hasMeaning(query, 'image')) return read(urls(scope, (words) => words.some((word) => synonymOf(word) === 'image')))
  if (hasMeaning(query, 'url')) return read(urls(scope, (words) => words.join() !== 'image'))
  if (!scope.budget.allows(5 * scope.collections.length)) return []
  for (const collection of byNearness(scope.collections, query)) {
    if (!scope.budget.allows(5 * collection.records.length)) break
    const values = read(textsOf(collection, query))
    if (values.length > 0) return values
  }
  const labelled = read(labelledTexts(scope, query))
  if (labelled.length > 0) return labelled
  const ofHeadings = query.name.some((word) => /^(?:section|heading|chapter|title)$/.test(word))
  return ofHeadings ? read(scope.passages.map(({ heading }) => heading)) : []
}

function labelledTexts(scope: Scope, query: FieldQuery): string[] {
  const labelled = rankPairs(scope.pairs, query)
  const [top] = labelled
  if (!top) return []
  const same = labelled.filter(
    ({ pair, score }) => score > top.score - 0.12 && pair.words.join() === top.pair.words.join(),
  )
  const texts = [...new Set(same.map(({ pair }) => pair.text))]
  // One label with several values: `Tags: a, b, c`.
  return texts.length > 1 ? texts : top.pair.text.split(/\s*[,;|•·\n]\s*/)
}

const nameOf = (record: Readonly<Values>): string => String(record['name'] ?? record['text'] ?? record['title'] ?? '')

function byNearness(collections: readonly Collection[], query: FieldQuery): Collection[] {
  const near = (collection: Collection) => {
    const columns = collection.kind === 'table' ? Object.keys(collection.records[0]?.fields ?? {}) : []
    const ofColumns = columns.map((label) => collectionSimilarity({ label, alias: '' }, query))
    return Math.max(collectionSimilarity(collection, query), ...ofColumns) - (collection.isBoilerplate ? 0.2 : 0)
  }
  return collections
    .map((collection) => ({ collection, score: near(collection) }))
    .filter(({ score }) => score >= minScore)
    .sort((a, b) => b.score - a.score)
    .map(({ collection }) => collection)
}

function textsOf({ kind, records }: Collection, query: FieldQuery): string[] {
  if (kind === 'table') {
    const columns = Object.keys(records[0]?.fields ?? {})
    const scores = columns.map((name) => similarity(query.name, wordsOf(name)))
    const column = columns[scores.indexOf(Math.max(...scores, 0))] ?? columns[0] ?? ''
    return records.map(({ fields }) => String(fields?.[column] ?? ''))
  }
  if (kind === 'pairs') return records.map(({ fields }) => `${String(fields?.['term'])}: ${String(fields?.['value'])}`)
  return records.map(({ element, fields }) => (element ? visibleText(element, 500) : nameOf(fields ?? {})))
}

const urls = (scope: Scope, matches: (words: readonly string[]) => boolean): string[] =>
  scope.pairs.flatMap(({ words, url }) => (url && matches(words) ? [url] : []))
