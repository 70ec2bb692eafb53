import { describe, expect, test } from 'vitest'
import { mayBe } from '../../../src/engine/scrape/formats/product/currency.ts'
import { priceOf, pricesIn } from '../../../src/engine/scrape/formats/product/money.ts'

describe('prices in text', () => {
  test.each([
    ['1.299,00 €', 1299, 'EUR'],
    ['€ 1.299,-', 1299, 'EUR'],
    ['1.299 €', 1299, 'EUR'],
    ["CHF 1'299.00", 1299, 'CHF'],
    ['CHF 1’299.–', 1299, 'CHF'],
    ['1\u202f299,50\u00a0€', 1299.5, 'EUR'],
    ['1 000 000 ₽', 1_000_000, 'RUB'],
    ['₹1,29,900', 129_900, 'INR'],
    ['R$ 1.299,90', 1299.9, 'BRL'],
    ['US$1,299.50', 1299.5, 'USD'],
    ['$1,299.00 CAD', 1299, 'CAD'],
    ['1299,- Kč', 1299, 'CZK'],
    ['KWD 1.250', 1.25, 'KWD'],
    ['0.299 €', 0.299, 'EUR'],
    ['１,２９９円', 1299, 'JPY'],
    ['٣٠٠٫٥٠ KWD', 300.5, 'KWD'],
    ['549.56AED', 549.56, 'AED'],
    ['12€50', 12.5, 'EUR'],
    ['Rp 150.000', 150_000, 'IDR'],
  ])('%s', (text, amount, currency) => {
    expect(pricesIn(text)).toMatchObject([{ amount, currency, text }])
  })
  test.each([
    ['¥1,299', 1299],
    ['$5', 5],
    ['kr 99', 99],
    ['Rs. 1,299', 1299],
    ['1 299 kr', 1299],
    ['Fr. 20.–', 20],
  ])('%s has no currency, because several have its sign', (text, amount) => {
    expect(pricesIn(text)).toEqual([expect.objectContaining({ amount, text })])
    expect(pricesIn(text)[0]).not.toHaveProperty('currency')
  })
  test('keep that others are higher, in the words of several languages', () => {
    for (const text of ['from $5', 'ab 5 €', 'à partir de 5 €', 'desde $5', '￥5から', 'od 5 zł'])
      expect(pricesIn(text)).toMatchObject([{ amount: 5, from: true }])
    expect(pricesIn('$10 – $20')).toMatchObject([{ text: '$10 – $20', amount: 10, from: true, highest: 20 }])
  })
  test('are no numbers without a currency, discounts, identifiers or words', () => {
    for (const text of ['12.99', '-5 €', 'save (−5 €)', 'TOP 10', 'TRY 2', 'SKU-12.50 €', '12 Foods', '12 ft', '€'])
      expect(pricesIn(text)).toEqual([])
  })
  test('that are written twice, for screen readers, are read twice', () => {
    expect(pricesIn('$12.99$12.99').map(({ amount }) => amount)).toEqual([12.99, 12.99])
  })
})

test.each([
  ['1299.00', 'USD', 1299],
  ['1299.5000', 'USD', 1299.5],
  ['1.299,00', 'EUR', 1299],
  ['1,299.00', 'USD', 1299],
  ["1'299.00", 'CHF', 1299],
  ['€ 12', undefined, 12],
  ['call us', 'USD', undefined],
  ['12-20', 'USD', undefined],
  ['1e9', 'USD', undefined],
])('the price %s of structured data in %s is %s', (text, currency, amount) => {
  expect(priceOf(text, currency)?.amount).toBe(amount)
})

test('a sign may stand for its currencies only', () => {
  expect([mayBe('$', 'AUD'), mayBe('¥', 'CNY'), mayBe('kr', 'SEK'), mayBe('€', 'EUR')]).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect([mayBe('$', 'EUR'), mayBe('¥', 'USD'), mayBe('£', 'EUR'), mayBe('US$', 'AUD')]).toEqual([
    false,
    false,
    false,
    false,
  ])
})
