/** Prices on pages of products, and of grids of products. */
import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { surveyPage } from '../../../src/engine/extract/main-content/features/survey.ts'
import { shippedModel } from '../../../src/engine/extract/main-content/model.ts'
import { withOffers } from '../../../src/engine/extract/main-content/offers.ts'

const { lexicon } = await shippedModel()

/** Returns the lines that are kept of a page of which the model keeps some, by default none. */
function kept(type: string, body: string, isKept = (_text: string) => false): string[] {
  const survey = surveyPage(treeFromHtml(`<body>${body}</body>`, '').root, '', lexicon)
  return withOffers(
    survey,
    type,
    survey.segments.blocks.filter((block) => isKept(block.text)),
  ).map(({ text }) => text)
}

const card = (name: string, price: string, names = 'card') =>
  `<li class="${names}"><img src="a.jpg"><h3><a href="/p">${name}</a></h3><span>4.5</span><p class="price">${price}</p><button>Add to cart</button></li>`
const grid = (heading: string, list = '') =>
  `<h2>${heading}</h2><ul class="${list}">${card('Oak stool', '$40')}${card('Pine stool', '$35.50')}${card('Ash stool', '$52')}</ul>`

describe('the product of a page', () => {
  const product = '<h1>Copper kettle</h1><p>18 reviews</p><div class="price">€ 79,90</div><p>In stock</p>'

  test('is kept with its name, its price and whether it is in stock', () => {
    expect(kept('product', product)).toEqual(['Copper kettle', '€ 79,90', 'In stock'])
  })

  test.each(['From £2.98', '1 299 kr', '₹999', 'CHF 45.–', '$98.00$130.00'])('has the price %s', (price) => {
    expect(kept('product', product.replace('€ 79,90', price))).toContain(price)
  })

  test('has the prices of its variants', () => {
    const variants = '<p>One time</p><p>$30</p><p>Every month</p><p>$27</p>'
    expect(kept('product', `<h1>Coffee</h1>${variants}`)).toEqual(['Coffee', '$30', '$27'])
  })

  test('may have its price above its name', () => {
    expect(kept('product', '<p>$60.00</p><p>Only 3 left</p><h1>Stoneware mug</h1>')).toEqual([
      '$60.00',
      'Stoneware mug',
    ])
  })

  test('has the price above the only order button when none is beside its name', () => {
    const box = '<div><p>$1,646</p><p>Limit 9 per customer</p><button>Add to cart</button></div>'
    const sellers = '<div><p>Other Seller</p><p>$1,899</p></div>'
    const texts = '<p>Text</p>'.repeat(20)
    expect(kept('product', `${box}${sellers}${texts}<h1>Graphics card</h1>`)).toEqual(['$1,646'])
    expect(kept('product', `<h1>Guitar</h1>${texts.repeat(4)}${box}`)).toEqual(['$1,646'])
    const several = `<h1>Guitar</h1>${texts.repeat(4)}${box}${box}`
    expect(kept('product', several)).toEqual([])
  })

  test('has none of the other amounts of the page', () => {
    const others =
      '<nav>Gifts from $5</nav><h1>Lamp</h1><p>Free shipping over $50</p><p>Earn 5 points for every $1</p><p>$80</p>'
    expect(kept('product', others + grid('You may also like'))).toEqual(['Lamp', '$80'])
  })

  test('has the prices of its extensions whose names are kept already', () => {
    const page = `<h1>Sea game</h1><p>Free to play</p>${'<p>About it</p>'.repeat(9)}${grid('Content for this game')}`
    expect(kept('product', page)).toEqual([])
    expect(kept('product', page, (text) => text.endsWith('stool'))).toEqual([
      'Oak stool',
      '$40',
      'Pine stool',
      '$35.50',
      'Ash stool',
      '$52',
    ])
    const similar = `<h1>Sea game</h1>${'<p>About it</p>'.repeat(9)}${grid('Similar products')}`
    expect(kept('product', similar, (text) => text.endsWith('stool'))).not.toContain('$40')
  })

  test('is recognized by its order button on pages of any kind', () => {
    const body = '<h1>Copper kettle</h1><p>18 reviews</p><p>Made by hand</p><p>€ 79,90</p>'
    expect(kept('article', `${body}<button>Add to cart</button>`)).toContain('€ 79,90')
    expect(kept('article', body)).toEqual([])
  })

  test('is recognized by a price right below its name on pages of any kind', () => {
    expect(kept('article', product)).toEqual(['Copper kettle', '€ 79,90', 'In stock'])
    expect(kept('service', '<h1>Wool shoe</h1><p>$110</p><p>Final sale</p>')).toEqual(['Wool shoe', '$110'])
    expect(kept('article', '<h1>Ten kettles</h1><p>By Ann</p><p>June 1</p><p>€ 79,90</p>')).toEqual([])
  })

  test('is recognized by a price below its stock on pages of any kind', () => {
    expect(kept('article', '<h1>Camera</h1><p>No longer available</p><p>Used for $1,149.95</p>')).toContain(
      'Used for $1,149.95',
    )
    expect(kept('article', '<h1>Camera</h1><p>Now available</p><p>A story.</p><p>$1,149.95</p>')).toEqual([])
  })
})

describe('a grid of products', () => {
  test('is kept with names and prices', () => {
    const lines = ['Oak stool', '$40', 'Pine stool', '$35.50', 'Ash stool', '$52']
    expect(kept('collection', grid('All stools'))).toEqual(lines)
    expect(kept('listing', grid('All stools'))).toEqual(lines)
  })

  test('has all items, also those with another class, and those without a price', () => {
    const items = card('Elm stool', '$20 $40', 'card sale') + card('Fir stool', 'Sold out')
    const lines = kept('collection', grid('All stools').replace('</ul>', `${items}</ul>`))
    expect(lines).toEqual(expect.arrayContaining(['Elm stool', '$20 $40', 'Fir stool']))
  })

  test('is left out when its products are related to those of the page', () => {
    expect(kept('collection', grid('Recently viewed'))).toEqual([])
    expect(kept('collection', grid('More stools', 'related-products'))).toEqual([])
    const page = treeFromHtml(`<body class="related-products-3">${grid('All stools')}</body>`, '').root
    expect(withOffers(surveyPage(page, '', lexicon), 'collection', [])).toHaveLength(6)
  })

  test('is no list of the steps of a filter, and no menu', () => {
    expect(kept('collection', '<ul><li>Under $50</li><li>$50 - $99</li><li>$100 - $199</li></ul>')).toEqual([])
    expect(kept('collection', `<nav>${grid('All stools')}</nav>`)).toEqual([])
  })

  test('may have two products in a collection', () => {
    const two = `<ul>${card('Oak stool', '$40')}${card('Pine stool', '$35.50')}</ul>`
    expect(kept('collection', two)).toEqual(['Oak stool', '$40', 'Pine stool', '$35.50'])
  })

  const stools = ['Oak', 'Pine', 'Ash', 'Elm', 'Fir', 'Yew'].map((wood) => `${wood} stool`)
  const cards = (button = '') =>
    stools.map((name) => `<div><h3><a href="/p">${name}</a></h3><p>$40</p>${button}</div>`).join('')
  const text = (words: number) => `<p>${'word '.repeat(words)}</p>`
  const lines = stools.flatMap((name) => [name, '$40'])

  test('is kept on pages of any kind when it is a large part of the page', () => {
    expect(kept('article', `<h1>Stools</h1>${text(50)}<main>${cards()}</main>`)).toEqual(lines)
    expect(kept('article', `<h1>Stools</h1>${text(90)}<main>${cards()}</main>`)).toEqual([])
    expect(kept('article', `<h1>Stools</h1>${text(50)}<main>${cards()}</main><nav>${text(90)}</nav>`)).toEqual(lines)
    expect(kept('article', `<h1>Kettle</h1>${text(9).repeat(3)}<h2>You may also like</h2>${cards()}`)).toEqual([])
  })

  test('is kept on pages of any kind when it has all of their order buttons', () => {
    const button = '<button>Add to cart</button>'
    const page = `<h1>Stools</h1>${text(30).repeat(10)}<main>${cards(button)}</main>`
    expect(kept('service', page)).toEqual(lines)
    expect(kept('service', `${page}${button}`)).toEqual([])
  })

  test('is left to the model on the page of a product', () => {
    expect(kept('product', `<h1>Kettle</h1>${'<p>Text</p>'.repeat(9)}${grid('Stools')}`)).toEqual([])
  })
})
