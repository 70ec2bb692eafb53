import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { structuredOf } from '../../../src/engine/extract/structured.ts'

const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/structured/${name}.html`, import.meta.url), 'utf8')
const from = (html: string, query: string, schema?: Record<string, unknown>, max_chars?: number) =>
  structuredOf(treeFromHtml(html, 'https://site.example/dir/'), { query, schema, max_chars })
const valueOf = async (name: string, query: string, schema?: Record<string, unknown>) =>
  (await from(fixture(name), query, schema)).value

describe('fills a schema', () => {
  test('from the data of a product page, its table, its lists and its reviews', async () => {
    const schema = {
      name: 'string',
      price: 'number',
      currency: 'string',
      brand: 'string',
      sku: 'string',
      rating: 'number',
      review_count: 'integer',
      in_stock: 'boolean',
      capacity: 'string',
      power: 'number',
      dishwasher_safe: 'boolean',
      released: 'date',
      image: 'url',
      url: 'url',
      features: ['string'],
      reviews: [{ title: 'string', author: 'string', rating: 'number', text: 'string' }],
      offer: { price: 'number', currency: 'string' },
      warranty: 'string',
    }
    expect(await valueOf('product', 'the product', schema)).toEqual({
      name: 'Aurora Kettle',
      price: 1299,
      currency: 'EUR',
      brand: 'Brightside',
      sku: 'AK-17',
      rating: 4.6,
      review_count: 212,
      in_stock: true,
      capacity: '1.7 l',
      power: 2400,
      dishwasher_safe: false,
      released: '2024-03-05',
      image: 'https://site.example/img/aurora.jpg',
      url: 'https://site.example/p/aurora',
      features: ['Keep-warm mode', 'Quiet boil', 'Removable filter'],
      reviews: [
        { title: 'Love it', author: 'Mia', rating: 5, text: 'Boils fast and looks great on the counter.' },
        { title: 'Too heavy', author: 'Jon', rating: 3, text: 'Good kettle, but heavy when it is full.' },
      ],
      offer: { price: 1299, currency: 'EUR' },
      warranty: null,
    })
  })

  test('from the metadata and the headings of an article', async () => {
    const schema = {
      headline: 'string',
      author: 'string',
      author_url: 'url',
      published: 'date',
      tags: ['string'],
      sections: ['string'],
    }
    expect(await valueOf('article', 'the article', schema)).toEqual({
      headline: 'Rivers remember',
      author: 'Ida Brook',
      author_url: 'https://site.example/people/ida',
      published: '2024-05-17',
      tags: ['rivers', 'floods', 'maps'],
      sections: ['Rivers remember', 'What the maps show', 'What comes next'],
    })
  })

  test('from the rows of a table, by the names of its columns', async () => {
    const items = {
      type: 'object',
      properties: {
        team: { type: 'string' },
        rank: { type: 'integer', description: 'position in the table' },
        goals: { type: 'number' },
        promoted: { type: 'boolean' },
        link: { type: 'string', format: 'uri' },
      },
      required: ['team'],
    }
    const { value, valid } = await from(fixture('league'), 'standings', { type: 'array', items })
    expect(valid).toBe(true)
    expect(value).toEqual([
      { team: 'River Otters', rank: 1, goals: 34, promoted: true, link: 'https://site.example/teams/otters' },
      { team: 'Hill Larks', rank: 2, goals: 29, promoted: true, link: 'https://site.example/teams/larks' },
      { team: 'Moor Hares', rank: 3, goals: 21, promoted: false, link: 'https://site.example/teams/hares' },
    ])
  })

  test('from repeated cards, not from navigation', async () => {
    const job = {
      title: 'string',
      company: 'string',
      salary: 'number',
      location: 'string',
      posted: 'date',
      link: 'url',
      tags: ['string'],
    }
    expect(await valueOf('listing', 'open jobs', { jobs: [job] })).toEqual({
      jobs: [
        {
          title: 'Bridge engineer',
          company: 'Stonespan Ltd',
          salary: 62_500,
          location: 'Merrow',
          posted: '2024-06-01',
          link: 'https://site.example/jobs/1',
          tags: ['full time', 'on site'],
        },
        {
          title: 'Cartographer',
          company: 'Valley Survey',
          salary: 48_000,
          location: 'Hill End',
          posted: '2024-06-03',
          link: 'https://site.example/jobs/2',
          tags: ['part time'],
        },
        {
          title: 'Lock keeper',
          company: 'Canal Trust',
          salary: null,
          location: 'Merrow',
          posted: '2024-06-07',
          link: 'https://site.example/jobs/3',
          tags: [],
        },
      ],
    })
  })

  test('from microdata with nested objects', async () => {
    const schema = {
      type: 'object',
      $defs: {
        place: {
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' }, postal_code: { type: 'string' } },
        },
      },
      properties: {
        name: { type: ['string', 'null'] },
        job_title: { type: 'string' },
        email: { type: 'string', format: 'email' },
        affiliation: { type: 'string' },
        address: { $ref: '#/$defs/place' },
        born: { type: 'string', format: 'date' },
        languages: { type: 'array', items: { type: 'string' } },
        publications: { type: 'array', items: { type: 'string' } },
        phone: { anyOf: [{ type: 'null' }, { type: 'string' }] },
      },
    }
    expect(await from(fixture('profile'), 'the person', schema)).toEqual({
      source: 'heuristic',
      valid: true,
      errors: [],
      warnings: [],
      value: {
        name: 'Ada Reed',
        job_title: 'Professor of Hydrology',
        email: 'ada@valley.example',
        affiliation: 'Valley University',
        address: { street: '4 Weir Lane', city: 'Merrow', postal_code: 'M3 7RW' },
        born: '1971-03-12',
        languages: ['English', 'Welsh', 'French'],
        publications: ['Floods of the north (2011)', 'Water and walls (2019)'],
        phone: null,
      },
    })
  })

  test('from labels and values in another language', async () => {
    const schema = {
      phone: 'string',
      email: 'email',
      address: 'string',
      Geschäftsführerin: 'string',
      mitarbeiter: 'integer',
      hours: [{ day: 'string', time: 'string' }],
    }
    expect(await valueOf('contact', 'contact', schema)).toEqual({
      phone: '+4930123456',
      email: 'info@merrow.example',
      address: 'Uferweg 9, 10115 Berlin',
      Geschäftsführerin: 'Jana Holt',
      mitarbeiter: 1250,
      hours: [
        { day: 'Montag', time: '9-17 Uhr' },
        { day: 'Dienstag', time: '9-12 Uhr' },
      ],
    })
  })
})

describe('values that are not on the page', () => {
  test('are null, and an error only if the schema requires them', async () => {
    const properties = { warranty: { type: 'string' }, colour: { type: 'string' } }
    const schema = { type: 'object', properties, required: ['warranty'] }
    expect(await from(fixture('product'), 'the product', schema)).toEqual({
      source: 'heuristic',
      value: { warranty: null, colour: null },
      valid: false,
      errors: ['warranty must be string'],
      warnings: [],
    })
  })

  test('are null also when they are beyond max_chars', async () => {
    const html = `<p>Size: 4</p><p>${'word '.repeat(100)}</p><p>Weight: 5 kg</p>`
    const schema = { size: 'number', weight: 'number' }
    expect((await from(html, 'x', schema)).value).toEqual({ size: 4, weight: 5 })
    expect((await from(html, 'x', schema, 200)).value).toEqual({ size: 4, weight: null })
  })

  test('rejects an invalid schema', async () => {
    const schema = { type: 'object', properties: { a: { type: 'nonsense' } } }
    await expect(from('<p>x</p>', 'x', schema)).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'schema' }],
    })
  })
})

describe('values', () => {
  const number = async (text: string) =>
    ((await from(`<p>Total: ${text}</p>`, 'x', { total: 'number' })).value as { total: number }).total
  test.each([
    ['1,299.00 €', 1299],
    ['1.299,00 €', 1299],
    ['1.299 €', 1299],
    ['$1,299', 1299],
    ['1 234 567,8', 1_234_567.8],
    ["CHF 1'200", 1200],
    ['0.125', 0.125],
    ['-4', -4],
    ['12k', 12_000],
    ['3.5 million', 3_500_000],
    ['5 m', 5],
    ['4.5 out of 5', 4.5],
  ])('reads %s as the number %d', async (text, value) => expect(await number(text)).toBe(value))

  test.each([
    ['2024-05-17', '2024-05-17'],
    ['May 17th, 2024', '2024-05-17'],
    ['17 May 2024', '2024-05-17'],
    ['17.5.2024', '2024-05-17'],
    ['5/17/2024', '2024-05-17'],
    ['17/5/2024', '2024-05-17'],
    ['31.2.2024', null],
  ])('reads %s as the date %s', async (text, date) => {
    expect((await from(`<p>Due: ${text}</p>`, 'x', { due: 'date' })).value).toEqual({ due: date })
  })

  test.each([
    ['Yes', true],
    ['sold out', false],
    ['In stock', true],
    ['maybe', null],
  ])('reads %s as %s', async (text, value) => {
    expect((await from(`<p>Stock: ${text}</p>`, 'x', { stock: 'boolean' })).value).toEqual({ stock: value })
  })

  test.each([
    ['Tea number 1 <b>1.50 EUR</b>', '1.50 EUR'],
    ['Kettle 17 $1,299.00 new', '$1,299.00'],
    ['Flat 2 <b>1 250 000 €</b>', '1 250 000 €'],
    ['Bag 3 12,- €', '12,- €'],
    ['Ring ₹1,00,000', '₹1,00,000'],
    ['Room 101 for 85CHF', '85CHF'],
  ])('with the price in %j, without other numbers before it', async (text, price) => {
    const schema = { type: 'object', properties: { price: { type: 'string' } } }
    expect((await from(`<p>${text}</p>`, 'x', schema)).value).toEqual({ price })
  })

  test('reads definitions inside wrappers, and no other children of a list', async () => {
    const schema = { type: 'object', properties: { price: { type: 'string' }, colour: { type: 'string' } } }
    const html =
      '<dl><div><div><dt>Price</dt></div><div><dd>10 EUR</dd></div></div><dt hidden>Colour</dt><dd>Red</dd><p>Advert</p></dl>'
    expect((await from(html, 'x', schema)).value).toEqual({ price: '10 EUR', colour: 'Red' })
  })

  test('of an enumeration have its spelling', async () => {
    const schema = { type: 'object', properties: { size: { enum: ['small', 'LARGE'] } } }
    expect((await from('<dl><dt>Size</dt><dd>Large (L)</dd></dl>', 'x', schema)).value).toEqual({ size: 'LARGE' })
  })
})

describe('without a schema', () => {
  test('answers a question with related facts, tables and lists', async () => {
    expect(await valueOf('product', 'power and capacity')).toMatchObject({
      title: 'Aurora Kettle',
      description: 'A quiet electric kettle with a keep-warm mode.',
      facts: { Capacity: '1.7 l', Power: '2,400 W' },
    })
    expect(await valueOf('league', 'points of the teams')).toMatchObject({
      tables: [{ caption: 'Standings', rows: [{ Team: 'River Otters', Points: '28' }, {}, {}] }],
    })
    expect(await valueOf('article', 'how many channels did the survey draw')).toMatchObject({
      answer: [expect.stringContaining('drew eleven channels')],
    })
  })
})
