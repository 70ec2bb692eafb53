import { expect, test } from 'vitest'
import { inEveryHome } from '../support/commands.ts'

const pages = {
  '/': `<!doctype html><title>Shop</title><h1>Our shop</h1><p>We sell tea.</p><dl><dt>Price</dt><dd>4</dd></dl>`,
}

inEveryHome(pages, (given) => {
  test('extract_structured_content fills a schema from the page', async () => {
    await given.open('/')
    const schema = { type: 'object', properties: { title: { type: 'string' } } }
    const data = await given.do('extract_structured_content', {
      query: 'the title of the page',
      schema,
      max_chars: 5000,
    })
    expect(data).toMatchObject({ source: 'heuristic', valid: true, errors: [], result: { type: 'object' } })
    expect((data['result'] as { value: unknown }).value).toMatchObject({ title: expect.stringMatching(/shop/i) })
  })
})
