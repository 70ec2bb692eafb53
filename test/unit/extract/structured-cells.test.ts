import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { structuredOf } from '../../../src/engine/extract/structured.ts'

type Records = readonly Record<string, string>[]

/** Returns the summary of a page, and the warnings. */
async function read(html: string) {
  const { value, warnings } = await structuredOf(treeFromHtml(html, 'https://site.example/'), { query: '' })
  return { ...(value as { facts: object; tables: { rows: Records }[] }), warnings }
}
const rowsOf = async (html: string) => (await read(html)).tables.map(({ rows }) => rows)
const guests = [
  { Guest: 'Anna', Room: 'Single' },
  { Guest: 'Bert', Room: 'Double' },
]

describe('cells', () => {
  /** Returns the records of a table below the headings A, B and C. */
  const cells = async (rows: string) => (await rowsOf(`<table><thead><tr><th>A<th>B<th>C</thead>${rows}</table>`))[0]

  test('have the values of form fields, and the states of checkboxes', async () => {
    const html =
      '<tr><td><input value=3> kg<td><select><option>S<option selected>M</select><td><input type=checkbox checked>' +
      '<tr><td><textarea>two\nlines</textarea><td><select><option>S<option>M</select><td><span role=switch aria-checked=false></span>' +
      '<tr><td><input type=password value=secret><td>x<td><label><input type=checkbox> gift</label>'
    expect(await cells(html)).toEqual([
      { A: '3 kg', B: 'M', C: 'true' },
      { A: 'two lines', B: 'S', C: 'false' },
      { A: '', B: 'x', C: 'gift' },
    ])
  })

  test('have the alternatives of pictures and icons, or their URLs', async () => {
    const html =
      '<tr><td><img src=a.png alt="Red shoe"><td><img src=/b.png><td><i class=yes title=Yes></i>' +
      '<tr><td>Shoe <img src=a.png alt=x><td><svg role=img><title>no</title></svg><td><svg aria-label=On></svg>'
    expect(await cells(html)).toEqual([
      { A: 'Red shoe', B: 'https://site.example/b.png', C: 'Yes' },
      { A: 'Shoe', B: 'no', C: 'On' },
    ])
  })

  test('have no characters that cannot be seen, no texts for screen readers only, and no copies of headings', async () => {
    const html =
      '<tr><td>do\u00ADnau<td>1&nbsp;<b>kg</b><td>5<span class=sr-only> of 9</span>' +
      '<tr><td><b>A:</b> x<td>10<sup>24</sup><td>m<sup>2</sup>'
    expect(await cells(html)).toEqual([
      { A: 'donau', B: '1 kg', C: '5' },
      { A: 'x', B: '10^24', C: 'm2' },
    ])
  })

  test('of several columns are repeated in each, but not the label of a sum', async () => {
    const html = '<tfoot><tr><td colspan=2>Total<td>9</tfoot><tr><td>x<td colspan=2>closed'
    expect(await cells(html)).toEqual([
      { A: 'x', B: 'closed', C: 'closed' },
      { A: 'Total', C: '9' },
    ])
  })

  test('of rows below a record are its details', async () => {
    const html =
      '<tr><td>1<td>2<td>3<tr><td colspan=3><p>Sent</p><p>by post</p><tr><td>4<td>5<td>6<tr><td colspan=3><a href=/>More</a>'
    expect(await cells(html)).toEqual([
      { A: '1', B: '2', C: '3', details: 'Sent by post' },
      { A: '4', B: '5', C: '6' },
    ])
  })

  test('of rows with filters and of repeated headings are no records', async () => {
    const html = '<tr><td><input><td><button aria-label=Filter></button><td><tr><th>A<td>B<td>C<tr><td>1<td>2<td>3'
    expect(await cells(html)).toEqual([{ A: '1', B: '2', C: '3' }])
  })
})

describe('headings', () => {
  test.each([
    ['marks of sorting', '<th><button>Guest <span>▲</span></button><th>Room<span class=sr-only>sort ascending</span>'],
    ['soft hyphens, spaces of no width, and references', '<th>Gu\u00ADest\u200B<th>Room<sup>[1]</sup>'],
    ['icons hidden from readers', '<th>Guest<i aria-hidden=true>arrow_up</i><th>Room'],
    ['columns that the page hides', '<th>Guest<th style="display:none">Id<th>Room'],
  ])('are read without %s', async (what, heads) => {
    const hidden = what.startsWith('columns') ? '<td style="display:none">7' : ''
    const html = `<table><thead><tr>${heads}</thead><tr><td>Anna${hidden}<td>Single<tr><td>Bert${hidden}<td>Double</table>`
    expect(await rowsOf(html)).toEqual([guests])
  })

  test('in the first column name the fields of the other columns, if the kinds of the values show it', async () => {
    const row = (...cells: string[]) => `<tr><th>${cells.join('<td>')}`
    const plans = `<table>${row('Plan', 'Free', 'Pro')}${row('Price', '$0', '$9')}</table>`
    const people = `<table>${row('Anna', 'IT', '30')}${row('Bert', 'HR', '31')}</table>`
    expect(await rowsOf(plans + people)).toEqual([
      [
        { Plan: 'Free', Price: '$0' },
        { Plan: 'Pro', Price: '$9' },
      ],
      [
        { 'column 1': 'Anna', 'column 2': 'IT', 'column 3': '30' },
        { 'column 1': 'Bert', 'column 2': 'HR', 'column 3': '31' },
      ],
    ])
  })

  test('are those of a first row without marks above numbers', async () => {
    const html = '<table><tr><td>City<td>People<td>Area<tr><td>Linz<td>212<td>96 km²<tr><td>Graz<td>305<td>–</table>'
    expect(await rowsOf(html)).toEqual([
      [
        { City: 'Linz', People: '212', Area: '96 km²' },
        { City: 'Graz', People: '305', Area: '–' },
      ],
    ])
  })
})

describe('grids', () => {
  const cell = (at: number, text: string, role = 'gridcell', span = 1) =>
    `<div><i role=${role} aria-colindex=${at} aria-colspan=${span}>${text}</i></div>`
  test('with wrapped cells, groups of columns, and columns that a row leaves out', async () => {
    const html = `<div role=grid><div role=row>${cell(2, 'Stay', 'columnheader', 2)}</div>
      <div role=row>${cell(1, 'Guest', 'columnheader')}<div>${cell(2, 'From', 'columnheader')}${cell(3, 'To', 'columnheader')}</div></div>
      <div role=row>${cell(1, 'Anna')}${cell(3, 'May')}</div><div role=row>${cell(2, 'June')}${cell(3, 'July')}${cell(1, 'Bert')}</div></div>`
    expect(await rowsOf(html)).toEqual([
      [
        { Guest: 'Anna', 'Stay From': '', 'Stay To': 'May' },
        { Guest: 'Bert', 'Stay From': 'June', 'Stay To': 'July' },
      ],
    ])
  })

  test('that lay out their heads, bodies and feet with tables', async () => {
    const head = '<thead><tr><th>Guest<th>Room<th><div role=button aria-label=": sort"></div></thead>'
    const button = '<td role=cell><button>Edit</button>'
    const html = `<div role=table><div role=none><table role=none>${head}</table></div><table role=none>
      <tfoot><tr role=row><th>Guest<th>Room<th></tfoot>${head}<tbody><tr role=row><td role=cell>Anna<td role=cell>Single${button}
      <tr role=row><td role=cell>Bert<td role=cell>Double${button}</tbody></table></div>`
    expect(await read(html)).toMatchObject({ tables: [{ rows: guests }], warnings: [] })
  })
})

test('facts are the labels and all their values, and nothing that a table shows', async () => {
  const html = `<dl><dt>Phone<dd>12<dd>34<dt>City<dd>Linz</dl><ul><li><b>Guest</b> <b>Room</b></ul>
    <table><tr><th>Guest<th>Room<tr><td>Anna<td>Single</table>`
  const { facts, tables } = await read(html)
  expect(facts).toEqual({ Phone: ['12', '34'], City: 'Linz' })
  expect(tables).toMatchObject([{ rows: guests.slice(0, 1) }])
})
