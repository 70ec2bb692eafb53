import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { makeManifest } from '../../src/operations/manifest.ts'
import { bax } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'
import { type OpenTui, openTui } from '../support/tui.tsx'

const manifest = makeManifest()
let homes: Homes
let site: Site
let tui: OpenTui

beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite({
    '/': `<title>Shop</title><h1>The shop</h1><button id="buy" onclick="this.textContent='Sold'; console.log('sold')">Buy</button>
      <script>document.cookie='theme=dark'; localStorage.setItem('cart', 'three')</script>`,
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
})
afterEach(() => tui.close())

const open = (size: { columns?: number; rows?: number } = {}) =>
  openTui({ transport: homes.transports.unix, manifest, stateDir: homes.stateDir, ...size })

/** Opens the view of a session on the shop. */
async function openSession(): Promise<string> {
  const { session_id } = await homes.clients.embedded.createSession({ start_url: site.url })
  await tui.waitForText('Shop')
  tui.press('enter')
  await tui.waitForText('events  page  storage  tabs')
  return session_id!
}

describe('sessions', () => {
  test('are created, listed, filtered, and closed after a confirmation', async () => {
    tui = open()
    await tui.waitForText('no sessions; press c to create one')
    tui.press('c')
    await tui.waitForText('start page')
    tui.type(`${site.url}\r`)
    expect(await tui.waitForText('Shop — http')).toMatch(/ready +1 +\d+s +\d+s/)
    tui.press('/')
    await tui.waitForText('filter:')
    tui.type('nothing like it\r')
    await tui.waitForText('no session matches the filter')
    tui.press('escape')
    await tui.waitForText('Shop — http')
    tui.press('x')
    await tui.waitForText(/Close ses_.*\?/)
    tui.press('n')
    await tui.waitForText('1 session')
    tui.press('x')
    await tui.waitForText(/Close ses_.*\?/)
    tui.press('y')
    await tui.waitForText('no sessions; press c to create one')
    expect((await homes.clients.http.listSessions()).sessions).toEqual([])
  })

  test('are shown as an image, events, snapshot, storage and tabs', async () => {
    tui = open({ columns: 120, rows: 40 })
    const session_id = await openSession()
    await tui.waitForText('page.loaded')
    // The image is drawn over the text, in colours.
    await expect.poll(tui.output, { timeout: 20_000 }).toMatch(/\u001B\[38;2;\d+;\d+;\d+;48;2;[\d;]+m▀/)
    tui.press('f')
    expect(await tui.waitForText('Events: page')).not.toContain('200 GET')
    tui.press('tab')
    await tui.waitForText('button "Buy" [ref=')
    tui.press('tab')
    await tui.waitForText(/theme = dark[\s\S]*cart = three/)
    tui.press('tab')
    await tui.waitForText('● Shop')
    await homes.clients.http.closeSession({ session_id })
    await tui.waitForText('ended: deleted')
  })

  test('run command lines as bax do does, and record them as a script', async () => {
    tui = open()
    const session_id = await openSession()
    tui.press('tab')
    const ref = /button "Buy" \[ref=(e\d+)\]/.exec(await tui.waitForText('button "Buy"'))![1]!
    tui.press('r i')
    await tui.waitForText('recording 0')
    tui.type(`click ref=${ref} then get-text '#buy'\r`)
    await tui.waitForText(/✓ click ref=e\d+ then get-text '#buy'\n Sold/)
    await tui.waitForText('button "Sold"')
    tui.type('clik x\r')
    await tui.waitForText('did you mean "click"?')
    tui.press('up')
    await tui.waitForText('> clik x')
    tui.press('escape')
    await tui.waitForText('press i to type a command')
    tui.press('r')
    await tui.waitForText('save the recording to')
    tui.press('ctrl+u')
    tui.type('shop.yaml\r')
    await tui.waitForText('saved to')
    const file = join(homes.stateDir, 'shop.yaml')
    expect(await readFile(file, 'utf8')).toBe(
      `name: shop\nsteps:\n  - navigate_to: ${site.url}/\n  - click: "#buy"\n  - get_text: "#buy"\n`,
    )
    const ran = await bax(['run', file, '--server', homes.baseUrl])
    expect(ran.stdout + ran.stderr).toContain('1 passed')
    await homes.clients.http.closeSession({ session_id })
  })

  test('are opened by a click on the selected row, and pages take clicks', async () => {
    tui = open({ columns: 120, rows: 40 })
    const start_url = `data:text/html,<title>Big</title><button style="position:fixed;inset:0;width:100%" onclick="document.title='Hit'">Go</button>`
    const other = await homes.clients.embedded.createSession({})
    const { session_id = '' } = await homes.clients.embedded.createSession({ start_url })
    const lines = (await tui.waitForText('Big')).split('\n')
    const row = lines.findIndex((line) => line.includes('Big'))
    tui.click(10, row)
    await tui.waitForText(/› .*Big/)
    tui.click(10, row)
    await tui.waitForText('events  page  storage  tabs')
    await expect.poll(tui.output, { timeout: 20_000 }).toContain('▀')
    tui.click(30, 10)
    await tui.waitForText(/✓ click-at \d+ \d+/)
    await tui.waitForText('Hit')
    await homes.clients.http.closeSession({ session_id })
    await homes.clients.http.closeSession({ session_id: other.session_id! })
  })

  test('list the keys of the current screen in the help', async () => {
    tui = open()
    await tui.waitForText('no sessions')
    tui.press('?')
    const help = await tui.waitForText('close the help')
    for (const text of ['c           create', '/           filter', 'q           quit']) expect(help).toContain(text)
    tui.press('escape')
    await tui.waitForText('no sessions')
  })
})

describe.each([
  [80, 24],
  [200, 60],
])('in %i columns and %i rows', (columns, rows) => {
  test('shows every part of the view, and no line is wider than the terminal', async () => {
    tui = open({ columns, rows })
    const session_id = await openSession()
    const lines = (await tui.waitForText('page.loaded')).split('\n')
    expect(lines).toHaveLength(rows)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns)
    expect(lines[0]).toMatch(/^ bax  1 Sessions  2 Relay  3 Shell  4 Jobs  5 Engine .*● connected/)
    expect(lines[1]).toContain('ready')
    expect(lines.at(-3)).toMatch(/^> /)
    expect(lines.at(-1)).toMatch(/Esc back to the list · \? keys/)
    // Long events wrap in a narrow panel.
    expect(lines.join('').replaceAll(/\s/g, '')).toContain(`GET${site.url}/`)
    await homes.clients.http.closeSession({ session_id })
  })

  test('adapts to a new terminal size at once', async () => {
    tui = open({ columns, rows })
    await tui.waitForText('no sessions')
    tui.resize(100, 30)
    await expect.poll(() => tui.text().split('\n').length).toBe(30)
  })
})
