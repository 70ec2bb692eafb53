/** The facts about a product in one source. */
import type { Product, ProductPrice, ProductSource, ProductVariant } from '../../../../core/shapes/read/product.ts'
import { collapse } from '../../../extract/tree.ts'
import { currencyOf } from './currency.ts'
import { priceOf } from './money.ts'
import { replaceRuns } from '../../../../core/text/pieces.ts'

export interface Facts extends Omit<Partial<Product>, 'sources' | 'conflicts'> {
  readonly source: ProductSource
}

/** A price and its currency, as structured data give them. */
export interface StatedPrice {
  readonly price: string
  readonly currency?: string | undefined
}

/** Combines prices of one currency into the lowest one; `others` are further currencies. */
export function combinedPrice(stated: readonly StatedPrice[]): {
  price?: ProductPrice
  currency?: string
  others: string[]
} {
  const read = stated.flatMap(({ price: text, currency: sign }) => {
    const code = sign === undefined ? undefined : currencyOf(sign)
    const found = priceOf(text, code)
    return found ? [{ ...found, currency: code ?? found.currency }] : []
  })
  const [first] = read
  if (!first) {
    const text = stated.map(({ price }) => price.trim()).find(Boolean)
    return { ...(text !== undefined && { price: { text } }), others: [] }
  }
  const own = read.filter(({ currency }) => currency === first.currency)
  const lowest = own.reduce((one, other) => (other.amount < one.amount ? other : one))
  const highest = Math.max(...own.map(({ amount, highest: end = amount }) => end))
  const isFrom = lowest.from === true || highest > lowest.amount
  const price = {
    text: lowest.text,
    amount: lowest.amount,
    ...(isFrom && { from: true }),
    ...(highest > lowest.amount && { highest }),
  }
  const others = new Set(read.flatMap(({ currency }) => (currency !== first.currency && currency ? [currency] : [])))
  return { price, ...(first.currency && { currency: first.currency }), others: [...others] }
}

const states: readonly (readonly [RegExp, string])[] = [
  [/^(?:instock|instorestock|available|availableforsale|availablefororder|yes|true|1)$/, 'in_stock'],
  [/^(?:outofstock|oos|notavailable|unavailable|outstock|no|false|0)$/, 'out_of_stock'],
  [/^soldout$/, 'sold_out'],
  [/^(?:limitedavailability|limitedstock|lowstock)$/, 'limited_availability'],
  [/^(?:preorder|presale)$/, 'pre_order'],
  [/^(?:backorder|backordered)$/, 'back_order'],
  [/^discontinued$/, 'discontinued'],
  [/^onlineonly$/, 'online_only'],
  [/^instoreonly$/, 'in_store_only'],
  [/^madetoorder$/, 'made_to_order'],
  [/^reserved$/, 'reserved'],
]

/** Returns the availability that a URL or word of schema.org or Open Graph stands for; an unknown word as written. */
export function availabilityOf(text: string): string | undefined {
  const word = collapse(text).trim().slice(0, 100)
  if (word === '') return undefined
  const plain = word
    .replace(/^.*[/#]|^\w+:/, '')
    .toLowerCase()
    .replaceAll(/[\s_-]/g, '')
  return states.find(([pattern]) => pattern.test(plain))?.[1] ?? word
}

/** Whether a product with this availability can be ordered; undefined for words that do not say so. */
export const canBeOrdered = (availability: string | undefined): boolean | undefined =>
  availability === undefined
    ? undefined
    : /^(?:in_stock|limited_availability|online_only|pre_order|back_order|made_to_order)$/.test(availability)
      ? true
      : /^(?:out_of_stock|sold_out|discontinued)$/.test(availability)
        ? false
        : undefined

/** Returns the common availability of offers: one that can be ordered makes the product available. */
export const combinedAvailability = (all: readonly (string | undefined)[]): string | undefined =>
  all.find((one) => canBeOrdered(one) === true) ?? all.find((one) => one !== undefined)

export type Identifiers = NonNullable<ProductVariant['identifiers']>

/** Returns identifiers without those that are absent; undefined if there are none. */
export function identifiersOf(found: { readonly [Name in keyof Identifiers]: string | undefined }):
  | Identifiers
  | undefined {
  const known = Object.entries(found).filter(([, value]) => value)
  return known.length > 0 ? (Object.fromEntries(known) as Identifiers) : undefined
}

/** Text in lower case without punctuation, for comparisons. */
export const plainText = (text: string): string =>
  replaceRuns(text.normalize('NFKC').toLowerCase(), /[^\p{L}\p{N}]+/gu, ' ').trim()

/** Minimum share of the words of the shorter name that are in the longer one. */
const minShared = 2 / 3

/** Whether two names are of the same product: one contains the other, or most of its words. */
export function areSameName(one: string, other: string): boolean {
  const [short, long] = [plainText(one), plainText(other)].toSorted((a, b) => a.length - b.length) as [string, string]
  if (short === '' || ` ${long} `.includes(` ${short} `)) return short !== ''
  const known = new Set(long.split(' '))
  const words = short.split(' ')
  return words.length > 1 && words.filter((word) => known.has(word)).length >= minShared * words.length
}
