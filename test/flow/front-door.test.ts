/** Lines that people type who come from other tools: all of them work as they stand, in this order. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bax, type CliResult } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'
import { splitWords } from '../../src/core/text/shell-words.ts'

const shop = `<!doctype html><title>Shop</title><button>Home</button> <a href="/done">Basket</a><h1>Tea shop</h1>
<button id="buy" onclick="document.title = 'Bought'">Buy</button>
<input id="email" aria-label="Email"> <input id="q" aria-label="Search">
<ul><li>Green<li>Black</ul>
<div id="menu">Menu</div>
<select id="size"><option>Small<option>Large</select>
<input type="checkbox" id="agree" aria-label="Agree"> <input type="checkbox" id="news" checked aria-label="News">
<input type="file" aria-label="Photo">
<button id="delete" onclick="if (confirm('Delete?')) document.title = 'Deleted'">Delete</button>
<div id="card" draggable="true" style="width: 50px; height: 50px; background: tan">Card</div>
<div id="done" style="width: 80px; height: 80px" ondragover="event.preventDefault()" ondrop="this.textContent = 'dropped'">Done</div>
<div style="height: 2000px"></div>
<script>console.log('loaded'); document.cookie = 'tea=green'</script>`

let homes: Homes
let site: Site
let folder: string
beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite({ '/': shop, '/done': '<!doctype html><title>Done</title><h1>Welcome</h1>' })
  folder = await mkdtemp(join(tmpdir(), 'bax-front-door-'))
  await writeFile(join(folder, 'photo.png'), 'not really a picture')
})
afterAll(async () => {
  await homes.close()
  await site.close()
  await rm(folder, { recursive: true, force: true })
})

async function run(line: string): Promise<CliResult> {
  const host = site.url.replace('http://', '')
  const local = line.replaceAll(/https:\/\/example\.(?:com|org)/g, site.url).replaceAll('example.com', host)
  const { words } = splitWords(local)
  return bax(words.slice(1), {
    cwd: folder,
    // Ends `bax record`.
    stdin: 'q',
    env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: join(folder, 'state') },
  })
}

/** The lines, with a part of their output and, after them, an expression with its value in the page. */
const lines: readonly (readonly [line: string, output?: string | RegExp, expression?: string, value?: string])[] = [
  ['bax open example.com', undefined, 'document.title', 'Shop'],
  ['bax snapshot -i', /button "Buy"/],
  ['bax click @e2', undefined, 'location.pathname', '/done'],
  ['bax back', undefined, 'location.pathname', '/'],
  ["bax fill '#email' me@example.com", undefined, "document.querySelector('#email').value.slice(0, 3)", 'me@'],
  ["bax type '#q' tea", undefined, "document.querySelector('#q').value", 'tea'],
  ['bax press Enter'],
  ['bax open https://example.com/done', undefined, 'document.title', 'Done'],
  ['bax wait --text Welcome'],
  ["bax wait '#spinner' --state hidden"],
  ["bax wait --url '**/done'"],
  ['bax open https://example.com'],
  ['bax get title', 'Shop\n'],
  ['bax get text h1', 'Tea shop\n'],
  ['bax get url', /^http:\/\/127\.0\.0\.1:\d+\/\n$/],
  ['bax get attr a href', '/done\n'],
  ['bax get count li', '2\n'],
  ["bax is visible '#buy'", 'true\n'],
  ["bax eval 'document.title'", 'Shop\n'],
  ['bax screenshot page.png'],
  ['bax screenshot --annotate --full-page -o page.png'],
  ['bax pdf page.pdf'],
  ["bax hover '#menu'"],
  ["bax select '#size' Large", undefined, "document.querySelector('#size').value", 'Large'],
  ["bax check '#agree'", undefined, "document.querySelector('#agree').checked", 'true'],
  ["bax uncheck '#news'", undefined, "document.querySelector('#news').checked", 'false'],
  [
    "bax upload 'input[type=file]' ./photo.png",
    undefined,
    "document.querySelector('input[type=file]').files[0].name",
    'photo.png',
  ],
  ['bax dialog accept'],
  ["bax click '#delete'", undefined, 'document.title', 'Deleted'],
  ['bax tab new https://example.org', undefined, 'document.title', 'Shop'],
  ['bax tab', /tab_1[\s\S]*tab_2/],
  ['bax tab tab_1', undefined, 'document.title', 'Deleted'],
  ['bax tab close tab_2'],
  ['bax scroll down 400', undefined, 'scrollY', '400'],
  ["bax drag '#card' '#done'", undefined, "document.querySelector('#done').textContent", 'dropped'],
  ['bax set viewport 390 844', undefined, 'innerWidth', '390'],
  ["bax emulate --device 'iPhone 15'", undefined, "navigator.userAgent.includes('iPhone')", 'true'],
  ['bax emulate --color-scheme dark', undefined, "matchMedia('(prefers-color-scheme: dark)').matches", 'true'],
  ["bax route '**/*.png' --abort"],
  ['bax requests --type xhr --status 4xx'],
  ['bax console', /loaded/],
  ['bax errors'],
  ['bax cookies', /tea/],
  ['bax find Basket', /\[ref=e\d+\]|e\d+/],
  // References are those of the last observation.
  ['bax close'],
  ['bax open example.com'],
  ['bax snapshot -i', /\[ref=e5\]/],
  ['bax step click @e5'],
  ['bax snapshot --diff'],
  ['bax session list', /default/],
  ['bax session view', /\/live\//],
  ['bax record https://example.com -o flow.yaml'],
  ['bax run flow.yaml', /1 passed/],
  ['bax close'],
  ['bax close --all'],
]

test('the lines work as they stand', async () => {
  for (const [line, output, expression, value] of lines) {
    const { code, stdout, stderr } = await run(line)
    expect([line, code, code === 0 ? '' : stderr]).toEqual([line, 0, ''])
    if (output instanceof RegExp) expect([line, stdout]).toEqual([line, expect.stringMatching(output)])
    else if (output !== undefined) expect([line, stdout]).toEqual([line, output])
    if (expression === undefined) continue
    const read = await bax(['eval', expression], {
      env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: join(folder, 'state') },
    })
    expect([line, read.stdout]).toEqual([line, `${value}\n`])
  }
  expect((await readdir(folder)).toSorted()).toEqual(expect.arrayContaining(['page.pdf', 'page.png']))
  expect((await run('bax session list')).stderr).toBe('no sessions\n')
})
