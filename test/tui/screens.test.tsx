import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { makeManifest } from '../../src/operations/manifest.ts'
import { shellConfig } from '../support/docker.ts'
import { linkPage } from '../support/crawl.ts'
import { startForeignBrowser } from '../support/foreign-browser.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { connectBrowser } from '../support/relay.ts'
import { busybox } from '../support/shell.ts'
import { serveSite, type Site } from '../support/site.ts'
import { type OpenTui, openTui } from '../support/tui.tsx'
import { waitUntil } from '../support/wait.ts'

const manifest = makeManifest()
let homes: Homes
let site: Site
let tui: OpenTui

beforeAll(async () => {
  homes = await openHomes({ shell: { ...shellConfig, warm: 0 } })
  site = await serveSite({
    '/': linkPage('Home', ['/guide/start', '/guide/end', '/gone']),
    '/guide/start': linkPage('Start'),
    '/guide/end': linkPage('End'),
    '/gone': (_, response) => response.destroy(),
    '/page': '<title>Page</title><h1>Page</h1><script>console.log("hello from the page"); fetch("/data")</script>',
    '/data': 'some data',
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
})
afterEach(() => tui.close())

const open = () =>
  openTui({ transport: homes.transports.http, manifest, stateDir: homes.stateDir, columns: 110, rows: 30 })

test('jobs: starts a crawl, shows its pages as a tree, and opens one of them', async () => {
  tui = open()
  tui.press('4')
  await tui.waitForText('no crawls in the last day')
  tui.press('c')
  await tui.waitForText('crawl from')
  tui.type(`${site.url} 10\r`)
  await tui.waitForText(/completed +3\/4 +1/)
  tui.press('enter')
  const tree = await tui.waitForText('▾ guide')
  expect(tree).toMatch(/✗ gone[\s\S]*▾ guide\s[\s\S]*✓ end[\s\S]*✓ start/)
  expect(tree).toContain('3 of 4 pages, 1 errors')
  tui.press('G enter')
  await tui.waitForText('# Start')
  tui.press('escape')
  await tui.waitForText('▾ guide')
  tui.press('e')
  await expect.poll(tui.text).not.toContain('▾ guide')
  expect(tui.text()).toContain('✗ gone')
})

test('engine: shows its activity, queues and browsers', async () => {
  tui = open()
  const { session_id } = await homes.clients.http.createSession({})
  tui.press('5')
  const text = await tui.waitForText(/headless.* HeadlessChrome/)
  expect(text).toMatch(/memory +[\d.]+ [MG]B/)
  expect(text).toMatch(/waiting +0 sessions for a browser/)
  expect(text).toContain('1 sessions, 0 shells')
  await homes.clients.http.closeSession({ session_id: session_id! })
})

test('inbox: shows handoffs and actions together, and the end of a handoff', async () => {
  const client = homes.clients.http
  const { session_id: id } = await client.createSession({ headless: true, start_url: site.url, confirm: ['eval'] })
  const { session_id: other } = await client.createSession({ headless: true, start_url: site.url })
  const session_id = other!
  tui = open()
  const acted = client.runCommands({
    session_id: id!,
    commands: [{ command: 'evaluate', data: { expression: '1 + 1' } }],
  })
  await tui.waitForText('6 Inbox (1)')
  const { handoff_id } = await client.requestHandoff({ session_id, reason: 'solve the captcha', until: 'text:Done' })
  tui.press('6')
  await tui.waitForText('6 Inbox (2)')
  const list = await tui.waitForText('2 waiting; press Enter to read one')
  expect(list).toMatch(/eval .*evaluate[\s\S]*handoff .*waiting +solve the captcha/)
  tui.press('G enter')
  const view = await tui.waitForText('Do this?')
  expect(view).toMatch(/status waiting\s+ends with text:Done[\s\S]*solve the captcha[\s\S]*http:\/\/[\s\S]*token=/)
  await client.withdrawHandoff({ session_id, handoff_id })
  await tui.waitForText(/status withdrawn[\s\S]*It has ended/)
  tui.press('escape')
  await tui.waitForText('1 waiting')
  await client.requestHandoff({ session_id, reason: 'accept the terms' })
  await tui.waitForText('accept the terms')
  tui.press('G x')
  await tui.waitForText('Withdraw the handoff: accept the terms?')
  tui.press('y')
  await tui.waitForText('withdrawn: accept the terms')
  tui.press('g enter')
  await tui.waitForText('Approve this?')
  tui.press('a')
  await tui.waitForText('0 waiting')
  expect(await acted).toMatchObject({ success: true })
  await client.closeSession({ session_id })
  await client.closeSession({ session_id: id! })
})

test('relay: shows console, tabs, and network with details and curl, and sends a raw call', async () => {
  const foreign = await startForeignBrowser()
  const connected = await connectBrowser({
    browser: foreign.url,
    engine: `unix:${homes.stateDir}/test.sock`,
    name: 'laptop',
  })
  try {
    await waitUntil(async () => (await homes.clients.http.getRelay({ id: connected.id })).active_target_id !== null)
    await homes.clients.http.runCommands({
      session_id: connected.id,
      commands: [{ command: 'navigate_to', data: { url: `${site.url}/page` } }],
    })
    tui = open()
    tui.press('2')
    await tui.waitForText(/laptop +connected/)
    tui.press('enter')
    await tui.waitForText(/200 +GET +fetch .*\/data/)
    tui.press('/')
    await tui.waitForText('filter: ')
    tui.type('/data\r')
    await expect.poll(tui.text).not.toContain('/page')
    tui.press('enter')
    await tui.waitForText('"type": "request"')
    tui.press('y')
    expect(await tui.waitForText(`curl '${site.url}/data'`)).toContain('--compressed')
    const [, copied] = /\u001B\]52;c;([\w+/=]+)\u0007/.exec(tui.output())!
    expect(Buffer.from(copied!, 'base64').toString()).toContain(`curl '${site.url}/data'`)
    tui.press('escape')
    await tui.waitForText('with "/data"')
    tui.press('/')
    await tui.waitForText('filter: ')
    tui.press('ctrl+u enter tab')
    await tui.waitForText('log: hello from the page')
    tui.press(':')
    await tui.waitForText('method {params}')
    tui.type('Runtime.evaluate {"expression":"6*7"}\r')
    await tui.waitForText('"value": 42')
    tui.press('escape')
    await tui.waitForText('log: hello from the page')
    tui.press('tab')
    await tui.waitForText(/[●○] Page/)
  } finally {
    await connected.stop()
    await foreign.close()
  }
})

describe.skipIf(busybox.absent !== null)(`shell: ${busybox.absent ?? busybox.image}`, () => {
  test('runs commands with their output, shows files in a viewer, and lists artifacts', async () => {
    tui = open()
    tui.press('3')
    await tui.waitForText('no shell sessions')
    tui.press('c')
    await tui.waitForText('image')
    tui.type(`${busybox.image}\r`)
    await tui.waitForText(/ready .*network none/)
    tui.press('enter')
    await tui.waitForText('the folder is empty')
    tui.press('i')
    await tui.waitForText('$ ')
    tui.type('mkdir notes; echo one two > notes/a.txt; echo kept > /output/b.txt; cat notes/a.txt; exit 3\r')
    expect(await tui.waitForText('[exit code 3]')).toContain('one two')
    tui.press('tab')
    await tui.waitForText(/▾ notes\/[\s\S]*a\.txt +8 B/)
    tui.press('j enter')
    await tui.waitForText('/workspace/notes/a.txt (8 B)')
    tui.press('escape')
    await tui.waitForText(/a\.txt +8 B/)
    tui.press('tab')
    await tui.waitForText('/output/b.txt')
    tui.press('escape')
    await tui.waitForText(/1 shell session\n/)
    tui.press('x')
    await tui.waitForText('Stop ')
    tui.press('y')
    await tui.waitForText(/sh_\S+ +stopped/)
  })
})
