/** Fills a shape with values of a page; null for values that are not found. */
import { valueByFormat } from './by-format.ts'
import { isEmpty, recordsFor, valuesFor } from './fill-array.ts'
import { firstValue, rankPairs, wantsUrl, type FieldQuery } from './match.ts'
import type { Pair } from './pairs.ts'
import { recordScope, type Scope } from './scope.ts'
import { anything, isRecord, type Shape } from './shape.ts'
import { synonymOf, contentWords, wordsOf } from './words.ts'

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
  const [named] = rankPairs(scope.pairs.filter(({ data }) => isRecord(data)), query) // prettier-ignore
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
