/** Reads the facts about a product from the visible text of its page. */
import { attribute, type ElementNode, elementsOf, findElement, type Tree, visibleText } from '../../../extract/tree.ts'
import { imageUrl } from '../../../extract/urls.ts'
import { present } from '../../documents/document.ts'
import { areSameName, type Facts, identifiersOf, plainText } from './facts.ts'
import { isHidden, type Line, linesAfter, optionsIn } from './lines.ts'
import { type Money, pricesIn } from './money.ts'

export interface VisibleFacts {
  readonly facts: Facts
  /** The first price, and the first ones that are neither crossed out nor those of shipping or of a unit. */
  readonly price?: Money
  readonly prices: readonly Money[]
  /** Whether the page says that something is free. */
  readonly isFree: boolean
  /** Whether the page offers to buy one product. */
  readonly canBuy: boolean
}

/** Number of lines and of prices, after the headline, that may belong to the product. */
const nearLines = 120
const nearPrices = 12
/** Number of prices of a page that is about one product, if it has no button to buy it. */
const maxOwnPrices = 3
/** Lines of prices are short. */
const maxPriceLine = 120

const inPage = (element: ElementNode): boolean =>
  element.tag !== 'template' && element.tag !== 'noscript' && !isHidden(element)

/** Returns the headline: the h1 with one of the names, else the first one, else another heading with one of them. */
export function headlineOf(root: ElementNode, names: readonly string[]): ElementNode | undefined {
  const headings = elementsOf(root, inPage).filter(
    (element) => /^h[1-3]$/.test(element.tag) && inPage(element) && visibleText(element, 300) !== '',
  )
  const isNamed = (heading: ElementNode) => names.some((name) => areSameName(name, visibleText(heading, 300)))
  const first = headings.filter(({ tag }) => tag === 'h1')
  // A short one may be the name of the site, which titles contain.
  const named = first.filter(isNamed).toSorted((one, other) => lengthOf(other) - lengthOf(one))
  return named[0] ?? first[0] ?? headings.find(isNamed)
}

const lengthOf = (heading: ElementNode): number => visibleText(heading, 300).length

/** Reads the facts below a headline. */
export function visibleFacts({ root, baseUrl }: Tree, headline: ElementNode): VisibleFacts {
  const name = visibleText(headline, 500)
  const lines = withWholePrices(nearOf(linesAfter(root, headline)))
  const priced = lines.filter(mayBePrice).map((line) => ({ line, found: pricesIn(line.text) }))
  const prices = priced.flatMap(({ found }) => found).slice(0, nearPrices)
  const [price] = prices
  const count = buyButtonsIn(root)
  const isNext = priced.find(({ found }) => found.length > 0)?.line.isApart === false
  const canBuy = isNext && count > 0 && count <= maxBuyButtons
  // The first of many prices may be that of another product.
  const own = canBuy || prices.length <= maxOwnPrices ? price : undefined
  const alike = elementsOf(root, inPage).filter(
    (element) => element.tag === 'img' && areAlike(attribute(element, 'alt'), name),
  )
  const images = alike
    .map((image) => imageUrl(image, baseUrl))
    .filter((url) => url !== undefined && /^https?:/.test(url))
  const facts = {
    source: 'page' as const,
    name,
    ...(own && { price: asPrice(own) }),
    ...(own?.currency && { currency: own.currency }),
    ...present({ availability: availabilityIn(lines), identifiers: identifiersIn(lines) }),
    images: [...new Set(images as string[])].slice(0, 50),
    options: optionsIn(root),
  }
  const isFree = lines.some(({ text }) => text.length <= 40 && /\bfree\b|kostenlos|gratis|gratuit/i.test(text))
  return { facts, prices, isFree, canBuy, ...(price && { price }) }
}

/** Lines that begin a part about other products. */
const otherPart =
  /^(?:sponsored|anzeige|gesponsert|related products?|similar (?:products|items)|you (?:may|might) also like|customers also (?:bought|viewed)|frequently bought together|recently viewed(?: products)?)\b.{0,20}$/i

/** Returns the lines that may be about the product. */
function nearOf(lines: readonly Line[]): Line[] {
  const end = lines.findIndex(({ text }) => otherPart.test(text))
  return lines.slice(0, end < 0 ? nearLines : Math.min(end, nearLines))
}

/** Joins amounts whose sign or decimals are blocks of their own. */
function withWholePrices(lines: readonly Line[]): Line[] {
  const joined: Line[] = []
  for (const line of lines) {
    const last = joined.at(-1)
    const isPart =
      last &&
      (/^[$€£¥₹]$/.test(last.text) ? /^\d/ : /^\D{0,3}\d[\d.,]*$/.test(last.text) ? /^(?:[.,]\d\d|[€£$])$/ : undefined)
    if (last && isPart?.test(line.text)) joined[joined.length - 1] = { ...last, text: last.text + line.text }
    else joined.push(line)
  }
  return joined
}

const areAlike = (alt: string, name: string): boolean => alt.trim() !== '' && areSameName(alt, name)

const asPrice = ({ text, amount, from, highest }: Money) => ({
  text,
  amount,
  ...(from && { from }),
  ...(highest !== undefined && { highest }),
})

/** Lines whose amounts are not the price: shipping, discounts, installments, former prices, prices per unit. */
const otherAmounts =
  /shipping|\bships?\b|\bused\b|refurb|gebraucht|refine|filter|price range|delivery|postage|versand|liefer|livraison|env[ií]o|spedizione|verzend|frakt|\bsave\b|you save|spar(?:en|e|st)|économ|ahorr|risparm|\boff\b|\d\s?%|rabatt|discount|financ|minimum|coupon|voucher|gutschein|per month|\/\s?(?:mo|month)\b|monatl|mtl|par mois|al mes|\brat(?:e|en)\b|instal?lment|klarna|afterpay|clearpay|paypal|affirm|pay (?:later|in)|deposit|pfand|points|\bwas\b|\brrp\b|\bmsrp\b|\buvp\b|statt|list price|listenpreis|compare at|lowest price|niedrigster|30 (?:days|tage)|spend|orders? over|gift card|\b(?:pro|per|je)\b|\/\s?(?:\d+\s?)?(?:kg|g|l|ml|m|stk|stück|100)\b/i

const mayBePrice = ({ text, isFormer }: Line): boolean =>
  !isFormer && text.length <= maxPriceLine && /\d/.test(text) && !otherAmounts.test(text)

const available =
  /^(?:(?:item |product )?(?:is )?in stock|available now|auf lager|sofort (?:lieferbar|verfügbar)|lieferbar|vorrätig|en stock|disponible|disponibile|op voorraad|på lager|i lager|dostępn[ya]|skladem|в наличии|在庫あり|有货|재고 있음)/iu
const unavailable =
  /^(?:(?:this )?(?:item |product )?(?:is )?(?:currently )?(?:out of stock|sold out|unavailable|no longer available)|ausverkauft|(?:derzeit )?nicht (?:vorrätig|verfügbar|lieferbar|auf lager)|vergriffen|(?:en )?rupture|épuisé|indisponible|agotado|sin existencias|esaurito|non disponibile|uitverkocht|slutsåld|udsolgt|utsolgt|niedostępn|vyprodáno|нет в наличии|在庫切れ|売り切れ|缺货|售罄|품절)/iu

/** Returns the availability, unless the page says both, as it does where variants differ. */
function availabilityIn(lines: readonly Line[]): string | undefined {
  const short = lines.map(({ text }) => text).filter((text) => text.length <= 60)
  const [can, cannot] = [short.some((text) => available.test(text)), short.some((text) => unavailable.test(text))]
  return can === cannot ? undefined : can ? 'in_stock' : 'out_of_stock'
}

const labels: Readonly<Record<string, RegExp>> = {
  sku: /^sku\b/i,
  gtin: /^(?:ean|gtin|upc)(?:[- ]?\d{1,2})?(?:[- ]?code)?\b/i,
  mpn: /^mpn\b/i,
  isbn: /^isbn(?:[- ]?1[03])?\b/i,
}
const code = /^[\p{L}\d][\p{L}\d./_-]{1,39}$/u

/** Reads identifiers that follow their label, in the same line or in the next one. */
function identifiersIn(lines: readonly Line[]) {
  const find = (name: string): string | undefined => {
    for (const [at, { text }] of lines.entries()) {
      const label = labels[name]!.exec(text)?.[0]
      if (label === undefined) continue
      const rest = text.slice(label.length).replace(/^\s*(?:code|no\.?|number)?\s*[:#]?\s*/i, '')
      const value = rest === '' ? (lines[at + 1]?.text ?? '') : rest
      if (code.test(value) && /\d/.test(value) && (name !== 'gtin' || /^\d{8,14}$/.test(value))) return value
    }
    return undefined
  }
  return identifiersOf({ sku: find('sku'), gtin: find('gtin'), mpn: find('mpn'), isbn: find('isbn') } as never)
}

const buyText =
  /^(?:add to (?:shopping )?(?:cart|bag|basket|trolley)|buy(?: it)? now|buy|pre-?order(?: now)?|in den (?:warenkorb|einkaufswagen)(?: legen)?|jetzt kaufen|ajouter au panier|acheter|añadir al carrito|añadir a la cesta|agregar al carrito|comprar(?: ahora)?|aggiungi al carrello|acquista|in (?:mijn )?winkel(?:wagen|mandje)|toevoegen aan winkelwagen|adicionar ao carrinho|lägg i varukorg(?:en)?|köp|læg i kurv(?:en)?|legg i handlekurv(?:en)?|do koszyka|dodaj do koszyka|do košíku|přidat do košíku|kosárba|sepete ekle|в корзину|купить|カートに入れる|加入购物车|장바구니(?: 담기)?)(?:$|[\s:–—-]+[^\p{L}]{0,20}$)/iu
const buyName = /add[-_]?to[-_]?(?:cart|bag|basket)|addtocart|buy[-_]?now/i

/** Maximum number of buttons to buy of a page about one product; there may be another one below, for small screens. */
const maxBuyButtons = 3

const buyButtonsIn = (root: ElementNode): number =>
  elementsOf(root, (element) => inPage(element) && element.tag !== 'nav' && element.tag !== 'footer').filter(
    (element) => {
      const { tag, attributes } = element
      const isButton =
        tag === 'button' ||
        tag === 'a' ||
        (tag === 'input' && /^(?:submit|button|image)$/.test(attributes['type'] ?? ''))
      if (!isButton || !inPage(element)) return false
      const text = tag === 'input' ? (attributes['value'] ?? '') : visibleText(element, 100)
      const label = text.replace(/[!.\s]+$/, '') || (attributes['aria-label'] ?? '')
      return buyText.test(label.trim()) || buyName.test(`${attributes['name'] ?? ''} ${attributes['id'] ?? ''}`)
    },
  ).length

/** Returns the titles of a page. */
export function titlesOf(root: ElementNode, meta: ReadonlyMap<string, readonly string[]>): string[] {
  const title = findElement(root, ({ tag }) => tag === 'title')
  const text = title?.children.map((child) => ('text' in child ? child.text : '')).join('') ?? ''
  return [...(meta.get('og:title') ?? []), ...(meta.get('twitter:title') ?? []), text].filter(
    (name) => plainText(name) !== '',
  )
}
