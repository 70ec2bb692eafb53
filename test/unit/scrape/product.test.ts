import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { productOf } from '../../../src/engine/scrape/formats/product/product.ts'

const url = 'https://shop.test/p/pot'
const read = (html: string) => productOf(treeFromHtml(html, url), { isPage: true, url })
const valueOf = (html: string) => read(html).value!
const json = (...data: unknown[]) =>
  data
    .map((one) => `<script type="application/ld+json">${typeof one === 'string' ? one : JSON.stringify(one)}</script>`)
    .join('')
const offer = (price: unknown, more = {}) => ({
  '@type': 'Offer',
  price,
  priceCurrency: 'EUR',
  availability: 'https://schema.org/InStock',
  ...more,
})
const pot = { '@context': 'https://schema.org', '@type': 'Product', name: 'Clay pot' }
const shown = '<h1>Clay pot</h1><p>12,50 €</p><button>Add to cart</button>'

describe('a product in JSON-LD', () => {
  test('has its facts, and those that the page shows', () => {
    const data = {
      ...pot,
      brand: { '@type': 'Brand', name: 'Kiln &amp; Co' },
      image: ['/a.jpg', { '@type': 'ImageObject', contentUrl: 'https://cdn.test/b.jpg' }, 5],
      sku: 4711,
      gtin13: '4006381333931',
      offers: offer('12.50'),
    }
    const { value, warnings } = read(`${json(data)}<h1>Clay pot</h1><p>12,50 €</p><p>MPN: KP-1</p><p>In stock</p>`)
    expect(value).toEqual({
      name: 'Clay pot',
      brand: 'Kiln & Co',
      price: { text: '12.50', amount: 12.5 },
      currency: 'EUR',
      availability: 'in_stock',
      identifiers: { sku: '4711', gtin: '4006381333931', mpn: 'KP-1' },
      images: ['https://shop.test/a.jpg', 'https://cdn.test/b.jpg'],
      options: [],
      variants: [],
      sources: ['json-ld', 'page'],
      conflicts: [],
    })
    expect(warnings).toEqual([])
  })
  test.each([
    ['in a graph', { '@graph': [{ '@type': 'WebPage' }, { ...pot, offers: offer(12.5) }] }],
    [
      'in a list',
      [
        { '@type': 'Organization', name: 'Shop' },
        { ...pot, offers: [offer('12.50')] },
      ],
    ],
    ['as the main entity of a page', { '@type': 'ItemPage', mainEntity: { ...pot, offers: offer('12.5') } }],
    [
      'with references',
      {
        '@graph': [
          { ...pot, offers: { '@id': '#o' } },
          { ...offer('12.50'), '@id': '#o' },
        ],
      },
    ],
    [
      'with a specification',
      {
        ...pot,
        offers: {
          '@type': 'Offer',
          priceSpecification: [
            { price: '20.00', priceCurrency: 'EUR', priceType: 'https://schema.org/ListPrice' },
            { price: '1.25', priceCurrency: 'EUR', referenceQuantity: { value: 100 } },
            { price: '12.50', priceCurrency: 'EUR' },
          ],
        },
      },
    ],
    [
      'with several types, and a vocabulary',
      { ...pot, '@type': ['Thing', 'http://schema.org/Product'], 'schema:offers': offer('12.50') },
    ],
    [
      'with line breaks in texts',
      `{"@type": "Product", "name": "Clay\npot", "offers": {"price": "12.50", "priceCurrency": "EUR"}}`,
    ],
    ['in a comment', `<!-- ${JSON.stringify({ ...pot, offers: offer('12.50') })} -->`],
  ])('is found %s', (_, data) => {
    expect(valueOf(json(data) + shown)).toMatchObject({
      name: 'Clay pot',
      price: { amount: 12.5 },
      currency: 'EUR',
      sources: ['json-ld', 'page'],
      conflicts: [],
    })
  })
  test('has the lowest of several prices, and the highest', () => {
    const aggregate = {
      '@type': 'AggregateOffer',
      lowPrice: '10',
      highPrice: '20',
      priceCurrency: 'EUR',
      offerCount: 3,
    }
    const expected = { price: { text: '10', amount: 10, from: true, highest: 20 }, currency: 'EUR' }
    expect(valueOf(json({ ...pot, offers: aggregate }))).toMatchObject(expected)
    expect(valueOf(json({ ...pot, offers: [offer('20'), offer('10')] }))).toMatchObject(expected)
  })
  test('warns about offers in several currencies', () => {
    const { value, warnings } = read(json({ ...pot, offers: [offer('20'), offer('10', { priceCurrency: 'USD' })] }))
    expect(value).toMatchObject({ price: { amount: 20 }, currency: 'EUR' })
    expect(warnings).toEqual(['product has offers in several currencies: EUR, USD; the price is in the first'])
  })
  test('lists the variants of a group, each with its facts', () => {
    const variant = (size: string, price: string, state: string) => ({
      '@type': 'Product',
      name: `Clay pot ${size}`,
      size,
      sku: `P-${size}`,
      image: `/${size}.jpg`,
      offers: offer(price, { availability: state }),
    })
    const group = {
      '@type': 'ProductGroup',
      name: 'Clay pot',
      variesBy: ['size'],
      productGroupID: 'P',
      hasVariant: [variant('S', '10.00', 'InStock'), { '@id': '#l' }, { url: '#nowhere' }],
    }
    const product = valueOf(json({ '@graph': [group, { '@id': '#l', ...variant('L', '20.00', 'schema:OutOfStock') }] }))
    expect(product).toMatchObject({
      name: 'Clay pot',
      price: { amount: 10, from: true, highest: 20 },
      availability: 'in_stock',
    })
    expect(product.variants.slice(0, 2)).toEqual([
      {
        name: 'Clay pot S',
        price: { text: '10.00', amount: 10 },
        currency: 'EUR',
        availability: 'in_stock',
        identifiers: { sku: 'P-S' },
        images: ['https://shop.test/S.jpg'],
        options: { size: 'S' },
      },
      {
        name: 'Clay pot L',
        price: { text: '20.00', amount: 20 },
        currency: 'EUR',
        availability: 'out_of_stock',
        identifiers: { sku: 'P-L' },
        images: ['https://shop.test/L.jpg'],
        options: { size: 'L' },
      },
    ])
  })
  test('lists offers that name different articles as variants', () => {
    const offers = [offer('10', { sku: 'A' }), offer('12', { sku: 'B', availability: 'SoldOut' })]
    expect(valueOf(json({ ...pot, offers })).variants).toMatchObject([
      { price: { amount: 10 }, identifiers: { sku: 'A' }, availability: 'in_stock' },
      { price: { amount: 12 }, identifiers: { sku: 'B' }, availability: 'sold_out' },
    ])
  })
})

describe('a product in other forms', () => {
  test('is read from microdata', () => {
    const html = `<div itemscope itemtype="https://schema.org/Product"><h1 itemprop=name>Clay pot</h1>
      <div itemprop=brand itemscope itemtype="https://schema.org/Brand"><b itemprop=name>Kiln</b></div><img itemprop=image src="/a.jpg">
      <p itemprop=offers itemscope itemtype="https://schema.org/Offer"><b itemprop=price content="12.50">12,50</b>
      <meta itemprop=priceCurrency content=EUR> €<link itemprop=availability href="https://schema.org/InStock"></p></div>`
    expect(valueOf(html)).toMatchObject({
      name: 'Clay pot',
      brand: 'Kiln',
      price: { amount: 12.5 },
      currency: 'EUR',
      availability: 'in_stock',
      images: ['https://shop.test/a.jpg'],
      sources: ['microdata', 'page'],
      conflicts: [],
    })
  })
  test('is read from RDFa', () => {
    const html = `<div vocab="https://schema.org/" typeof=Product><h1 property=name>Clay pot</h1><div property=offers typeof=Offer>
      <span property=price content="12.50">12,50 €</span><meta property=priceCurrency content=EUR></div></div>`
    expect(valueOf(html)).toMatchObject({
      name: 'Clay pot',
      price: { amount: 12.5 },
      currency: 'EUR',
      sources: ['rdfa', 'page'],
    })
  })
  test('is read from Open Graph', () => {
    const meta = (name: string, content: string) => `<meta property="${name}" content="${content}">`
    const html = [
      meta('og:type', 'product'),
      meta('og:title', 'Clay pot'),
      meta('og:image', '/a.jpg'),
      meta('product:price:amount', '12.50'),
      meta('product:price:currency', 'eur'),
      meta('product:availability', 'out of stock'),
      meta('product:brand', 'Kiln'),
      meta('product:retailer_item_id', 'P1'),
    ]
    expect(valueOf(html.join(''))).toMatchObject({
      name: 'Clay pot',
      brand: 'Kiln',
      price: { text: '12.50', amount: 12.5 },
      currency: 'EUR',
      availability: 'out_of_stock',
      identifiers: { sku: 'P1' },
      images: ['https://shop.test/a.jpg'],
      sources: ['opengraph'],
    })
  })
  test('is read from the text of a page that sells one thing', () => {
    const html = `<nav><a>99 €</a></nav><h1>Clay pot</h1><del>15,00 €</del> <b>12<sup>50</sup> €</b><p>Free shipping over 50 €</p>
      <p>Auf Lager</p><dl><dt>EAN<dd>4006381333931</dl><label for=s>Size:</label><select id=s name=size><option value="">Choose<option>S<option>L</select>
      <button>In den Warenkorb</button><h2>You may also like</h2><p>5,00 €</p><img src=pot.jpg alt="Clay pot">`
    expect(valueOf(html)).toEqual({
      name: 'Clay pot',
      price: { text: '12.50 €', amount: 12.5 },
      currency: 'EUR',
      availability: 'in_stock',
      identifiers: { gtin: '4006381333931' },
      images: ['https://shop.test/p/pot.jpg'],
      options: [{ name: 'Size', values: ['S', 'L'] }],
      variants: [],
      sources: ['page'],
      conflicts: [],
    })
  })
  test('is named by the headline that is also in the title, not by that of the site', () => {
    const html = `<title>Clay pot | Pottery</title><header><h1>Pottery</h1></header>${shown}`
    expect(valueOf(html)).toMatchObject({ name: 'Clay pot', price: { amount: 12.5 } })
  })
  test('has a price whose sign and decimals are blocks of their own', () => {
    const html =
      '<h1>Pot</h1><div><div>€</div><div>12</div><div>.50</div></div><p>12 €/month with financing</p><button>Add to cart</button>'
    expect(valueOf(html)).toMatchObject({ price: { text: '€12.50', amount: 12.5 } })
  })
  test('has no currency that the page does not state', () => {
    expect(valueOf('<h1>Pot</h1><p>$12.50</p><button>Buy now</button>')).not.toHaveProperty('currency')
    expect(valueOf(`${json({ ...pot, offers: { price: 12.5 } })}<h1>Clay pot</h1><p>$12.50</p>`)).not.toHaveProperty(
      'currency',
    )
    expect(valueOf(json({ ...pot, offers: { price: 12.5 } }) + shown)).toMatchObject({ currency: 'EUR' })
  })
})

describe('sources that disagree', () => {
  const conflictsOf = (html: string) => read(html).value!.conflicts
  test('are reported with the value of each, and a warning', () => {
    const html = `${json({ ...pot, sku: 'A-1', offers: offer('15.00') })}<h1>Clay pot</h1><del>15,00 €</del><p>12,50 €</p><p>SKU: B-2</p><p>Sold out</p>`
    const { value, warnings } = read(html)
    expect(value).toMatchObject({ price: { text: '15.00' }, availability: 'in_stock', identifiers: { sku: 'A-1' } })
    expect(value!.conflicts).toEqual([
      {
        field: 'price',
        values: [
          { source: 'json-ld', value: '15.00 EUR' },
          { source: 'page', value: '12,50 €' },
        ],
      },
      {
        field: 'availability',
        values: [
          { source: 'json-ld', value: 'in_stock' },
          { source: 'page', value: 'out_of_stock' },
        ],
      },
      {
        field: 'identifiers.sku',
        values: [
          { source: 'json-ld', value: 'A-1' },
          { source: 'page', value: 'B-2' },
        ],
      },
    ])
    expect(warnings).toEqual([
      'the sources of the product disagree about price, availability, identifiers.sku: see product.conflicts',
    ])
  })
  test('may be structured data alone', () => {
    const meta = '<meta property="og:price:amount" content="9.00"><meta property="og:price:currency" content="USD">'
    expect(conflictsOf(meta + json({ ...pot, offers: offer('12.50') }) + shown)).toMatchObject([
      {
        field: 'price',
        values: [{ value: '12.50 EUR' }, { source: 'opengraph', value: '9.00 USD' }, { value: '12,50 €' }],
      },
      { field: 'currency', values: [{ value: 'EUR' }, { value: 'USD' }, { value: 'EUR' }] },
    ])
  })
  test('differ in the name, or in the currency of the same amount', () => {
    expect(conflictsOf(json({ ...pot, url, offers: offer('12.50') }) + '<h1>Iron kettle</h1>')).toMatchObject([
      { field: 'name' },
    ])
    expect(conflictsOf(`${json({ ...pot, offers: offer('12.50') })}<h1>Clay pot</h1><p>$12.50</p>`)).toMatchObject([
      { field: 'price' },
      { field: 'currency', values: [{ value: 'EUR' }, { source: 'page', value: '$' }] },
    ])
  })
  test('agree where they are only written differently', () => {
    const html = `${json({ ...pot, name: 'Clay Pot – 2 l', gtin: '04006381333931', offers: [offer('12.5'), offer(20)] })}
      <meta property="og:type" content="product"><meta property="og:title" content="Clay pot – 2 l | Shop">
      <h1>Clay pot (2 l)</h1><p>20,00 €</p><p>EAN 4006381333931</p><p>Delivery 5 €</p>`
    expect(conflictsOf(html)).toEqual([])
  })
})

describe('a page without a product', () => {
  test.each([
    ['an article', '<h1>How pots are made</h1><p>It costs $5.</p>', 'describes none'],
    [
      'a list of products',
      `${json({ '@type': 'ItemList', itemListElement: [{ item: pot }] })}<h1>Pots</h1>${'<h2>Pot</h2><p>5 €</p><button>Add to cart</button>'.repeat(9)}`,
      'describes none',
    ],
    [
      'several products',
      json({ ...pot, name: 'One' }, { ...pot, name: 'Two' }),
      'describes 2 products, and is not about one of them',
    ],
    ['no content', '', 'describes none'],
  ])('%s gets null and a warning', (_, html, why) => {
    const { value, warnings } = read(html)
    expect(value).toBeNull()
    expect(warnings).toEqual([expect.stringContaining(why)])
  })
  test('that is no web page gets null and a warning', () => {
    const tree = treeFromHtml(shown, url)
    expect(productOf(tree, { isPage: false, url })).toEqual({
      value: null,
      warnings: ['product is null: the content is not a web page'],
    })
  })
  test('that names one of several products gets that one', () => {
    const others = json(
      { ...pot, name: 'Lid', offers: offer('3') },
      { ...pot, offers: offer('12.50') },
      { ...pot, name: 'Kettle' },
    )
    expect(valueOf(others + shown)).toMatchObject({ name: 'Clay pot', price: { amount: 12.5 }, variants: [] })
  })
})

describe('hostile structured data', () => {
  test.each<[string, string]>([
    [
      'is too deep',
      `{"@type":"Product","name":"Clay pot","offers":${'{"offers":'.repeat(50_000)}1${'}'.repeat(50_000)}}`,
    ],
    ['has lists in lists', `{"@type":"Product","name":"Clay pot","image":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
    ['has many values', JSON.stringify({ ...pot, image: Array.from({ length: 200_000 }, (_, at) => `/${at}.jpg`) })],
  ])('that %s is read in part, with a warning', (_, text) => {
    const { value, warnings } = read(json(text) + shown)
    expect(value).toMatchObject({ name: 'Clay pot' })
    expect(warnings).toContain('the structured data is too large or too deep, and was read in part')
  })
  test('with cycles of references is read', () => {
    const cyclic = {
      '@graph': [
        { '@id': '#a', ...pot, offers: { '@id': '#a' }, brand: { '@id': '#a' }, isVariantOf: { '@id': '#g' } },
        {
          '@id': '#g',
          '@type': 'ProductGroup',
          name: 'Clay pot',
          hasVariant: [{ '@id': '#a' }, { '@id': '#g' }],
          isVariantOf: { '@id': '#g' },
        },
        { '@id': '#b', '@type': 'WebPage', mainEntity: { '@id': '#b' } },
      ],
    }
    expect(valueOf(json(cyclic) + shown)).toMatchObject({ name: 'Clay pot', price: { amount: 12.5 } })
  })
  test('of wrong types is ignored', () => {
    const wrong = {
      '@type': ['Product', 5, null, {}],
      name: [{}, 7, 'Clay pot'],
      brand: true,
      image: { url: { a: 1 } },
      sku: { '@value': { b: 2 } },
      offers: [null, 'x', 5, { price: {}, priceCurrency: [1] }],
      hasVariant: 'x',
      __proto__: { a: 1 },
      constructor: 'x',
    }
    expect(valueOf(json('{', 'null', '"x"', '[[[]]]', wrong) + shown)).toMatchObject({
      name: '7',
      price: { amount: 12.5 },
      images: [],
      variants: [],
    })
  })
  test('of a long page is read in time that grows with its length', () => {
    const scopes = '<div itemscope itemtype="https://schema.org/Product"><div itemprop="name offers">'.repeat(100)
    const html = `${scopes}<h1>Pot</h1>${'<p itemprop=image>1 €<del>2 €</del><a href=x>add to cart</a>'.repeat(40_000)}`
    expect(read(html).value).toMatchObject({ variants: expect.any(Array), sources: ['microdata', 'page'] })
  })
})
