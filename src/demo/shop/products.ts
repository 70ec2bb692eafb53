/** The teas of the demo shop. */

export interface Product {
  readonly slug: string
  readonly name: string
  readonly kind: 'Green' | 'Black' | 'Oolong' | 'White' | 'Herbal' | 'Ware'
  /** In euros. */
  readonly price: number
  /** Pieces in stock. */
  readonly stock: number
  readonly origin: string
  readonly text: string
}

const rows = `
Sencha Asatsuyu | Green | 14.90 | 32 | Kagoshima, Japan | A steamed green tea of the early harvest with a deep colour. It tastes of fresh peas and a little of melon. Brew it at 70 degrees for one minute.
Gyokuro Okumidori | Green | 38.00 | 6 | Uji, Japan | Shaded for three weeks before the harvest, which makes it sweet and full. Use much leaf and little water of 55 degrees.
Long Jing | Green | 22.50 | 18 | Zhejiang, China | Flat leaves, pressed by hand in a hot pan. Chestnut and a light bitterness remain on the tongue.
Gunpowder | Green | 6.40 | 80 | Anhui, China | Leaves rolled into small pearls, strong enough for mint and sugar. A good tea for every day.
Genmaicha | Green | 9.80 | 41 | Shizuoka, Japan | Green tea with roasted rice. Mild, with the smell of popcorn.
Assam Mangalam | Black | 11.20 | 55 | Assam, India | Malt, honey and a strong cup that takes milk. From the second flush.
Darjeeling First Flush | Black | 19.90 | 24 | West Bengal, India | Picked in March. A light cup with flowers and green grapes.
Ceylon Uva | Black | 8.60 | 60 | Uva, Sri Lanka | Grown at 1,500 metres. Fresh, with a little menthol when the wind was dry.
Keemun | Black | 16.40 | 15 | Anhui, China | Dark and soft with cocoa and dried plums.
Lapsang Souchong | Black | 13.70 | 20 | Fujian, China | Dried over a fire of pine wood. The smoke is strong at first and sweet in the end.
Earl Grey | Black | 7.90 | 90 | Blend | Black tea from India and Ceylon with oil of bergamot.
Tie Guan Yin | Oolong | 21.00 | 12 | Fujian, China | Rolled and lightly oxidized. Lilac and butter, good for six infusions.
Dong Ding | Oolong | 24.60 | 9 | Nantou, Taiwan | Roasted over charcoal for two nights. Nuts and caramel.
Oriental Beauty | Oolong | 34.90 | 0 | Hsinchu, Taiwan | Small insects bite its leaves, which answer with the taste of honey and ripe peach.
Da Hong Pao | Oolong | 29.50 | 7 | Wuyi, China | Grown on rock. Minerals, dark chocolate and a long finish.
Silver Needle | White | 27.30 | 10 | Fujian, China | Only buds, dried in the sun. Very light, with hay and melon.
Pai Mu Tan | White | 12.80 | 33 | Fujian, China | Buds and two leaves. A round cup that forgives water that is too hot.
Peppermint | Herbal | 4.90 | 120 | Thuringia, Germany | Cut leaves with much oil. Free of caffeine.
Rooibos | Herbal | 5.20 | 100 | Cederberg, South Africa | Red and mild, free of caffeine, cannot be brewed for too long.
Camomile | Herbal | 5.60 | 75 | Lower Saxony, Germany | Whole flowers. Brew under a lid so that the oil stays in the cup.
Iron Kettle | Ware | 79.00 | 4 | Iwate, Japan | Cast iron, 1.2 litres, for gas and induction. Dry it after use.
Porcelain Cup | Ware | 9.50 | 64 | Thuringia, Germany | White, 180 millilitres, thin at the rim. For the dishwasher.
Bamboo Whisk | Ware | 15.80 | 22 | Nara, Japan | For matcha, cut from one piece of bamboo with 80 bristles.
Tea Timer | Ware | 12.00 | 48 | Blend | Three glasses of sand: three, four and five minutes.
`

export const products: readonly Product[] = rows
  .trim()
  .split('\n')
  .map((row) => {
    const [name, kind, price, stock, origin, text] = row.split(' | ') as [string, Product['kind'], ...string[]]
    return {
      slug: name.toLowerCase().replaceAll(' ', '-'),
      name,
      kind,
      price: Number(price),
      stock: Number(stock),
      origin: origin!,
      text: text!,
    }
  })

export const kinds: readonly string[] = [...new Set(products.map(({ kind }) => kind))]

export const productOf = (slug: string | undefined): Product | undefined => products.find((one) => one.slug === slug)

export const inEuros = (amount: number): string => `€${amount.toFixed(2)}`
