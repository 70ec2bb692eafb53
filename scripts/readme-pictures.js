// Takes the two screenshots of README.md: `node scripts/readme-pictures.js`. Needs tmux and a Chromium.
// Opens a small local shop in a session, and shows it with the terminal UI in tmux and the live view in Chromium.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { browse, draw, openTerminal, pageOf } from './pictures.js'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const folder = fileURLToPath(new URL('../.github/pictures', import.meta.url))
const stateDir = mkdtempSync(join(tmpdir(), 'bax-pictures-'))
const config = join(stateDir, 'settings.json')
writeFileSync(config, '{}')
const env = { ...process.env, BAX_STATE_DIR: stateDir, BAX_CONFIG: config }
/** Time for a change to appear on the screen, in milliseconds. */
const settleMs = 4000

// Not the synchronous form, because this process serves the shop.
const run = promisify(execFile)
const bax = async (...argv) => (await run(process.execPath, [program, ...argv], { env })).stdout.trim()

const teas = [
  ['Assam', 4, '#b5562b'],
  ['Darjeeling', 6, '#c98b3a'],
  ['Sencha', 5, '#6f9a4c'],
  ['Rooibos', 3, '#a4372d'],
]

const shop = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tea</title>
<style>body{margin:0;font:18px sans-serif;background:#faf6ee;color:#332}header{background:#3c5a48;color:#fff;padding:18px 36px;font-size:26px}
main{display:grid;grid-template-columns:repeat(4,1fr);gap:24px;padding:36px}article{background:#fff;border-radius:10px;padding:18px;box-shadow:0 1px 6px #0002}
i{display:block;height:150px;border-radius:8px;margin-bottom:14px}button,input{font:inherit;padding:8px 16px}form{padding:0 36px}</style>
<header>Tea, by the hundred grams</header>
<main>${teas.map(([name, price, colour]) => `<article><i style="background:${colour}"></i><h2>${name}</h2><p>${price} EUR</p><button>Buy</button></article>`).join('')}</main>
<form><label>Search <input id="q" name="q"></label></form>`

async function terminalPicture(file) {
  const terminal = openTerminal({
    columns: 104,
    rows: 30,
    env: { BAX_STATE_DIR: stateDir, BAX_CONFIG: config },
  })
  try {
    terminal.run(`node ${program} tui`)
    await terminal.says('shop')
    terminal.press('Enter')
    await terminal.says('Tea')
    terminal.press('i')
    terminal.type('get-title')
    await pause(settleMs)
    terminal.press('Enter')
    await pause(settleMs)
    // Nine pixels per character become fourteen: sharp, without seams, and small enough for the repository.
    await draw(pageOf(terminal.styled(), 'dark'), file, 14 / 9)
  } finally {
    terminal.close()
  }
}

async function livePicture(file) {
  const address = await bax('session', 'view', '-s', 'shop', '--control', '--print')
  await browse(1.25, { width: 1040, height: 560 }, async (page) => {
    await page.goto(address)
    await pause(settleMs)
    await bax('do', '-s', 'shop', 'type-text', '#q', 'Earl Grey')
    await pause(settleMs)
    await page.screenshot({ path: file })
  })
}

const site = createServer((_, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.end(shop)
})
await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve))
mkdirSync(folder, { recursive: true })
try {
  const url = `http://127.0.0.1:${site.address().port}/tea`
  await bax('session', 'create', '--requested-name', 'watch', '--start-url', `${url}?page=2`)
  await bax('session', 'create', '--requested-name', 'shop', '--start-url', url)
  await bax('do', '-s', 'shop', 'click', 'text=Buy', 'then', 'get-title')
  await terminalPicture(join(folder, 'tui.png'))
  await livePicture(join(folder, 'live-view.png'))
} finally {
  await bax('engine', 'stop')
  site.closeAllConnections()
  site.close()
  rmSync(stateDir, { recursive: true, force: true })
}
