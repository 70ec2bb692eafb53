/** `bax extract` to JSON: files and standard input, as the json format of a scrape. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'

const shop = `<!doctype html><html lang=en><title>Stock</title><h1>Stock</h1>
  <table><thead><tr><th></th><th>Item name</th><th>In stock</th><th>Actions</th></tr></thead></table>
  <table><tbody><tr><td><input type=checkbox></td><td>Tea</td><td>4</td><td><button>Edit</button></td></tr>
  <tr><td><input type=checkbox></td><td>Coffee</td><td>7</td><td><button>Edit</button></td></tr></tbody></table>`
const plain = `<title>Cities</title><table><tr><td><b>City</b></td><td><b>People</b></td></tr>
  <tr><td>Linz</td><td>212</td></tr><tr><td>Graz</td><td>305</td></tr></table>`

let homes: Homes
let site: Site
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-extract-'))
  await Promise.all([writeFile(join(folder, 'shop.html'), shop), writeFile(join(folder, 'plain.html'), plain)])
  ;[homes, site] = await Promise.all([openHomes(), serveSite({ '/shop': shop, '/plain': plain })])
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
  await rm(folder, { recursive: true, force: true })
})

const extract = (argv: string[], stdin?: string) =>
  bax(['extract', ...argv], { cwd: folder, ...(stdin !== undefined && { stdin }) })

test.each([
  ['shop', shop],
  ['plain', plain],
])('prints the same data as a scrape of %s', async (name, html) => {
  const scraped = await bax(['scrape', `${site.url}/${name}`, '--formats', 'json'], {
    cwd: folder,
    env: { BAX_SERVER: homes.baseUrl },
  })
  expect(scraped.code, scraped.stderr).toBe(0)
  const url = `${site.url}/${name}`
  for (const printed of [
    await extract([`${name}.html`, '--format', 'json', '--url', url]),
    await extract(['--format', 'json', '--url', url], html),
  ]) {
    expect(printed.code, printed.stderr).toBe(0)
    expect(JSON.parse(printed.stdout)).toEqual(JSON.parse(scraped.stdout))
  }
})

test('reads tables without a browser', async () => {
  const { stdout } = await extract(['shop.html', '--format', 'json'])
  expect(JSON.parse(stdout).tables).toMatchObject([
    {
      rows: [
        { 'Item name': 'Tea', 'In stock': '4' },
        { 'Item name': 'Coffee', 'In stock': '7' },
      ],
    },
  ])
})

test('fills a schema, and warns when a list of it stays empty', async () => {
  const list = (field: string, type: string) =>
    JSON.stringify({
      type: 'object',
      properties: {
        [field]: {
          type: 'array',
          items: { type: 'object', properties: { city: { type: 'string' }, people: { type } } },
        },
      },
    })
  const filled = await extract(['plain.html', '--schema', list('cities', 'number')])
  expect(JSON.parse(filled.stdout)).toEqual({
    cities: [
      { city: 'Linz', people: 212 },
      { city: 'Graz', people: 305 },
    ],
  })
  await writeFile(
    join(folder, 'schema.json'),
    '{"type": "object", "properties": {"planets": {"type": "array", "items": {"type": "object", "properties": {"moons": {"type": "integer"}}}}}}',
  )
  const empty = await extract(['plain.html', '--schema', '@schema.json'])
  expect(JSON.parse(empty.stdout)).toEqual({ planets: [] })
  expect(empty.stderr).toContain('planets is empty, but the page shows a table')
})

test('prints lines for several files, and writes files', async () => {
  const lines = (await extract(['plain.html', 'shop.html', '--format', 'json'])).stdout.trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).file).toSorted()).toEqual(['plain.html', 'shop.html'])
  expect((await extract(['plain.html', 'shop.html', '--format', 'json', '-o', 'out/'])).code).toBe(0)
  expect((await readdir(join(folder, 'out'))).toSorted()).toEqual(['plain.json', 'shop.json'])
  expect((await extract(['plain.html', '--format', 'json', '-o', 'one.json'])).code).toBe(0)
  expect(JSON.parse(await readFile(join(folder, 'one.json'), 'utf8'))).toMatchObject({ title: 'Cities' })
})

test('reports what it cannot use', async () => {
  const errorOf = async (...argv: string[]) => {
    const { code, stderr, stdout } = await extract(['plain.html', ...argv])
    return [code, stdout, stderr]
  }
  expect(await errorOf('--format', 'markdown', '--prompt', 'x')).toEqual([
    2,
    '',
    expect.stringContaining('--prompt is for --format json, not markdown'),
  ])
  expect(await errorOf('--schema', '{"type": "object", "properties": 5}')).toEqual([
    2,
    '',
    expect.stringContaining('--schema'),
  ])
  const { code, stderr } = await extract([`${site.url}/plain`])
  expect([code, stderr]).toEqual([1, expect.stringContaining('it is a URL, which "bax scrape" reads')])
  expect(await errorOf('--schema', '{')).toEqual([2, '', expect.stringContaining('--schema must be JSON')])
})
