/** Sessions on a site with a shop, log-ins and tabs, whose commands become scripts. */
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { bax, type CliResult } from './cli.ts'
import { type Homes, openHomes } from './homes.ts'
import { type ScriptFolder, scriptFolder } from './scripts.ts'
import { serveSite, type Site } from './site.ts'

export interface SessionScripts {
  readonly homes: Homes
  readonly site: Site
  /** Working folder of the command lines, empty at the beginning of each test. */
  readonly folder: ScriptFolder
  /** Orders of the shop. */
  readonly orders: unknown[]
  /** Bodies of log-ins. */
  readonly logins: string[]
  env(): { BAX_SERVER: string; BAX_STATE_DIR: string }
  cli(argv: readonly string[], more?: Record<string, string>): Promise<CliResult>
  /** Runs a command line on a session, and expects success. */
  line(session: string, ...argv: string[]): Promise<CliResult>
  /** Returns the reference of the first line of an observation that matches. */
  refOf(session: string, text: RegExp): Promise<string>
  createSession(): Promise<string>
  /** Exports a session to a file. */
  exported(session: string, file?: string, flags?: readonly string[]): Promise<{ script: string; stderr: string }>
  /** Runs a script three times in new sessions. */
  replayThrice(file: string, secrets?: Record<string, string>): Promise<void>
}

const apps = join(import.meta.dirname, '../fixtures/apps')
const html = (title: string, body: string) => `<!doctype html><html lang=en><title>${title}</title>${body}`

function bodyOf(request: IncomingMessage, use: (body: string) => void): void {
  let body = ''
  request.on('data', (part: Buffer) => (body += part.toString()))
  request.on('end', () => use(body))
}

/** A page with one element in each row, 40 pixels high. */
const rows = (title: string, elements: readonly string[]) =>
  html(
    title,
    `<style>* { margin: 0; box-sizing: border-box } body > div { height: 40px; width: 200px } div > * { width: 200px; height: 40px; display: block }</style>
    ${elements.map((element) => `<div>${element}</div>`).join('')}`,
  )

const account = html(
  'Account',
  `<h1>Hello Ann</h1><p id=time>${'<script>document.write(Date.now())</script>'}</p><a href=/file download>Invoice</a>
  <a href=/help>Help</a><button onclick="setTimeout(() => location.href = '/order', 300)">Order</button>`,
)

/** Pages of the site, which adds to the orders and the log-ins. */
function pages(shop: string, orders: unknown[], logins: string[]): Parameters<typeof serveSite>[0] {
  let orderCount = 41_000
  return {
    '/shop': shop,
    '/done': (request: IncomingMessage, response: ServerResponse) =>
      bodyOf(request, (body) => {
        orders.push(JSON.parse(body))
        response.end()
      }),
    '/login': html(
      'Login',
      `<form method=post action=/in><label>User <input name=user></label><label>Password <input type=password name=word></label>
      <label>Code <input name=otp></label><label><input type=checkbox name=stay> Stay</label><button>Log in</button></form>`,
    ),
    '/in': (request: IncomingMessage, response: ServerResponse) =>
      bodyOf(request, (body) => {
        logins.push(body)
        response.writeHead(303, { location: '/account' })
        response.end()
      }),
    '/account': account,
    '/rows-login': rows('Login', [
      '<input name=user aria-label=User form=in>',
      '<input type=password name=word aria-label=Password form=in>',
      '<label><input type=checkbox name=stay form=in> Stay</label>',
      '<form id=in method=post action=/in><button>Log in</button></form>',
    ]),
    '/unreadable': rows('Unreadable', [
      '<x-field></x-field>',
      '<div class=CodeMirror><textarea style="width: 200px"></textarea></div>',
      `<input oninput="this.value = ''">`,
      `<script>document.querySelector('x-field').attachShadow({ mode: 'closed' }).innerHTML = '<input style="width: 200px">'</script>`,
    ]),
    '/toggles': rows('Toggles', [
      '<label><input type=checkbox> News</label>',
      '<input type=checkbox checked aria-label=Terms>',
      `<div role=switch tabindex=0 aria-checked=false onclick="ariaChecked = ariaChecked === 'true' ? 'false' : 'true'">Dark</div>`,
      '<label><input type=radio name=size> Small</label>',
      '<input type=checkbox aria-label=Stubborn onclick="event.preventDefault(); document.title = 4">',
      '<input type=checkbox aria-label=Keyed>',
      '<label><input type=checkbox> <a href="#terms">Read</a></label>',
    ]),
    '/rows': rows('Rows', [
      '<button ondblclick="this.textContent += 2">Twice</button>',
      '<button oncontextmenu="event.preventDefault(); this.textContent += 3">Right</button>',
      '<select aria-label=Size><option>S<option>M<option>L</select>',
      '<input type=range aria-label=Volume value=0>',
      `<input aria-label=City onkeydown="
        if (event.key === 'ArrowDown') this.dataset.chosen = this.value + 'ndon'
        if (event.key === 'Enter') city.textContent = this.value = this.dataset.chosen">`,
      '<p id=city></p>',
      '<div onmousedown="this.dataset.held = true">Thing</div>',
      `<div onmouseup="if (document.querySelector('[data-held]')) this.textContent = 'Has it'">Box</div>`,
      `<button onclick="document.title = prompt('Name?')">Ask</button>`,
      `<button onclick="window.open('/terms')">Open</button>`,
    ]),
    '/get-login': html(
      'Login',
      `<form action=/account><label>User <input name=user></label><label>Password <input type=password name=pw></label>
      <button>Log in</button></form>`,
    ),
    '/tabs': html(
      'Tabs',
      `<iframe srcdoc="<button onclick='this.textContent = 1'>Inside</button>"></iframe>
      <button id=ask onclick="document.querySelector('#answer').textContent = confirm('Sure?') ? 'yes, sure' : 'no'">Ask</button>
      <p id=answer></p><button onclick="window.open('/terms')">Open</button><input id=language>
      <script>document.querySelector('#language').value = navigator.language</script>`,
    ),
    '/terms': html(
      'Terms',
      `<button onclick="this.insertAdjacentHTML('afterend', '<p id=accepted>Accepted')">Accept</button>`,
    ),
    '/help': html('Help', '<h1>Help</h1>'),
    '/table': html(
      'Table',
      `<table>${['A', 'B'].map((name) => `<tr><td>${name}<td><button>Delete</button>`).join('')}</table>
      <label><input type=checkbox> Accept >> all</label>`,
    ),
    '/order': (_request: IncomingMessage, response: ServerResponse) => {
      response.writeHead(302, { location: `/orders/${(orderCount += 1)}` })
      response.end()
    },
    '/file': (_request: IncomingMessage, response: ServerResponse) => {
      response.setHeader('content-disposition', 'attachment; filename="invoice.txt"')
      response.end('paid')
    },
  }
}

/** Opens an engine and a site for the tests of a file, and a folder for each test. */
export function sessionScripts(): SessionScripts {
  let homes: Homes
  let site: Site
  let folder: ScriptFolder
  const orders: unknown[] = []
  const logins: string[] = []

  beforeAll(async () => {
    ;[homes, site] = await Promise.all([
      openHomes(),
      serveSite(pages(await readFile(join(apps, 'shop.html'), 'utf8'), orders, logins)),
    ])
  })
  afterAll(async () => {
    await homes.close()
    await site.close()
  })
  beforeEach(async () => {
    folder = await scriptFolder()
  })
  afterEach(() => folder.close())

  const env = () => ({ BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: homes.stateDir })
  const cli = (argv: readonly string[], more: Record<string, string> = {}) =>
    bax(argv, { cwd: folder.path, env: { ...env(), ...more } })

  async function line(session: string, ...argv: string[]) {
    const result = await cli([...argv, '-s', session])
    expect([argv, result.code, result.code === 0 ? '' : result.stderr]).toEqual([argv, 0, ''])
    return result
  }

  async function refOf(session: string, text: RegExp): Promise<string> {
    const { stdout } = await line(session, 'observe')
    const found = stdout.split('\n').find((each) => text.test(each))
    return `@${/\b(?:f\d+)?e\d+\b/.exec(found!)![0]}`
  }

  async function createSession(): Promise<string> {
    return (await homes.clients.http.createSession({ headless: true })).session_id!
  }

  async function exported(session: string, file = 'flow.yaml', flags: readonly string[] = []) {
    const { stderr } = await line(session, 'session', 'script', '-o', file, ...flags)
    return { script: await folder.read(file), stderr }
  }

  async function replayThrice(file: string, secrets: Record<string, string> = {}): Promise<void> {
    for (let run = 0; run < 3; run++) {
      const { code, stderr, stdout } = await cli(['run', file, '--strict'], secrets)
      expect([code, code === 0 ? '' : `${stdout}${stderr}\n${await folder.read(file)}`]).toEqual([0, ''])
    }
  }

  return {
    get homes() {
      return homes
    },
    get site() {
      return site
    },
    get folder() {
      return folder
    },
    orders,
    logins,
    env,
    cli,
    line,
    refOf,
    createSession,
    exported,
    replayThrice,
  }
}
