import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { keyHolder, type KeyHolder } from '../support/owned-objects.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
let site: Site
let folder: string
/** The user of the current test, whose session is new. */
let user: KeyHolder
beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite({ '/': '<!doctype html><title>Shop</title><h1>Offers</h1>' })
  folder = await mkdtemp(join(tmpdir(), 'bax-cli-'))
})
beforeEach(async () => {
  user = await keyHolder(homes)
})
afterEach(() => user.client.closeSessions())
afterAll(async () => {
  await homes.close()
  await site.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (...argv: string[]) =>
  bax(argv, {
    cwd: folder,
    env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: join(folder, 'state'), BAX_API_KEY: user.key },
  })

test('routes take their bodies from files, and their IDs and settings in force are printed', async () => {
  await writeFile(join(folder, 'items.json'), '{"from":"file"}')
  await writeFile(join(folder, 'bytes.bin'), Buffer.from([0, 255, 7]))
  const words = [
    ['do', 'navigate-to', site.url],
    ['then', 'add-route', '**/items', '--body', '@items.json', '--content-type', 'application/json'],
    ['then', 'add-route', '**/bytes', '--body-base64', '@bytes.bin'],
    ['then', 'evaluate', `fetch('/items').then(r => r.json()).then(({from}) => from)`],
    ['then', 'evaluate', `fetch('/bytes').then(async r => [...new Uint8Array(await r.arrayBuffer())].join())`],
    ['then', 'emulate', '--color-scheme', 'dark'],
    ['--headless'],
  ]
  const { stdout, stderr } = await run(...words.flat())
  expect(stderr).not.toContain('error')
  expect(stdout).toBe('route_1\nroute_2\nfile\n0,255,7\n{\n  "color_scheme": "dark"\n}\n')
})

test('a file that is not text is refused as text', async () => {
  await writeFile(join(folder, 'image.bin'), Buffer.from([0x89, 0xff]))
  const { code, stderr } = await run('do', 'add-route', '**', '--body', '@image.bin')
  expect(code).toBe(2)
  expect(stderr).toMatch(/--body: cannot read .*image\.bin: it is not UTF-8 text/)
})

test('scripts have the commands too', async () => {
  await writeFile(
    join(folder, 'routes.yaml'),
    `name: routes
steps:
  - navigate_to: ${site.url}
  - add_route: { url: '**/gone', status: 410 }
  - evaluate: fetch('/gone').then(r => r.status)
  - list_requests: { status: 4xx }
`,
  )
  const { code, stdout, stderr } = await run('run', 'routes.yaml')
  expect({ code, stderr, stdout }).toMatchObject({ code: 0 })
})

test('words that people type for commands and values work', async () => {
  const words = ['do', 'navigate-to', site.url, 'then', 'network', 'har', 'start']
  const isOnline = ['then', 'evaluate', 'navigator.onLine']
  const offline = ['then', 'set', 'offline', 'on', ...isOnline, 'then', 'set', 'offline', 'off', ...isOnline]
  const { stdout } = await run(...words, ...offline, '--headless')
  expect(stdout.match(/^(?:true|false)$/gm)).toEqual(['false', 'true'])
})

test('a reference without @ gets a hint', async () => {
  const { code, stderr } = await run(
    'do',
    'navigate-to',
    site.url,
    'then',
    'click',
    'e3',
    '--timeout-ms',
    '700',
    '--headless',
  )
  expect(code).toBe(1)
  expect(stderr).toContain('hint: did you mean @e3?')
})

test('hints name commands as they are typed', async () => {
  const { stderr } = await run('do', 'navigate-to', site.url, 'then', 'get-request', '9999', '--headless')
  expect(stderr).toMatch(/hint: .*list-requests/)
})

test('a screenshot has the format of its file name', async () => {
  const open = ['do', 'navigate-to', site.url, 'then', 'screenshot']
  const start = async (name: string) => (await readFile(join(folder, name))).subarray(0, 4).toString('latin1')
  await run(...open, 'page.jpg', '--headless')
  expect(await start('page.jpg')).toBe('\u00ff\u00d8\u00ff\u00e0')
  await run(...open, '-o', 'page.webp', '--headless')
  expect(await start('page.webp')).toBe('RIFF')
  await run(...open, 'page.jpg', '--format', 'png', '--headless')
  expect(await start('page.jpg')).toBe('\u0089PNG')
  const { code, stderr } = await run(...open, 'page.bmp', '--headless')
  expect(code).not.toBe(0)
  expect(stderr).toContain('page.bmp has no extension of an image format: use .png, .jpg, .jpeg or .webp')
  await writeFile(
    join(folder, 'shot.yaml'),
    `steps:\n  - navigate_to: ${site.url}\n  - screenshot: {path: step.webp}\n`,
  )
  expect(await run('run', 'shot.yaml')).toMatchObject({ code: 0 })
  expect(await start('step.webp')).toBe('RIFF')
})

test('a session whose page could not be opened is listed without internal URLs', async () => {
  const { session_id } = await user.client.createSession({})
  const commands = [{ command: 'navigate_to', data: { url: 'http://127.0.0.1:1/' } }]
  await user.client.runCommands({ session_id, commands })
  const { sessions } = await user.client.listSessions({})
  expect(sessions.find((session) => session.session_id === session_id)?.url).toBe('about:blank')
  await user.client.closeSession({ session_id: session_id! })
})

test('messages about a form that was not submitted are printed', async () => {
  const page = 'data:text/html,<form><input name=email required><button>Send</button></form>'
  const words = ['do', 'navigate-to', page, 'then', 'click', 'button', '--headless']
  const { code, stderr } = await run(...words)
  expect(code).toBe(0)
  expect(stderr).toMatch(/^click: the browser did not accept the form: email: .+$/m)
})

test('a step takes one file without a list, and its notes are in reports', async () => {
  await writeFile(join(folder, 'a.txt'), 'a')
  const page = 'data:text/html,<input type=file id=f><button>A</button><button>B</button>'
  const steps = `session: {start_url: '${page}'}\nsteps:\n  - upload_files: ['#f', ./a.txt]\n  - click: button\n`
  await writeFile(join(folder, 'upload.yaml'), steps)
  const { code, stdout } = await run('run', 'upload.yaml', '--reporter', 'junit')
  expect(code).toBe(0)
  expect(stdout).toContain('<system-out>button matches 2 elements: the first visible one is used</system-out>')
  await run('run', 'upload.yaml', '--reporter', 'html=report.html')
  expect(await readFile(join(folder, 'report.html'), 'utf8')).toContain('button matches 2 elements')
})
