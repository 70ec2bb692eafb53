/**
 * Keeps the prices of products: those beside the name of a page's product, and those in grids of products, with the names
 * of the products. The model classifies every line alone, and the labels that it learnt from include prices on few pages.
 */
import type { Block, Box } from './blocks.ts'
import { copiedFrom } from './copies.ts'
import { bit } from './features/context.ts'
import { isHeading } from './features/levels.ts'
import type { Survey } from './features/survey.ts'
import { namesOf } from './features/text-measure.ts'
import { shapeOf } from './item-groups.ts'

const price =
  /(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|CAD|AUD|SEK|NOK|DKK|PLN|INR|Rs\.?))\s?\d|\d\s?(?:[€£]|zł|Kč|kr\b|USD\b|EUR\b|GBP\b|CHF\b)/
/** Amounts that are no price of a product: thresholds of free shipping, rebates and credits. */
const otherAmount =
  /\b(?:shipping|delivery|orders?|spend|financing|installments|as low as|over|above|under|off your|rewards?|points|gift|versand|livraison)\b/i
const stock = /\b(?:in stock|out of stock|sold out|en stock|auf lager|ausverkauft|rupture de stock|(?:un)?available)\b/i
const maxPriceWords = 16
const maxStockWords = 8

/** Contexts without products of the page. */
const outside = bit('nav') | bit('footer') | bit('aside') | bit('dialog') | bit('noscript')
/** Headings of products that other pages show. */
const related =
  /\b(?:also|related|similar|recommend(?:ed|ations)|recently|you (?:may|might)|together|complete the|inspired by|sponsored)\b/i
const relatedNames = /related|recommend|similar|up-?sell|cross-?sell|also|recent|sponsor|drawer|mini-?cart|mega-?menu/i
/** Maximum number of boxes between a product and the box whose name tells that it is not content. */
const maxNameDistance = 4

/** Minimum number of products in a grid: two may be all of a collection, but are offered together on other pages. */
const minProducts = { list: 2, other: 3 }
/** Minimum number of products in the grid that a page is about, and its share of the words outside of navigation. */
const mainGrid = { products: 6, share: 0.22 }
/**
 * Maximum number of blocks from the name of a product to its price below and above, and to the prices of its variants,
 * which may be a grid; in lists, only the price of a page that is taken for one.
 */
const productLimits = { below: 60, above: 20, variants: 8 }
const listLimits = { below: 8, above: 0, variants: 0 }
/** Maximum number of blocks from the title to a price that tells that the page is about a product. */
const maxBlocksToOwnPrice = 2
/** Maximum number of blocks from the first price to the others of a product. */
const maxBlocksOfPrices = 5
/** Maximum number of blocks between a price and the name that is kept with it. */
const maxBlocksToName = 12

/** Returns `kept` with the prices of the products that a page shows, in document order. */
export function withOffers(survey: Survey, type: string, kept: readonly Block[]): Block[] {
  const { blocks } = survey.segments
  const prices = blocks.filter((block) => isPrice(block))
  if (prices.length === 0) return [...kept]
  const chosen = new Uint8Array(blocks.length)
  for (const { index } of kept) chosen[index] = 1
  const shown = gridsOf(prices, minProducts.other)
  const isList = type === 'collection' || type === 'listing' || shown.some((items) => isMain(survey, items))
  const grids = isList ? gridsOf(prices, minProducts.list) : shown
  const inGrid = new Set(grids.flat())
  if (isList || type === 'product' || sells(survey)) {
    const limits = isList ? listLimits : productLimits
    for (const { index } of ownOffer(survey, prices, inGrid, limits)) chosen[index] = 1
  }
  for (const items of grids)
    if ((isList || isNamed(blocks, items, chosen)) && isContent(survey, items)) keepItems(survey, items, chosen)
  return blocks.filter(({ index }) => chosen[index] === 1)
}

const isPrice = ({ text, measure, box }: Block): boolean =>
  measure.digits > 0 &&
  measure.words <= maxPriceWords &&
  (box.context & outside) === 0 &&
  price.test(text) &&
  !otherAmount.test(text)

const order =
  /^(?:add to (?:cart|bag|basket)|buy now|in den (?:warenkorb|einkaufswagen)|ajouter au panier|añadir al carrito|aggiungi al carrello|in winkelwagen)$/i

/**
 * Whether the product that is named in the title of the page has a price right below it or beside its stock, or can be
 * ordered there.
 */
const sells = ({ segments: { blocks }, title }: Survey): boolean =>
  title >= 0 &&
  (blocks.slice(title + 1, title + 1 + maxBlocksToOwnPrice).some(isPrice) ||
    blocks
      .slice(title, title + productLimits.below)
      .some(
        (block, at, below) => order.test(block.text) || (isStock(block) && below[at + 1] && isPrice(below[at + 1]!)),
      ))

const isStock = ({ text, measure }: Block): boolean => measure.words <= maxStockWords && stock.test(text)

/** Returns the prices of the product whose name is the title of the page, its name, and whether it is in stock. */
function ownOffer(
  { segments: { blocks }, title }: Survey,
  prices: readonly Block[],
  inGrid: ReadonlySet<Box>,
  { below, above, variants }: typeof productLimits,
): Block[] {
  if (title < 0) return []
  const distance = ({ index }: Block) => Math.abs(index - title)
  const isVariant = ({ box }: Block) => isWithin(box, inGrid)
  const isNear = (block: Block) =>
    block.index < title
      ? distance(block) <= above && !isVariant(block)
      : distance(block) <= (isVariant(block) ? variants : below)
  const [nearest] = prices.filter(isNear).toSorted((one, other) => distance(one) - distance(other))
  const isBesideName = nearest && nearest.index > title && distance(nearest) <= maxBlocksToName
  const ordered = isBesideName ? undefined : orderedPrice(blocks, prices)
  const first = ordered?.price ?? nearest
  if (!first) return []
  const last = ordered?.button.index ?? first.index + maxBlocksOfPrices
  return [
    ...(distance(first) <= maxBlocksToName ? [blocks[title]!] : []),
    ...prices.filter(
      (block) => block.index >= first.index && block.index <= last && isVariant(block) === isVariant(first),
    ),
    ...blocks
      .slice(ordered ? first.index : Math.min(title, first.index), last + 1)
      .filter(isStock)
      .slice(0, 1),
  ]
}

/** Maximum number of blocks from the price of a product to its order button, such as a number of pieces. */
const maxBlocksToOrder = 7

/** Returns the only order button of the page, which may be far from the name of the product, and the price above it. */
function orderedPrice(
  blocks: readonly Block[],
  prices: readonly Block[],
): { readonly price: Block; readonly button: Block } | undefined {
  const [button, another] = blocks.filter(({ text }) => order.test(text))
  if (!button || another) return undefined
  const price = prices.findLast(({ index }) => index < button.index && index >= button.index - maxBlocksToOrder)
  return price && { price, button }
}

const isWithin = (box: Box, boxes: ReadonlySet<Box>): boolean =>
  boxes.has(box) || (box.parent !== undefined && isWithin(box.parent, boxes))

/** Returns the grids of products: boxes side by side, each with its own price. */
function gridsOf(prices: readonly Block[], least: number): Box[][] {
  const byPath = new Map<string, Block[]>()
  for (const block of prices) {
    const path = pathOf(block.box)
    const alike = byPath.get(path)
    if (alike) alike.push(block)
    else byPath.set(path, [block])
  }
  const grids = new Map<Box, Set<Box>>()
  for (const alike of byPath.values())
    if (alike.length >= least)
      for (const [at, { box }] of alike.entries()) {
        const item = itemOf(box, alike[at - 1], alike[at + 1])
        if (!item?.parent) continue
        const items = grids.get(item.parent)
        if (items) items.add(item)
        else grids.set(item.parent, new Set([item]))
      }
  return [...grids].flatMap(([grid, found]) => {
    const [first] = found
    const items = grid.boxes.filter((box) => found.has(box) || box.element.tag === first!.element.tag)
    return found.size >= least ? [items] : []
  })
}

const pathOf = ({ element, parent }: Box): string => (parent ? `${pathOf(parent)} ${shapeOf(element)}` : '')

/** Returns the largest box around a price that does not contain the one before or after it. */
function itemOf(box: Box, before: Block | undefined, after: Block | undefined): Box | undefined {
  let item: Box | undefined
  for (let outer: Box | undefined = box; outer; outer = outer.parent) {
    if ((before && before.index >= outer.first) || (after && after.index < outer.end)) break
    item = outer
  }
  return item
}

/** Whether a grid shows products of the page with their names, and not related ones or the steps of a filter. */
function isContent({ headings, segments: { blocks } }: Survey, items: readonly Box[]): boolean {
  const [first] = items
  const heading = blocks[headings[first!.first]!]
  if (heading && related.test(heading.text)) return false
  // The classes of the body are settings of all parts of the page.
  for (let box = first, distance = 0; box && box.element.tag !== 'body' && distance <= maxNameDistance; distance++) {
    if (relatedNames.test(namesOf(box.element))) return false
    box = box.parent
  }
  return items.filter(({ first, end }) => nameOf(blocks.slice(first, end))).length >= minProducts.list
}

/**
 * Whether a grid of products is what the page is about, whatever the model takes the page for: it is a large part of its
 * text, or has all of its order buttons.
 */
function isMain(survey: Survey, items: readonly Box[]): boolean {
  const { blocks } = survey.segments
  const { words } = survey.sums
  const priced = items.filter(({ first, end }) => blocks.slice(first, end).some(isPrice))
  if (priced.length < mainGrid.products || !isContent(survey, items)) return false
  const inside = items.reduce((sum, { first, end }) => sum + words[end]! - words[first]!, 0)
  const all = blocks.reduce((sum, { box, measure }) => sum + ((box.context & outside) === 0 ? measure.words : 0), 0)
  const orders = blocks.filter(({ text }) => order.test(text))
  const isOwn = ({ index }: Block) => index >= items[0]!.first && index < items.at(-1)!.end
  return inside >= mainGrid.share * all || (orders.length >= mainGrid.products && orders.every(isOwn))
}

/** Whether the names of most products of a grid are kept already, such as those of the extensions of a game. */
function isNamed(blocks: readonly Block[], items: readonly Box[], chosen: Uint8Array): boolean {
  const names = items.flatMap(({ first, end }) => nameOf(blocks.slice(first, end)) ?? [])
  return names.filter(({ index }) => chosen[index] === 1).length > names.length / 2
}

/** Keeps the name and the prices of every product of a grid. */
function keepItems(survey: Survey, items: readonly Box[], chosen: Uint8Array): void {
  const { blocks } = survey.segments
  for (const { first, end } of items) {
    const lines = blocks.slice(first, end)
    for (const block of lines) if (isPrice(block)) chosen[block.index] = 1
    const name = nameOf(lines)
    if (name && copiedFrom(survey, name.index) < 0) chosen[name.index] = 1
  }
}

/** Returns the name of a product: its heading, or else the longest line in a link. */
function nameOf(lines: readonly Block[]): Block | undefined {
  const others = lines.filter((block) => !isPrice(block))
  const linked = others.filter(({ links }) => links > 0)
  return others.find(isHeading) ?? linked.toSorted((one, other) => other.measure.words - one.measure.words)[0]
}
