/** Combines what sources say about a product; where they disagree, the first one counts and all are reported. */
import type { Product, ProductSource } from '../../../../core/shapes/read/product.ts'
import { mayBe } from './currency.ts'
import { areSameName, canBeOrdered, type Facts, type Identifiers } from './facts.ts'
import type { VisibleFacts } from './visible.ts'

type Conflict = Product['conflicts'][number]
type Stated = Conflict['values'][number]

/** Combines facts in the order of their reliability, then visible ones. */
export function mergedProduct(
  stated: readonly Facts[],
  visible: VisibleFacts | undefined,
): { product: Product; warnings: string[] } {
  const all = [...stated, ...(visible ? [visible.facts] : [])]
  const first = <Key extends keyof Facts>(key: Key) => all.map((facts) => facts[key]).find((value) => isGiven(value))
  const identifiers = mergedIdentifiers(all)
  const conflicts = conflictsBetween(stated, visible)
  const facts = {
    name: first('name'),
    brand: first('brand'),
    description: first('description'),
    price: first('price'),
    currency: mergedCurrency(all, visible),
    availability: first('availability'),
    url: first('url'),
    identifiers,
  }
  const given = Object.fromEntries(Object.entries(facts).filter(([, value]) => isGiven(value))) as typeof facts
  const product = {
    ...given,
    images: first('images') ?? [],
    options: first('options') ?? [],
    variants: first('variants') ?? [],
    sources: [...new Set(all.filter(hasFacts).map(({ source }) => source))],
    conflicts,
  } as Product
  const fields = conflicts.map(({ field }) => field).join(', ')
  return {
    product,
    warnings:
      conflicts.length > 0 ? [`the sources of the product disagree about ${fields}: see product.conflicts`] : [],
  }
}

const isGiven = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0)

const hasFacts = (facts: Facts): boolean =>
  Object.entries(facts).some(([name, value]) => name !== 'source' && isGiven(value))

/** Returns the currency of the price: of its source, else of another one with the same amount or a fitting sign. */
function mergedCurrency(all: readonly Facts[], visible: VisibleFacts | undefined): string | undefined {
  const owner = all.find(({ price }) => price !== undefined)
  if (owner?.currency !== undefined || !owner) return owner?.currency
  const amount = owner.price?.amount
  return all.find(({ source, price, currency }) => {
    if (currency === undefined) return false
    if (owner.source === 'page') return price === undefined && mayBe(visible?.price?.sign ?? '', currency)
    return source !== owner.source && (price === undefined || price.amount === amount)
  })?.currency
}

function mergedIdentifiers(all: readonly Facts[]): Identifiers | undefined {
  const merged: Record<string, string> = {}
  for (const { identifiers = {} } of all)
    for (const [name, value] of Object.entries(identifiers)) if (value !== undefined) merged[name] ??= value
  return Object.keys(merged).length > 0 ? merged : undefined
}

/** Returns the values of a field by source; a value once. */
const statedBy = (all: readonly Facts[], read: (facts: Facts) => string | undefined): Stated[] =>
  all.flatMap((facts) => {
    const value = read(facts)
    return value === undefined ? [] : [{ source: facts.source, value }]
  })

/** Whether a value differs from the first one. */
const differ = (values: readonly Stated[], areSame: (one: string, other: string) => boolean): boolean =>
  values.some(({ value }) => !areSame(values[0]!.value, value))

function conflictsBetween(stated: readonly Facts[], visible: VisibleFacts | undefined): Conflict[] {
  const all = [...stated, ...(visible ? [visible.facts] : [])]
  const conflicts: Conflict[] = []
  const compare = (
    field: string,
    read: (facts: Facts) => string | undefined,
    areSame: (one: string, other: string) => boolean,
  ) => {
    const values = statedBy(all, read)
    if (values.length > 1 && differ(values, areSame)) conflicts.push({ field, values })
  }
  compare('name', ({ name }) => name, areSameName)
  compare('brand', ({ brand }) => brand, areSameName)
  conflicts.push(...priceConflicts(stated, visible))
  compare(
    'availability',
    ({ availability }) => (canBeOrdered(availability) === undefined ? undefined : availability),
    (one, other) => canBeOrdered(one) === canBeOrdered(other),
  )
  for (const name of ['sku', 'gtin', 'mpn', 'isbn', 'product_id'] as const) {
    const variants = stated.flatMap((facts) => facts.variants ?? []).map(({ identifiers }) => identifiers?.[name])
    const known = new Set(variants.map((value) => plainCode(value ?? '')))
    compare(
      `identifiers.${name}`,
      ({ identifiers }) => identifiers?.[name],
      (one, other) => plainCode(one) === plainCode(other) || known.has(plainCode(other)),
    )
  }
  return conflicts
}

/** GTINs of different lengths differ in leading zeros only. */
const plainCode = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\d]/gu, '')
    .replace(/^0+/, '')

interface Range {
  readonly lowest: number
  readonly highest: number
}

const rangeOf = ({ price }: Facts): Range | undefined =>
  price?.amount === undefined ? undefined : { lowest: price.amount, highest: price.highest ?? price.amount }

/** Amounts are rounded in one of the sources at most. */
const tolerance = 0.005

const overlap = (one: Range, other: Range): boolean =>
  one.lowest <= other.highest + tolerance && other.lowest <= one.highest + tolerance

/** Compares the first price of structured data with the others, and with those of the page. */
function priceConflicts(stated: readonly Facts[], visible: VisibleFacts | undefined): Conflict[] {
  const conflicts: Conflict[] = []
  const priced = stated.filter((facts) => rangeOf(facts))
  const [first] = priced
  if (!first) return []
  const range = rangeOf(first)!
  const shown = visible?.price
  const prices = visible?.prices ?? []
  const isShown =
    (range.lowest === 0 && visible?.isFree === true) ||
    prices.some(
      ({ amount, highest = amount, sign }) =>
        overlap(range, { lowest: amount, highest }) && (first.currency === undefined || mayBe(sign, first.currency)),
    )
  const differing = priced.some((facts) => !overlap(range, rangeOf(facts)!))
  const valueOf = ({ price, currency }: Facts) => [price!.text, currency].filter(Boolean).join(' ')
  const shownValue = shown ? [{ source: 'page' as ProductSource, value: shown.text }] : []
  if (differing || (shown && !isShown))
    conflicts.push({ field: 'price', values: [...statedBy(priced, valueOf), ...shownValue] })
  const coded = stated.filter(({ currency }) => currency !== undefined)
  const code = coded[0]?.currency
  const mismatch = code !== undefined && shown !== undefined && prices.every(({ sign }) => !mayBe(sign, code))
  if (mismatch || coded.some(({ currency }) => currency !== code)) {
    const values = [
      ...statedBy(coded, ({ currency }) => currency),
      ...(shown ? [{ source: 'page' as ProductSource, value: shown.currency ?? shown.sign }] : []),
    ]
    conflicts.push({ field: 'currency', values })
  }
  return conflicts
}
