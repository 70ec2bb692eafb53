/** The format product: what structured data and visible text say about the product of a page. */
import type { Product } from '../../../../core/shapes/read/product.ts'
import { attribute, findElement, type Tree, visibleText } from '../../../extract/tree.ts'
import { resolveUrl } from '../../../extract/urls.ts'
import { areSameName, type Facts, plainText } from './facts.ts'
import { mergedProduct } from './merge.ts'
import { metaOf, openGraphFacts } from './open-graph.ts'
import { isGroup, isProduct, ThingReader } from './structured.ts'
import { type Syntax, type Thing, thingsOf } from './things.ts'
import { headlineOf, titlesOf, visibleFacts } from './visible.ts'

export interface ProductResult {
  readonly value: Product | null
  readonly warnings: readonly string[]
}

const nothing = (why: string, warnings: readonly string[] = []): ProductResult => ({
  value: null,
  warnings: [`product is null: ${why}`, ...warnings],
})

/** Reads the product of a page. `isPage` is false for documents other than HTML, which have none. */
export function productOf(tree: Tree, { isPage, url }: { isPage: boolean; url: string }): ProductResult {
  if (!isPage) return nothing('the content is not a web page')
  const { root, baseUrl } = tree
  const things = thingsOf(root)
  const reader = new ThingReader(things, baseUrl)
  const meta = metaOf(root)
  const candidates = candidatesIn(things.top, reader)
  const nameOf = (thing: Thing) => reader.text(thing, 'name') ?? ''
  const names = candidates.map(nameOf).filter(Boolean)
  const titles = titlesOf(root, meta)
  const headline = headlineOf(root, [...names, ...titles])
  const own = ownThings(candidates, {
    nameOf,
    urlOf: (thing) => reader.url(thing, 'url', 'mainEntityOfPage'),
    urls: [url, canonicalOf(tree)].filter((one) => one !== undefined),
    headline: headline && visibleText(headline, 300),
    titles,
  })
  const read = bySyntax(own).map(([first, ...others]) => reader.facts(first!, others))
  const openGraph = openGraphFacts(meta, baseUrl)
  const stated: Facts[] = [...read.map(({ facts }) => facts), ...(openGraph ? [openGraph] : [])]
  const visible = headline && visibleFacts(tree, headline)
  if (stated.length === 0 && !(visible?.canBuy && visible.price)) {
    const all = new Set(names.map(plainText))
    return nothing(
      all.size > 1
        ? `the page describes ${all.size} products, and is not about one of them`
        : 'the page describes none',
      things.warnings,
    )
  }
  const merged = mergedProduct(stated, visible)
  return {
    value: merged.product,
    warnings: [...merged.warnings, ...read.flatMap(({ warnings }) => warnings), ...things.warnings],
  }
}

/** Returns the products that no other one lists as its variant. */
function candidatesIn(top: readonly Thing[], reader: ThingReader): Thing[] {
  const found = top.flatMap((thing) =>
    isProduct(thing) ? [thing] : reader.thingsIn(thing, 'mainEntity').filter(isProduct),
  )
  const variants = new Set(found.filter(isGroup).flatMap((group) => reader.thingsIn(group, 'hasVariant')))
  return [...new Set(found)].filter((thing) => thing.fields.size > 0 && (isGroup(thing) || !variants.has(thing)))
}

const canonicalOf = ({ root, baseUrl }: Tree): string | undefined => {
  const link = findElement(
    root,
    (element) => element.tag === 'link' && /\bcanonical\b/i.test(attribute(element, 'rel')),
  )
  return link && resolveUrl(attribute(link, 'href'), baseUrl)
}

interface OwnNames {
  readonly nameOf: (thing: Thing) => string
  readonly urlOf: (thing: Thing) => string | undefined
  readonly urls: readonly string[]
  readonly headline: string | undefined
  readonly titles: readonly string[]
}

/** Returns the things that are the product of the page, not one that it lists; several if they are variants of it. */
function ownThings(candidates: readonly Thing[], { nameOf, urlOf, urls, headline, titles }: OwnNames): Thing[] {
  const pages = new Set(urls.map(pageOf))
  const rank = (thing: Thing): number => {
    const name = nameOf(thing)
    if (headline !== undefined && plainText(headline) === plainText(name)) return 4
    if (headline !== undefined && areSameName(headline, name)) return 3
    if (titles.some((title) => areSameName(title, name))) return 2
    const url = urlOf(thing)
    return url !== undefined && pages.has(pageOf(url)) ? 1 : 0
  }
  const ranked = candidates.map((thing) => ({ thing, rank: rank(thing) }))
  const best = Math.max(...ranked.map(({ rank: own }) => own))
  const found = ranked.filter((one) => one.rank === best).map(({ thing }) => thing)
  // A page may name its only product differently from its headline.
  if (best === 0 && new Set(found.map((thing) => plainText(nameOf(thing)))).size > 1) return []
  return found
}

/** Returns a URL without what does not choose a page. */
const pageOf = (url: string): string =>
  url
    .replace(/[?#].*$/s, '')
    .replace(/\/$/, '')
    .replace(/^https?:\/\/(?:www\.)?/, '')

/** Groups things by their syntax, each with its group of products first. */
function bySyntax(things: readonly Thing[]): Thing[][] {
  const groups = new Map<Syntax, Thing[]>()
  for (const thing of things) {
    const group = groups.get(thing.syntax)
    if (!group) groups.set(thing.syntax, [thing])
    else if (isGroup(thing) && !isGroup(group[0]!)) group.unshift(thing)
    else group.push(thing)
  }
  return [...groups.values()]
}
