/** Facts about a product in the meta elements of Open Graph. */
import { attribute, collapse, type ElementNode, elementsOf } from '../../../extract/tree.ts'
import { resolveUrl } from '../../../extract/urls.ts'
import { present } from '../../documents/document.ts'
import { availabilityOf, combinedPrice, type Facts, identifiersOf } from './facts.ts'

/** Returns the values of meta elements by name, in document order. */
export function metaOf(root: ElementNode): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const element of elementsOf(root, ({ tag }) => tag !== 'template' && tag !== 'noscript' && tag !== 'svg')) {
    if (element.tag !== 'meta') continue
    const name = (attribute(element, 'property') || attribute(element, 'name')).trim().toLowerCase()
    const content = collapse(attribute(element, 'content')).trim()
    if (name === '' || content === '') continue
    const known = found.get(name)
    if (known) known.push(content)
    else found.set(name, [content])
  }
  return found
}

/** Returns the facts, if the page says that it is about a product. */
export function openGraphFacts(meta: ReadonlyMap<string, readonly string[]>, baseUrl: string): Facts | undefined {
  const first = (...names: string[]) => names.map((name) => meta.get(name)?.[0]).find(Boolean)
  const price = first('product:sale_price:amount', 'product:price:amount', 'og:price:amount')
  const isProduct = /^(?:og:)?product(?:\.item|:item)?$/i.test(first('og:type') ?? '')
  if (!isProduct && price === undefined) return undefined
  const currency = first('product:sale_price:currency', 'product:price:currency', 'og:price:currency')
  const { others: _, ...priced } = combinedPrice(price === undefined ? [] : [{ price, currency }])
  const state = first('product:availability', 'og:availability')
  const url = first('og:url')
  const images = ['og:image', 'og:image:url', 'og:image:secure_url'].flatMap((name) => meta.get(name) ?? [])
  return {
    source: 'opengraph',
    ...present({
      name: first('og:title'),
      brand: first('product:brand', 'og:brand'),
      description: first('og:description'),
      availability: availabilityOf(state ?? ''),
      url: url === undefined ? undefined : resolveUrl(url, baseUrl),
      identifiers: identifiersOf({
        sku: first('product:retailer_item_id', 'product:sku'),
        gtin: first('product:gtin', 'product:ean', 'product:upc'),
        mpn: first('product:mfr_part_no', 'product:mpn'),
        isbn: first('product:isbn'),
      } as Parameters<typeof identifiersOf>[0]),
    }),
    ...priced,
    images: [...new Set(images.map((image) => resolveUrl(image, baseUrl)).filter((image) => image !== undefined))],
  }
}
