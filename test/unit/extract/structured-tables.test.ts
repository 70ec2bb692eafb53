import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { structuredOf } from '../../../src/engine/extract/structured.ts'

interface Table {
  readonly caption?: string
  readonly rows: readonly Record<string, string>[]
}

/** Returns the tables of the summary of a page, and the warnings. */
async function read(html: string, query = '') {
  const { value, warnings } = await structuredOf(treeFromHtml(html, 'https://site.example/'), { query })
  return { tables: (value as { tables: Table[] }).tables, warnings }
}
const rowsOf = async (html: string) => (await read(html)).tables.map(({ rows }) => rows)
const guests = [
  { Guest: 'Anna', Room: 'Single' },
  { Guest: 'Bert', Room: 'Double' },
]
const body = '<tr><td>Anna<td>Single<tr><td>Bert<td>Double'

describe('reads as records', () => {
  test.each([
    [
      'a table whose head is a table of its own',
      `<div><table><thead><tr><th>Guest<th>Room</table></div><div><table>${body}</table></div>`,
    ],
    [
      'a head with a column above the scroll bar',
      `<div><table><tr><th>Guest<th>Room<th></table></div><div><table>${body}</table></div>`,
    ],
    [
      'a body that repeats its hidden head',
      `<table><tr><th>Guest<th>Room</table><div><table><thead><tr><th>Guest<th>Room</thead>${body}</table></div>`,
    ],
    ['a table without thead', `<table><tr><th>Guest<th>Room</tr>${body}</table>`],
    ['a head of bold cells', `<table><tr><td><b>Guest</b><td><b>Room</b></tr>${body}</table>`],
    [
      'checkboxes and buttons beside the values',
      '<table><thead><tr><th><input type=checkbox aria-label="All"><th>Guest<th>Room<th></thead>' +
        '<tr><td><input type=checkbox><td>Anna<td>Single<td><button>Edit</button> <button>Delete</button>' +
        '<tr><td><input type=checkbox><td>Bert<td>Double<td><button>Edit</button></table>',
    ],
    [
      'links that edit and delete the rows, not all of which can be deleted',
      '<table><thead><tr><th colspan=3><th>Guest<th>Room</thead>' +
        '<tr><td><input type=checkbox><td><a href=/1><img src=e.png alt=Edit> Edit</a><td><a href=/d>Delete</a><td>Anna<td>Single' +
        '<tr><td><input type=checkbox><td><a href=/2><img src=e.png alt=Edit> Edit</a><td><td>Bert<td>Double</table>',
    ],
    [
      'names with line breaks and no-break spaces',
      `<table><tr><th>\n Guest&nbsp;<th><div>Room</div></tr>${body}</table>`,
    ],
    [
      'a table of ARIA',
      '<div role=table><div role=rowgroup><div role=row><span role=columnheader>Guest</span><span role=columnheader>Room</span></div></div>' +
        '<div role=row><span role=cell>Anna</span><span role=cell>Single</span></div><div role=row><span role=cell>Bert</span><span role=cell>Double</span></div></div>',
    ],
    [
      'a grid that renders rows in parts',
      '<div role=grid><div><div role=row aria-rowindex=1><i role=columnheader aria-colindex=2>Room</i></div><div role=row aria-rowindex=2><i role=gridcell aria-colindex=2>Single</i></div><div role=row aria-rowindex=3><i role=gridcell aria-colindex=2>Double</i></div></div>' +
        '<div><div role=row aria-rowindex=1><i role=columnheader aria-colindex=1>Guest</i></div><div role=row aria-rowindex=2><i role=gridcell aria-colindex=1>Anna</i></div><div role=row aria-rowindex=3><i role=gridcell aria-colindex=1>Bert</i></div></div></div>',
    ],
  ])('%s', async (_what, html) => {
    expect(await read(html)).toEqual({ tables: [{ rows: guests }], warnings: [] })
  })

  test('columns with headings in two rows, and rows with cells of several rows', async () => {
    const html = `<table><thead><tr><th rowspan=2>Guest<th colspan=2>Stay<tr><th>From<th>To</thead>
      <tr><td rowspan=2>Anna<td>1 May<td>3 May<tr><td>7 May<td>9 May</table>`
    expect(await rowsOf(html)).toEqual([
      [
        { Guest: 'Anna', 'Stay From': '1 May', 'Stay To': '3 May' },
        { Guest: 'Anna', 'Stay From': '7 May', 'Stay To': '9 May' },
      ],
    ])
  })

  test('the links of a single row, which are actions beside its checkbox and values elsewhere', async () => {
    const row = (heads: string, cells: string) => `<table><tr>${heads}<th>Price</tr><tr>${cells}<td>4</table>`
    const [box, link] = ['<td><input type=checkbox>', '<td><a href=/1>Edit</a>']
    expect(await rowsOf(row('<th colspan=2>', box + link))).toEqual([[{ Price: '4' }]])
    expect(await rowsOf(row('<th>', link))).toEqual([[{ 'column 1': 'Edit', Price: '4' }]])
    expect(await rowsOf(row('<th><th>', box + link))).toEqual([[{ 'column 2': 'Edit', Price: '4' }]])
  })

  test('a schema finds the link of a row in its actions', async () => {
    const row = (at: number) => `<tr><td>Tea ${at}<td><a href="/teas/${at}">View</a>`
    const html = `<table><tr><th>Name<th></tr>${row(1)}${row(2)}</table>`
    const item = { type: 'object', properties: { name: { type: 'string' }, url: { type: 'string', format: 'uri' } } }
    const schema = { type: 'array', items: item }
    const { value } = await structuredOf(treeFromHtml(html, 'https://site.example/'), { query: 'teas', schema })
    expect(value).toEqual([1, 2].map((at) => ({ name: `Tea ${at}`, url: `https://site.example/teas/${at}` })))
  })

  test('columns with the same name, and columns without one', async () => {
    const html = '<table><tr><th>Price<th>Price<th></tr><tr><td>1<td>2<td>new</table>'
    expect(await rowsOf(html)).toEqual([[{ Price: '1', 'Price 2': '2', 'column 3': 'new' }]])
  })

  test('headings of columns beside an empty corner', async () => {
    const html = '<table><tr><td><th>2025<th>2026<tr><th>Sales<td>1<td>2<tr><th>Costs<td>3<td>4</table>'
    expect(await rowsOf(html)).toEqual([
      [
        { 'column 1': 'Sales', '2025': '1', '2026': '2' },
        { 'column 1': 'Costs', '2025': '3', '2026': '4' },
      ],
    ])
  })

  test.each([
    [
      'a table that says it has no rows',
      '<table><thead><tr><th>Order<th>Price</thead><tr><td colspan=2>No orders</table>',
      '',
    ],
    [
      'the headings of a table with another caption',
      '<table><caption>Orders</caption><tr><th>Order<th>Price</table>',
      '<caption>Guests</caption>',
    ],
  ])('a table after %s', async (_what, empty, caption) => {
    expect(await rowsOf(`${empty}<table>${caption}${body}</table>`)).toEqual([
      guests.map(({ Guest, Room }) => ({ term: Guest, value: Room })),
    ])
  })

  test('a title above the columns as the caption', async () => {
    const html = `<table><thead><tr><th colspan=2>Today<tr><th>Guest<th>Room</thead>${body}</table>`
    expect((await read(html)).tables).toEqual([{ caption: 'Today', rows: guests }])
  })

  test('a table with one column, and those without headings', async () => {
    const html = `<table><tr><th>Guest<tr><td>Anna</table>
      <table><tr><td>1<td>2<td>3<tr><td>4<td>5<td>6</table><table>${body}</table>`
    expect(await rowsOf(html)).toEqual([
      [{ Guest: 'Anna' }],
      [
        { 'column 1': '1', 'column 2': '2', 'column 3': '3' },
        { 'column 1': '4', 'column 2': '5', 'column 3': '6' },
      ],
      [
        { term: 'Anna', value: 'Single' },
        { term: 'Bert', value: 'Double' },
      ],
    ])
  })

  test('each table of a page with its heading, also beside text and whatever the question is', async () => {
    const html = `<h2>Guests</h2><ul><li>One<li>Two</ul><table><tr><th>Guest<th>Room</tr>${body}</table>
      <h2>Heads</h2><table><tr><th>Guest<th>Room</table><p>Unrelated<table>${body}</table>
      <aside><table><tr><th>Floor<th>Beds<tr><td>1<td>9</table></aside>`
    const { tables, warnings } = await read(html, 'what do the others list')
    expect(tables.map(({ caption, rows }) => [caption, rows.length])).toEqual([
      ['Guests', 2],
      ['Heads', 2],
      ['Heads', 1],
    ])
    expect(warnings).toEqual(['the page shows a table "Heads" with the columns Guest, Room without rows'])
  })
})

describe('says what is missing', () => {
  test('when a grid has not rendered all rows', async () => {
    const html = `<table role=grid aria-rowcount=501><thead><tr><th>Guest<th>Room</thead>${body}</table>`
    expect(await read(html)).toEqual({
      tables: [{ rows: guests }],
      warnings: [
        'the page has rendered 2 of the 500 rows of a table with the columns Guest, Room: scroll or turn to the others and extract them then',
      ],
    })
  })

  test('but no rows that are headings of groups, which the records name', async () => {
    const html = `<table aria-rowcount=5><tr><th>Guest<th>Room<tr><td colspan=2>Floor 1${body}<tr><td colspan=2>Floor 2</table>`
    const tables = [{ rows: guests.map((guest) => ({ ...guest, group: 'Floor 1' })) }]
    expect(await read(html)).toEqual({ tables, warnings: [] })
  })

  test('when a table is longer than the result', async () => {
    const html = `<table><tr><th>Guest<th>Room</tr>${'<tr><td>Anna<td>Single'.repeat(300)}</table>`
    const { tables, warnings } = await read(html)
    expect(tables[0]!.rows).toHaveLength(200)
    expect(warnings).toEqual(['the result has the first 200 of the 300 rows of a table with the columns Guest, Room'])
  })

  test('when a list of the schema stays empty', async () => {
    const html = `<table><tr><th>Guest<th>Room</tr>${body}</table>`
    const schema = {
      type: 'object',
      properties: {
        planets: { type: 'array', items: { type: 'object', properties: { mass: { type: 'number' } } } },
        guests: {
          type: 'array',
          items: { type: 'object', properties: { guest: { type: 'string' }, room: { type: 'string' } } },
        },
      },
    }
    const { value, warnings } = await structuredOf(treeFromHtml(html, 'https://site.example/'), { query: '', schema })
    expect(value).toEqual({ planets: [], guests: guests.map(({ Guest, Room }) => ({ guest: Guest, room: Room })) })
    expect(warnings).toEqual(['planets is empty, but the page shows a table with the columns Guest, Room'])
  })
})
