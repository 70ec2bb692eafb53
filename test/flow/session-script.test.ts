/** The commands of a session become a script that repeats them in new sessions. */
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { connectMcp } from '../support/mcp.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { runPlaywrightTest } from '../support/playwright-test.ts'
import { type ScriptFolder, scriptFolder } from '../support/scripts.ts'
import { command } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'

const apps = join(import.meta.dirname, '../fixtures/apps')
const html = (title: string, body: string) => `<!doctype html><html lang=en><title>${title}</title>${body}`

let homes: Homes
let site: Site
let folder: ScriptFolder
/** Orders of the shop, and logins. */
const orders: unknown[] = []
const logins: string[] = []
let orderCount = 41_000

function bodyOf(request: IncomingMessage, use: (body: string) => void): void {
  let body = ''
  request.on('data', (part: Buffer) => (body += part.toString()))
  request.on('end', () => use(body))
}

const account = html(
  'Account',
  `<h1>Hello Ann</h1><p id=time>${'<script>document.write(Date.now())</script>'}</p><a href=/file download>Invoice</a>
  <a href=/help>Help</a><button onclick="setTimeout(() => location.href = '/order', 300)">Order</button>`,
)

beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes(),
    serveSite({
      '/shop': await readFile(join(apps, 'shop.html'), 'utf8'),
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
      '/order': (_request: IncomingMessage, response: ServerResponse) => {
        response.writeHead(302, { location: `/orders/${(orderCount += 1)}` })
        response.end()
      },
      '/file': (_request: IncomingMessage, response: ServerResponse) => {
        response.setHeader('content-disposition', 'attachment; filename="invoice.txt"')
        response.end('paid')
      },
    }),
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

/** Runs a command line on a session, and expects success. */
async function line(session: string, ...argv: string[]) {
  const result = await cli([...argv, '-s', session])
  expect([argv, result.code, result.code === 0 ? '' : result.stderr]).toEqual([argv, 0, ''])
  return result
}

/** Returns the reference of the first line of an observation that matches. */
async function refOf(session: string, text: RegExp): Promise<string> {
  const { stdout } = await line(session, 'observe')
  const found = stdout.split('\n').find((each) => text.test(each))
  return `@${/\b(?:f\d+)?e\d+\b/.exec(found!)![0]}`
}

async function createSession(): Promise<string> {
  return (await homes.clients.http.createSession({ headless: true })).session_id!
}

/** Exports a session to a file. */
async function exported(session: string, file = 'flow.yaml', flags: readonly string[] = []) {
  const { stderr } = await line(session, 'session', 'script', '-o', file, ...flags)
  return { script: await folder.read(file), stderr }
}

/** Runs a script three times in new sessions. */
async function replayThrice(file: string, secrets: Record<string, string> = {}): Promise<void> {
  for (let run = 0; run < 3; run++) {
    const { code, stderr, stdout } = await cli(['run', file, '--strict'], secrets)
    expect([code, code === 0 ? '' : `${stdout}${stderr}\n${await folder.read(file)}`]).toEqual([0, ''])
  }
}

describe('a script of a session', { timeout: 120_000 }, () => {
  test('repeats command lines and HTTP commands, with references as selectors, and without failures', async () => {
    const session = await createSession()
    await line(session, 'open', `${site.url}/shop`)
    await line(session, 'fill', await refOf(session, /searchbox/), 'earl')
    await line(session, 'fill', 'label=Search', 'darj')
    await cli(['click', '#nothing', '--timeout-ms', '300', '-s', session])
    await line(session, 'click', await refOf(session, /button "Add"/))
    await line(session, 'wait', 'h1 >> text=Cart')
    expect((await line(session, 'get', 'title')).stdout).toBe('Tea shop\n')
    await line(session, 'get', 'text', 'h1')
    await homes.clients.http.runCommands({
      session_id: session,
      commands: [
        command('fill', { selector: 'input[type=number]', text: '2' }),
        command('answer_dialog', { accept: true, text: 'TEA' }),
        command('click', { selector: 'text=Coupon' }),
        command('click', { selector: 'main > button:last-child' }),
        command('fill_form', { fields: { Name: 'Ann', Country: 'Germany', 'Gift wrapping': true, Fast: true } }),
        command('click', { selector: 'button[value=order]' }),
        command('wait_for', { text: 'Thank you' }),
        command('get_text', { selector: 'h1' }),
      ],
    })
    const { script, stderr } = await exported(session)
    expect(script).not.toMatch(/e\d+$|nothing|earl/m)
    expect(script).toContain('selector: role=searchbox[name="Search"]')
    expect(script).toContain('click: role=button[name="Order"]')
    expect(script).toMatch(/verify:\n {6}selector: h1\n {6}text: Thank you/)
    expect(script).toMatch(/verify:\n {6}title: Tea shop/)
    expect(stderr).toContain('left out: 1 (repeated), 1 (failed)')
    await expect.poll(() => orders.length).toBe(1)
    await replayThrice('flow.yaml')
    await exported(session, 'shop.spec.ts', ['--format', 'playwright'])
    await runPlaywrightTest(folder.path, 'shop.spec.ts')
    await expect.poll(() => orders.length).toBe(5)
    expect(new Set(orders.map((order) => JSON.stringify(order)))).toEqual(
      new Set([
        '{"name":"Ann","country":"de","gift":"on","speed":"fast","coupon":"TEA","budget":10,"cart":[["Darjeeling",2]]}',
      ]),
    )
  })

  test('has references instead of secrets, waits for what a step causes, and patterns of URLs', async () => {
    const session = await createSession()
    const mcp = await connectMcp([], { cwd: folder.path, env: env() }, [])
    await line(session, 'open', `${site.url}/login`)
    await mcp.call('browser_act', { session, commands: [`fill 'label=User' ann`, `fill 'label=Password' 'geheim!'`] })
    await line(session, 'fill', 'input[name=otp]', '123456')
    await line(session, 'check', 'label=Stay')
    await line(session, 'uncheck', 'label=Stay')
    await mcp.call('browser_act', { session, commands: [`press-key Enter --selector 'input[name=word]'`] })
    await line(session, 'wait', '--url', '**/account')
    await line(session, 'get', 'text', '#time')
    await line(session, 'click', 'text=Help')
    await line(session, 'back')
    await line(session, 'click', 'text=Invoice')
    await line(session, 'click', await refOf(session, /button "Order"/))
    await expect.poll(async () => (await line(session, 'get', 'url')).stdout).toContain('/orders/')
    const tool = await mcp.call('browser_session_script', { session })
    expect(tool.text).toMatch(/\d+ steps, \d+ commands left out; needs the environment variables PASSWORD, PASSWORD_2/)
    expect(tool.text).toContain('text: ${env.PASSWORD}')
    await mcp.close()
    const { script, stderr } = await exported(session)
    expect(script).not.toMatch(/geheim|123456|Help|orders.\d/)
    expect(script).toMatch(/^secrets:\n {2}- PASSWORD\n {2}- PASSWORD_2\n/)
    expect(script).toContain('text: ${env.PASSWORD}')
    expect(script).toContain('# downloads "invoice.txt"')
    expect(script).toContain(`url: ${site.url}/orders/*{,?**}`)
    expect(stderr).toContain('set PASSWORD, PASSWORD_2 to run it')
    await replayThrice('flow.yaml', { PASSWORD: 'geheim!', PASSWORD_2: '123456' })
    const test = await exported(session, 'login.spec.ts', ['--format', 'playwright'])
    expect(test.script).not.toMatch(/geheim|123456/)
    expect(test.script).toContain("await page.getByRole('textbox', { name: 'Password' }).fill(process.env.PASSWORD!)")
    await runPlaywrightTest(folder.path, 'login.spec.ts', { PASSWORD: 'geheim!', PASSWORD_2: '123456' })
    expect(logins).toEqual(Array.from({ length: 5 }, () => 'user=ann&word=geheim%21&otp=123456'))
  })

  test('keeps text that looks like a reference as text, also beside a secret', async () => {
    const session_id = await createSession()
    const before = logins.length
    await homes.clients.http.runCommands({
      session_id,
      commands: [
        command('navigate_to', { url: `${site.url}/login` }),
        command('fill_form', { fields: { User: '${env.PASSWORD}$${env.HOME}', Password: 'geheim!' } }),
        command('click', { selector: 'button' }),
        command('wait_for', { text: 'Hello Ann' }),
      ],
    })
    const { script } = await exported(session_id)
    expect(script).toMatch(/^secrets:\n {2}- PASSWORD\n[^ ]/)
    expect((await cli(['run', 'flow.yaml', '--strict'], { PASSWORD: 'geheim!' })).code).toBe(0)
    await exported(session_id, 'text.spec.ts', ['--format', 'playwright'])
    await runPlaywrightTest(folder.path, 'text.spec.ts', { PASSWORD: 'geheim!' })
    const user = encodeURIComponent('${env.PASSWORD}$${env.HOME}')
    expect(logins.slice(before)).toEqual(Array.from({ length: 3 }, () => `user=${user}&word=geheim%21&otp=`))
  })

  test('has no value of a credential, also where a form puts it into the URL', async () => {
    const client = homes.clients.http
    await client.addCredential({ name: 'shop', origins: [site.url], username: 'ann', password: 'correct (horse)' })
    const session = await createSession()
    await line(session, 'open', `${site.url}/get-login`)
    await line(session, 'login', 'shop')
    await line(session, 'get', 'url')
    await line(session, 'click', 'text=Help')
    const { script } = await exported(session)
    const waits = script.split('\n').filter((text) => text.includes('url:'))
    expect(script).not.toMatch(/correct|horse/)
    expect(waits).not.toEqual([])
    for (const format of ['yaml', 'playwright'] as const)
      for (const from of [1, 2, 3, 4]) {
        const later = (await client.getSessionScript({ session_id: session, format, from })).script
        expect(later).not.toMatch(/correct|horse/)
        if (format === 'yaml' && from === 4) expect(later).toMatch(/# a secret was removed from this step\n.*pw=\*{3}/)
      }
    await replayThrice('flow.yaml')
    await client.deleteCredential({ name: 'shop' })
  })

  test('follows popups, tabs and frames, and answers dialogs before the step that opens them', async () => {
    const { session_id } = await homes.clients.http.createSession({
      headless: true,
      dialogs: 'ask',
      locale: 'de-AT',
      viewport: { width: 900, height: 700 },
    })
    const session = session_id!
    await line(session, 'open', `${site.url}/tabs`)
    await line(session, 'click', await refOf(session, /button "Inside"/))
    expect((await cli(['click', '#ask', '-s', session])).stderr).toContain('[dialog_blocking]')
    await line(session, 'dialog', 'accept')
    await line(session, 'get', 'text', '#answer')
    await line(session, 'click', 'text=Open')
    await line(session, 'click', 'text=Accept')
    await line(session, 'is', 'visible', '#accepted')
    await line(session, 'tab', 'tab_1')
    await line(session, 'get', 'value', '#language')
    await line(session, 'get', 'count', 'button')
    const { script } = await exported(session)
    expect(script).toContain('click: frame=iframe >> role=button[name="Inside"]')
    expect(script).toMatch(/answer_dialog:.*\n.*\n? {2}- click: role=button\[name="Ask"\]/)
    expect(script).toMatch(/^session:\n {2}viewport:/)
    await replayThrice('flow.yaml')
    await exported(session, 'tabs.spec.ts', ['--format', 'playwright'])
    await runPlaywrightTest(folder.path, 'tabs.spec.ts')
    const late = await exported(session, 'late.yaml', ['--from', '10', '--verify'])
    expect(late.script).toContain('# starts with command 10 of the session')
    expect(late.stderr).toContain('steps can be replayed')
  })

  test('is refused while there is nothing to repeat, and keeps the latest commands only', async () => {
    const session_id = await createSession()
    await expect(homes.clients.http.getSessionScript({ session_id })).rejects.toMatchObject({ code: 'invalid_request' })
    const commands = Array.from({ length: 100 }, (_, at) =>
      command('evaluate', { expression: `'${'x'.repeat(20_000)}${at}'` }),
    )
    await homes.clients.http.runCommands({ session_id, commands })
    const { commands: count, script, steps } = await homes.clients.http.getSessionScript({ session_id })
    expect(count).toBe(100)
    expect(steps).toBeLessThan(60)
    expect(script).toMatch(/^# starts with command \d+ of the session\n/)
    expect(script.length).toBeLessThan(1_100_000)
  })
})
