/** Finds values without a label, by their format or their position. */
import { wordSet } from '../tree.ts'
import { coerce, emailIn } from './coerce.ts'
import { firstValue, type FieldQuery } from './match.ts'
import type { Scope } from './scope.ts'
import type { Shape } from './shape.ts'
import { coreWords, synonymOf } from './words.ts'

/** A space groups three digits; otherwise it separates the amount from another number before it. */
const amount = String.raw`(?:\d{1,3}(?:[.,']\d{2,3}|\s\d{3}(?!\d))+|\d+)(?:[.,]\d{1,3})?(?:[.,]-+)?`
const money = new RegExp(
  String.raw`(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF)\b)\s?${amount}|(?<![\d.,])${amount}\s?(?:[$€£¥₹](?!\s?\d)|(?:USD|EUR|GBP|CHF|kr)\b)`,
)
const currencies: Readonly<Record<string, string>> = { $: 'USD', '€': 'EUR', '£': 'GBP', '¥': 'JPY', '₹': 'INR' }
const phone = /(?:\+|\b0|\(\d)[\d ()/.-]{6,18}\d/
const vague = wordSet('value result answer data info information detail fact')
const maxTextLength = 20_000

/** Returns the value whose format fits the field; undefined when there is none. */
export function valueByFormat(shape: Shape, scope: Scope, query: FieldQuery): unknown {
  const read = (text: string | undefined) => (text === undefined ? undefined : coerce(text, shape))
  const first = (pattern: RegExp) => {
    for (const { text } of scope.passages) {
      const found = pattern.exec(text)?.[0]
      if (found !== undefined) return found
    }
    return undefined
  }
  switch (kindOf(query)) {
    case 'email':
      return read(emailIn(scope.passages.find(({ text }) => text.includes('@'))?.text ?? ''))
    case 'phone':
      return read(first(phone))
    case 'price':
      return read(first(money))
    case 'currency': {
      const sign = /[$€£¥₹]|\b(?:USD|EUR|GBP|CHF)\b/.exec(first(money) ?? '')?.[0]
      return read(sign && (currencies[sign] ?? sign))
    }
    case 'image':
      return read(scope.pairs.find(({ label, url }) => label === 'image' && url)?.url)
    case 'url':
      return read(scope.pairs.find(({ label, url }) => label !== 'image' && url)?.url)
    case 'title':
      return read(titleOf(scope))
    case 'description':
      return read(scope.passages.find(({ text }) => text.length >= 60)?.text)
    case 'text':
    case 'review':
      return read(textOf(scope))
    default:
      return byContext(shape, scope, query)
  }
}

/** Returns the last word of a name whose other words only repeat the context: `url` of `product_url` among products. */
function kindOf({ name, context }: FieldQuery): string {
  const around = new Set(context.map(synonymOf))
  const [head, ...others] = coreWords(name).toReversed()
  return others.every((word) => around.has(word)) ? (head ?? '') : ''
}

/** Returns the name of a record without a heading: the text of its link, or its first line. */
function titleOf(scope: Scope): string | undefined {
  const link = scope.pairs.find((pair) => pair.url !== undefined && pair.label === pair.text)
  const [first] = scope.passages
  return link?.text ?? (first && first.text.length < 200 ? first.text : undefined)
}

/** Returns the running text without short lines. */
function textOf({ passages }: Scope): string | undefined {
  const long = passages.filter(({ text }) => text.length >= 20).map(({ text }) => text)
  return long.length === 0 ? undefined : long.join('\n\n').slice(0, maxTextLength)
}

/**
 * Searches labels of words of the description only, the longest labels first; for a vague name, of words of the question.
 */
function byContext(shape: Shape, scope: Scope, query: FieldQuery): unknown {
  const { name, about, context } = query
  const isVague = name.every((word) => vague.has(word))
  const allowed = new Set((isVague ? context : about.length > 0 ? about : [...name, ...context]).map(synonymOf))
  const required = new Set((about.length > 0 || isVague ? [] : name).map(synonymOf))
  const labels = scope.pairs
    .filter(({ words }) => words.length > 0 && words.every((word) => allowed.has(synonymOf(word))))
    .filter(({ words }) => required.size === 0 || words.some((word) => required.has(synonymOf(word))))
    .sort((a, b) => b.words.length + b.rank - (a.words.length + a.rank))
    .slice(0, 20)
  return firstValue(labels, shape, query)
}
