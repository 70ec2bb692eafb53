/** Fills a shape from what a page offers; null for what is not found. */
import { byForm } from './by-form.ts'
import { coerce } from './coerce.ts'
import { isEmpty, recordsFor, valuesFor } from './fill-array.ts'
import { ranked, textFor, wantsAddress, type Wish } from './match.ts'
import { dataScope, recordScope, type Scope } from './scope.ts'
import type { Shape } from './shape.ts'
import { meaning, meaningOf, wordsOf } from './words.ts'

const deepest = 6
/** Labels tried for one value before it counts as not found. */
const mostTried = 40
const anything: Shape = { kind: 'any', about: '', properties: {} }

/** The value for a shape; `question` is what was asked for in words. */
export function fill(shape: Shape, scope: Scope, question: string): unknown {
  const context = meaningOf(`${question} ${shape.about}`)
  if (shape.kind === 'object') return fillObject(shape, scope, context, 0)
  const name = context.length > 0 ? context : ['value']
  return fillField(shape, scope, { name, about: [], context }, 0)
}

function fillObject(shape: Shape, scope: Scope, context: readonly string[], depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(shape.properties).map(([property, field]) => {
      const about = meaningOf(field.about)
      return [
        property,
        fillField(field, scope, { name: wordsOf(property), about, context: [...about, ...context] }, depth),
      ]
    }),
  )
}

function fillField(shape: Shape, scope: Scope, wish: Wish, depth: number): unknown {
  if (depth > deepest || !scope.effort.allows(1 + scope.pairs.length)) return null
  if (shape.kind === 'object') return fillInner(shape, scope, wish, depth)
  if (shape.kind !== 'array') return scalar(shape, scope, wish) ?? null
  const items = shape.items ?? anything
  if (items.kind !== 'object') return valuesFor(items, scope, wish)
  const context = [...wish.name, ...wish.context]
  return recordsFor(items, scope, wish, (record) => {
    return fillObject(items, recordScope(record, scope), context, depth + 1)
  })
}

/** An object inside: the entity of that name, else what the surroundings say under its own names and this one. */
function fillInner(shape: Shape, scope: Scope, wish: Wish, depth: number): unknown {
  const isRecord = (data: unknown) => typeof data === 'object' && data !== null && !Array.isArray(data)
  const [named] = ranked(scope.pairs.filter(({ data }) => isRecord(data)), wish) // prettier-ignore
  const context = [...wish.name, ...wish.context]
  if (named) {
    const fields = named.pair.data as Record<string, unknown>
    const inner = fillObject(shape, dataScope(fields, scope), context, depth + 1)
    if (!isEmpty(inner)) return inner
  }
  const around = Object.fromEntries(
    Object.entries(shape.properties).map(([property, field]) => {
      const words = wordsOf(property)
      const about = meaningOf(field.about)
      const value = fillField(field, scope, { name: [...wish.name, ...words], about, context }, depth + 1)
      return [property, isEmpty(value) ? fillField(field, scope, { name: words, about, context }, depth + 1) : value]
    }),
  )
  return isEmpty(around) ? null : around
}

/** One value: the best label whose value can be read as the shape wants it, else what has the right form. */
function scalar(shape: Shape, scope: Scope, wish: Wish): unknown {
  for (const { pair } of ranked(scope.pairs, wish).slice(0, mostTried)) {
    const value = coerce(textFor(pair, shape, wish), shape)
    if (value !== undefined) return value
  }
  return ofOwner(shape, scope, wish) ?? byForm(shape, scope, wish)
}

/** `author_name` and `author_url` are what a label `author` says and where it leads. */
function ofOwner(shape: Shape, scope: Scope, wish: Wish): unknown {
  const head = wish.name.length > 1 ? meaning(wish.name.at(-1)!) : ''
  if (head !== 'title' && head !== 'url' && head !== 'image') return undefined
  const owner = { ...wish, name: wish.name.slice(0, -1) }
  for (const { pair } of ranked(scope.pairs, owner).slice(0, mostTried)) {
    if (wantsAddress(shape, wish) && pair.address === undefined) continue
    const value = coerce(textFor(pair, shape, wish), shape)
    if (value !== undefined) return value
  }
  return undefined
}
