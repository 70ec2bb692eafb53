/** Facts about a product in JSON-LD, microdata and RDFa, in the vocabulary of schema.org. */
import { decodeHTML } from 'entities'
import type { ProductVariant } from '../../../../core/shapes/read/product.ts'
import { collapse } from '../../../extract/tree.ts'
import { resolveUrl } from '../../../extract/urls.ts'
import { present } from '../../documents/document.ts'
import {
  availabilityOf,
  combinedAvailability,
  combinedPrice,
  type Facts,
  identifiersOf,
  type StatedPrice,
} from './facts.ts'
import type { Thing, Things, Value } from './things.ts'

/** Maximum number of variants and images that are listed. */
const maxVariants = 1000
const maxImages = 200

const productTypes =
  /^(?:product|productgroup|productmodel|individualproduct|someproducts|vehicle|car|motorcycle|busorcoach|book)$/

export const isProduct = ({ types }: Thing): boolean => types.some((type) => productTypes.test(type))
export const isGroup = ({ types }: Thing): boolean => types.includes('productgroup')

/** Reads things of a page. */
export class ThingReader {
  readonly #things: Things
  readonly #baseUrl: string

  constructor(things: Things, baseUrl: string) {
    this.#things = things
    this.#baseUrl = baseUrl
  }

  all(thing: Thing, ...names: string[]): Value[] {
    return names.flatMap((name) => (thing.fields.get(name) ?? []).map((value) => this.#things.resolve(value)!))
  }

  thingsIn(thing: Thing, ...names: string[]): Thing[] {
    return this.all(thing, ...names).filter((value) => typeof value !== 'string')
  }

  /** Returns the first text of a field, also the name of a thing such as a brand. */
  text(thing: Thing, ...names: string[]): string | undefined {
    for (const value of this.all(thing, ...names)) {
      const text = typeof value === 'string' ? value : this.all(value, 'name').find((name) => typeof name === 'string')
      const line = text === undefined ? '' : collapse(decodeHTML(text)).trim()
      if (line !== '') return line
    }
    return undefined
  }

  url(thing: Thing, ...names: string[]): string | undefined {
    const text = this.text(thing, ...names)
    return text === undefined ? undefined : this.#webUrl(text)
  }

  #webUrl(address: string): string | undefined {
    const url = resolveUrl(address, this.#baseUrl)
    return url !== undefined && /^https?:/.test(url) ? url : undefined
  }

  images(thing: Thing): string[] {
    const urls = this.all(thing, 'image', 'images').flatMap((image) => {
      const address = typeof image === 'string' ? image : this.text(image, 'contentUrl', 'url')
      return (address !== undefined && /[/.]/.test(address) ? this.#webUrl(address.trim()) : undefined) ?? []
    })
    return [...new Set(urls)].slice(0, maxImages)
  }

  identifiers(...things: Thing[]) {
    const find = (...names: string[]) => things.map((thing) => this.text(thing, ...names)).find(Boolean)
    return identifiersOf({
      sku: find('sku'),
      gtin: find('gtin', 'gtin13', 'gtin12', 'gtin14', 'gtin8', 'ean', 'upc'),
      mpn: find('mpn'),
      isbn: find('isbn'),
      product_id: find('productID'),
    })
  }

  /** Returns the offers for a thing, those of an `AggregateOffer` included. */
  offers(thing: Thing): Thing[] {
    return this.thingsIn(thing, 'offers').flatMap((offer) => {
      const inner = this.thingsIn(offer, 'offers')
      return inner.length > 0 ? inner : [offer]
    })
  }

  /** Returns the prices of offers; those crossed out and those per unit are not prices of the product. */
  prices(offer: Thing): StatedPrice[] {
    const currency = this.text(offer, 'priceCurrency')
    const bounds = this.all(offer, 'lowPrice', 'highPrice')
    const stated = [...this.all(offer, 'price'), ...bounds].filter((price) => typeof price === 'string')
    if (stated.length > 0) return stated.map((price) => ({ price, currency }))
    return this.thingsIn(offer, 'priceSpecification').flatMap((specification) => {
      const type = this.text(specification, 'priceType') ?? ''
      const isOther = /list|strikethrough|msrp|srp|minimumadvertised|invoice/i.test(type)
      if (isOther || specification.fields.has('referenceQuantity')) return []
      const own = this.text(specification, 'priceCurrency') ?? currency
      return this.all(specification, 'price', 'minPrice')
        .filter((price) => typeof price === 'string')
        .map((price) => ({ price, currency: own }))
    })
  }

  /** Returns the facts that products, variants and offers share. */
  #common(thing: Thing, offers: readonly Thing[]) {
    const { others, ...priced } = combinedPrice(offers.flatMap((offer) => this.prices(offer)))
    const states = offers.map((offer) => availabilityOf(this.text(offer, 'availability') ?? ''))
    const single = offers.length === 1 ? offers : []
    const common = present({
      name: this.text(thing, 'name'),
      url: this.url(thing, 'url') ?? single.map((offer) => this.url(offer, 'url')).find(Boolean),
      availability: combinedAvailability(states),
      identifiers: this.identifiers(thing, ...single),
    })
    return { ...common, ...priced, others }
  }

  #variant(thing: Thing, offers: readonly Thing[]): ProductVariant {
    const { others: _, ...common } = this.#common(thing, offers)
    const images = this.images(thing)
    const options = Object.fromEntries(
      ['size', 'color', 'colour', 'material', 'pattern'].flatMap((name) => {
        const value = this.text(thing, name)
        return value === undefined ? [] : [[name, value]]
      }),
    )
    return {
      ...common,
      ...(images.length > 0 && { images }),
      ...(Object.keys(options).length > 0 && { options }),
    }
  }

  /** Returns the variants of a thing or its group that the page describes. */
  #members(thing: Thing, others: readonly Thing[]): Thing[] {
    const groups = [thing, ...this.thingsIn(thing, 'isVariantOf')]
    const listed = groups.flatMap((group) => this.thingsIn(group, 'hasVariant'))
    return [...new Set([...listed, ...others])].filter(({ fields }) => fields.size > 0).slice(0, maxVariants)
  }

  /** Returns the variants: those of a group, or offers that name different articles. */
  #variants(thing: Thing, offers: readonly Thing[], others: readonly Thing[]): ProductVariant[] {
    const members = this.#members(thing, others)
    if (members.length > 0) return members.map((member) => this.#variant(member, this.offers(member)))
    const articles = offers.slice(0, maxVariants).map((offer) => {
      const [item] = this.thingsIn(offer, 'itemOffered')
      return {
        offer,
        item,
        key: this.text(offer, 'sku', 'gtin', 'gtin13', 'mpn', 'name') ?? (item && this.text(item, 'sku', 'name')),
      }
    })
    const keys = new Set(articles.map(({ key }) => key))
    if (articles.length < 2 || keys.size < articles.length || keys.has(undefined)) return []
    return articles.map(({ offer, item }) => {
      const variant = this.#variant(item ?? offer, [offer])
      const identifiers = this.identifiers(offer, ...(item ? [item] : []))
      return { ...variant, ...(identifiers && { identifiers }) }
    })
  }

  /** Returns the facts about a product; `others` are products that are its variants. */
  facts(thing: Thing, others: readonly Thing[] = []): { facts: Facts; warnings: string[] } {
    const members = this.#members(thing, others)
    const own = this.offers(thing)
    const offers =
      own.length > 0 && others.length === 0 ? own : [...own, ...members.flatMap((member) => this.offers(member))]
    const { others: currencies, ...common } = this.#common(thing, offers)
    const all = [common.currency, ...currencies].join(', ')
    return {
      facts: {
        source: thing.syntax,
        ...common,
        ...present({ brand: this.text(thing, 'brand'), description: this.text(thing, 'description') }),
        images: this.images(thing),
        variants: this.#variants(thing, own, others),
      },
      warnings:
        currencies.length > 0 ? [`product has offers in several currencies: ${all}; the price is in the first`] : [],
    }
  }
}
