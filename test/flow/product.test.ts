import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { inUsualHomes } from '../support/commands.ts'

const data = {
  '@context': 'https://schema.org',
  '@type': 'Product',
  name: 'Clay pot',
  sku: 'P1',
  offers: { '@type': 'Offer', price: '15.00', priceCurrency: 'EUR', availability: 'https://schema.org/InStock' },
}
const pot = `<!doctype html><title>Clay pot | Shop</title><script type="application/ld+json">${JSON.stringify(data)}</script>
  <h1>Clay pot</h1><p>12,50 €</p><button>Add to cart</button><a href="/shop/about">About us</a>`

const pages = {
  '/shop/pot': pot,
  '/shop/about': '<!doctype html><title>About</title><h1>About us</h1><p>We have sold pots since 1990.</p>',
  '/shop/late': `<!doctype html><title>Shop</title><div id=root></div><script>
    root.innerHTML = '<h1>Clay pot</h1><p>12,50 €</p><button>Add to cart</button>'</script>`,
}

const conflict = {
  field: 'price',
  values: [
    { source: 'json-ld', value: '15.00 EUR' },
    { source: 'page', value: '12,50 €' },
  ],
}
const expected = {
  name: 'Clay pot',
  price: { text: '15.00', amount: 15 },
  currency: 'EUR',
  availability: 'in_stock',
  identifiers: { sku: 'P1' },
  conflicts: [conflict],
}

inUsualHomes(pages, (given) => {
  test('is read by scrapes, with a warning about what the page and its data disagree on', async () => {
    const answer = await given.client().scrape({ url: given.url('/shop/pot'), formats: ['product', 'markdown'] })
    expect(answer).toMatchObject({
      success: true,
      data: { product: expected, markdown: expect.stringContaining('12,50 €') },
      warning: 'the sources of the product disagree about price: see product.conflicts',
    })
  })

  test('is null on a page about something else, with a warning', async () => {
    const answer = await given.client().scrape({ url: given.url('/shop/about'), formats: ['product'] })
    expect(answer).toMatchObject({
      success: true,
      data: { product: null },
      warning: expect.stringMatching(/^product is null: /),
    })
  })

  test('is read from what scripts show', async () => {
    const { data: scraped } = await given.client().scrape({ url: given.url('/shop/late'), formats: ['product'] })
    expect(scraped).toMatchObject({ product: { name: 'Clay pot', price: { amount: 12.5 }, sources: ['page'] } })
  })

  test('is part of the response of the second API, and of batches', async () => {
    const request = async (path: string, body?: unknown) => {
      const headers = { 'content-type': 'application/json' }
      const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
      return (await (await fetch(given.homes().baseUrl + path, init)).json()) as Record<string, unknown>
    }
    const url = given.url('/shop/pot')
    const scraped = await request('/v2/scrape', { url, formats: [{ type: 'product' }] })
    expect(scraped).toMatchObject({ data: { product: expected } })
    const { id } = await request('/v2/batch/scrape', { urls: [url], formats: ['product'] })
    await expect
      .poll(() => request(`/v2/batch/scrape/${id}`))
      .toMatchObject({ status: 'completed', data: [{ product: expected }] })
  })

  test('is printed by bax scrape and bax crawl, and null is printed as such', async () => {
    const { stdout } = await bax(['scrape', given.url('/shop/pot'), '--formats', 'product'])
    expect(JSON.parse(stdout)).toMatchObject(expected)
    const none = await bax(['scrape', given.url('/shop/about'), '--formats', 'product,links'])
    expect(JSON.parse(none.stdout)).toEqual({ product: null, links: [] })
    const crawled = await bax(['crawl', given.url('/shop/pot'), '--formats', 'product', '--ndjson'])
    const products = crawled.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { product: unknown }).product)
    expect(products).toEqual([expect.objectContaining(expected), null])
  })

  test('is a result of a step of a script', async () => {
    const script = `session: {start_url: '${given.url('/shop/about')}'}
steps:
  - scrape: {url: '${given.url('/shop/pot')}', formats: [product]}
    expect: {path: data.product.price.amount, equals: 15}
`
    const path = join(given.homes().stateDir, 'product.yaml')
    await writeFile(path, script)
    expect(await bax(['run', path, '--embedded'])).toMatchObject({ code: 0, stderr: '' })
  })
})
