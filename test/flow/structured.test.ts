import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': `<!doctype html><title>Shop</title><h1>Our shop</h1><p>We sell tea.</p><dl><dt>Price</dt><dd>4</dd></dl>`,
  '/grid': `<!doctype html><title>Guests</title><div role=grid aria-label=Guests aria-rowcount=901>
    <div role=row><b role=columnheader><input type=checkbox></b><b role=columnheader>Guest</b><b role=columnheader>Room</b></div>
    <div role=row><i role=gridcell><input type=checkbox></i><i role=gridcell>Anna</i><i role=gridcell>Single</i></div></div>
    <div><table><tr><th>Day<th>Price</table></div><div><table><tr><td>1<td>40<tr><td>2<td>50</table></div>`,
  '/fields': `<!doctype html><title>Order</title><h1>Order</h1><table><thead><tr><th>Item<th>Count<th>Size<th>Gift<th>Note</thead>
    <tr><td>Tea<td><input value=1><td><select><option selected>S<option>M</select><td><input type=checkbox><td><textarea></textarea>
    <tr><td>Cup<td><input value=2><td><select><option selected>S<option>M</select><td><input type=checkbox checked><td><textarea></textarea></table>
    <script>
      const at = (tag) => document.querySelector(tag)
      at('input').value = '7 "x"'; at('select').value = 'M'; at('[type=checkbox]').checked = true
      at('[checked]').checked = false; at('textarea').value = '<b>'
    </script>`,
}

inUsualHomes(pages, (given) => {
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

  test('tables and grids become records, with a warning about rows that are not rendered', async () => {
    await given.open('/grid')
    const grid = { caption: 'Guests', rows: [{ Guest: 'Anna', Room: 'Single' }] }
    const days = {
      rows: [
        { Day: '1', Price: '40' },
        { Day: '2', Price: '50' },
      ],
    }
    const warning =
      'the page has rendered 1 of the 900 rows of a table "Guests" with the columns Guest, Room: scroll or turn to the others and extract them then'
    const data = await given.do('extract_structured_content', { query: 'all tables' })
    expect(data).toMatchObject({ result: { value: { tables: [grid, days] } }, warnings: [warning] })
    const { data: scraped, warning: said } = await given.client().scrape({ url: given.url('/grid'), formats: ['json'] })
    expect(scraped!.json).toMatchObject({ tables: [grid, days] })
    expect(said).toBe(warning)
    const { content } = (await given.do('get_content', { kind: 'json' })) as { content: { tables: unknown } }
    expect(content.tables).toEqual([
      {
        caption: 'Guests',
        rows: [
          ['', 'Guest', 'Room'],
          ['', 'Anna', 'Single'],
        ],
      },
      { caption: null, rows: [['Day', 'Price']] },
      {
        caption: null,
        rows: [
          ['1', '40'],
          ['2', '50'],
        ],
      },
    ])
  })

  test('cells have the present values of form fields, in a session and in a scrape', async () => {
    const rows = [
      { Item: 'Tea', Count: '7 "x"', Size: 'M', Gift: 'true', Note: '<b>' },
      { Item: 'Cup', Count: '2', Size: 'S', Gift: 'false', Note: '' },
    ]
    await given.open('/fields')
    const data = await given.do('extract_structured_content', { query: 'all tables' })
    expect(data).toMatchObject({ result: { value: { facts: {}, tables: [{ rows }] } } })
    const { data: scraped } = await given
      .client()
      .scrape({ url: given.url('/fields'), formats: ['json'], render: 'browser' })
    expect(scraped!.json).toMatchObject({ facts: {}, tables: [{ rows }] })
  })

  test('rejects an invalid schema before any request, with the field', async () => {
    const { scrape, crawl, scrapeV2, crawlV2, search, runCommands, browserStep } = given.client()
    const url = given.url('/never')
    const schema = { type: 'object', properties: { a: { type: 'nonsense' } } }
    const format = { type: 'json', schema } as const
    const commands = [
      { command: 'navigate_to', data: { url } },
      { command: 'extract_structured_content', data: { query: 'x', schema } },
    ]
    const refused: [field: string, ask: () => Promise<unknown>][] = [
      ['json_options.schema', () => scrape({ url, formats: ['json'], json_options: { schema } })],
      ['formats[1].schema', () => scrape({ url, formats: ['markdown', format] })],
      ['formats[0].schema', () => scrapeV2({ url, formats: [format] })],
      ['json_options.schema', () => crawl({ url, formats: ['json'], json_options: { schema } })],
      ['scrape_options.formats[0].schema', () => crawlV2({ url, scrape_options: { formats: [format] } })],
      ['formats[0].schema', () => search({ query: 'x', formats: [format] })],
      ['commands[1].data.schema', () => runCommands({ session_id: given.sessionId(), commands })],
      ['commands[1].data.schema', () => runCommands({ commands })],
      ['commands[1].data.schema', () => browserStep({ session_id: given.sessionId(), commands })],
    ]
    for (const [path, ask] of refused) {
      const failure = await ask().catch((error: unknown) => error)
      expect(failure, path).toMatchObject({ code: 'invalid_request', details: [{ path }] })
    }
    expect(given.site().requests).not.toContain('/never')
    expect((await given.client().listSessions({})).total).toBe(1)
  })
})
