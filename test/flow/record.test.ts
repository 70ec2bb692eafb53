/** Recording a person's input as a script, and running the script as it was written. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { bax } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { startRecording } from '../support/recorder.ts'
import { type ScriptFolder, scriptFolder } from '../support/scripts.ts'
import { serveSite, type Site } from '../support/site.ts'

/** Shows in the title which elements were clicked, and what the fields contain. */
const reporting = `<script>
  const clicked = []
  const show = () => (top.document.title = [...clicked, ...[...document.querySelectorAll('[data-n]')].filter((field) => 'value' in field && field.type !== 'submit').map((field) => field.dataset.n + '=' + (field.type === 'checkbox' ? field.checked : field.type === 'password' ? field.value.length : field.value))].join(' '))
  for (const type of ['click', 'dblclick', 'contextmenu'])
    addEventListener(type, ({ target }) => { if (target.dataset.n && !target.matches('input, select')) clicked.push(type + ':' + target.dataset.n); show() })
  addEventListener('input', show)
  addEventListener('message', ({ data }) => { clicked.push(data); show() })
</script>`

const shop = `<!doctype html><title>Shop</title><h1 data-n=title>Shop</h1>
  <div><button data-n=buy1>Buy</button><button data-n=buy2>Buy</button><button data-n=later>Buy later</button></div>
  <form onsubmit="return false"><label>Email <input data-n=email></label><label>Email of a friend <input data-n=friend></label>
  <input placeholder="Search the shop" data-n=q><label><input type=checkbox data-n=agree> Agree</label>
  <select aria-label=Size data-n=size><option value=s>Small<option value=l>Large</select>
  <textarea title="A note" data-n=note></textarea></form>
  <div data-testid=card data-n=card>Card</div><p data-n=text>Some "quoted" text</p>
  <iframe name=pay srcdoc="<label>Card number <input oninput='parent.postMessage(&quot;number:&quot; + this.value, &quot;*&quot;)'></label><button onclick='parent.postMessage(&quot;pay&quot;, &quot;*&quot;)'>Pay</button>"></iframe>
  ${reporting}`

const login = `<!doctype html><title>Login</title><form onsubmit="return false"><label>Name <input name=user data-n=user></label>
  <label>Password <input type=password name=pass data-n=pass></label>
  <button type=button data-n=reveal onclick="document.querySelector('[name=pass]').type = 'text'">Show password</button><button>Sign in</button></form>${reporting}`

const menu = (body: string) => `<!doctype html><title>Menu</title>${body}${reporting}`

let homes: Homes
let site: Site
let folder: ScriptFolder
beforeAll(async () => {
  ;[homes, folder] = await Promise.all([openHomes(), scriptFolder()])
  site = await serveSite({
    '/': shop,
    '/login': login,
    '/links': '<!doctype html><title>Links</title><a href="/links2">Next</a> <a href="/pop" target=_blank>Popup</a>',
    '/links2': '<!doctype html><title>Second</title><h1>Second</h1><button onclick="history.back()">Back</button>',
    '/pop': '<!doctype html><title>Popup</title><button onclick="document.title = 1">Inside</button>',
    '/menu1': menu('<nav><button id=basket data-n=basket>Basket</button><button id=help>Help</button></nav>'),
    // Renamed.
    '/menu2': menu('<nav><button id=basket data-n=basket>Cart</button><button id=help>Help</button></nav>'),
    // Two elements that are equally similar.
    '/menu3': menu('<nav><button id=basket>Cart</button></nav><div><button id=basket>Bag</button></div>'),
    '/menu4': menu('<p>Nothing</p>'),
    '/menu5': menu('<button id=help type=button>Help</button>'),
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
  await folder.close()
})

const env = () => ({ BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: homes.stateDir })
const run = (argv: readonly string[], more: Record<string, string> = {}) =>
  bax(['run', ...argv], { cwd: folder.path, env: { ...env(), ...more } })

type Steps = { steps: Record<string, unknown>[]; secrets?: string[] }
/** Returns steps as a person would write them. */
const withoutFingerprints = (steps: Steps['steps']) =>
  steps.map((step) => Object.fromEntries(Object.entries(step).filter(([key]) => key !== 'fingerprint')))

const read = (text: string) => parse(text) as Steps

describe('a recorded script', { timeout: 180_000 }, () => {
  test('repeats the input on the same elements', async () => {
    const recording = await startRecording(homes, folder.path, [site.url], 'shop.yaml')
    const { page } = recording
    await page.getByRole('button', { name: 'Buy', exact: true }).nth(1).click()
    await page.getByLabel('Email', { exact: true }).click()
    await page.keyboard.type('me@x')
    await page.keyboard.press('Tab')
    await page.keyboard.type('you@x')
    await page.getByPlaceholder('Search').fill('tea ${x}')
    await page.getByText('Agree').click()
    await page.getByLabel('Size').selectOption('l')
    await page.getByTitle('A note').fill('two\nlines')
    await page.getByTestId('card').click()
    await page.getByText('quoted').click()
    await page.getByRole('button', { name: 'Buy later' }).dblclick()
    await page.getByRole('heading').click({ button: 'right' })
    await page.frameLocator('iframe').getByLabel('Card number').fill('42')
    await page.frameLocator('iframe').getByRole('button').click()
    await recording.contains('name="Pay"')
    // The message of the frame arrives some time after the click.
    await page.waitForFunction(() => document.title.includes('pay'))
    const title = await page.title()
    recording.keys('tuv')
    // Complete while recording, so that a crash loses nothing.
    await recording.contains('verify:\n      selector')
    expect(await run(['shop.yaml', '--check'])).toMatchObject({ code: 0, stderr: '' })
    expect(await recording.end()).toMatchObject({ code: 0, stdout: '' })

    const { steps, secrets } = read(await recording.script())
    expect(secrets).toBeUndefined()
    expect(withoutFingerprints(steps)).toEqual([
      { navigate_to: site.url },
      { click: 'role=button[name*="Buy" i] >> nth=1' },
      { click: 'role=textbox[name="Email"]' },
      { fill: { selector: 'role=textbox[name="Email"]', text: 'me@x' } },
      { press_key: { selector: 'role=textbox[name="Email"]', key: 'Tab' } },
      { fill: { selector: 'role=textbox[name="Email of a friend"]', text: 'you@x' } },
      { fill: { selector: 'role=textbox[name="Search the shop"]', text: 'tea $${x}' } },
      { check: 'role=checkbox[name="Agree"]' },
      { select_option: { selector: 'label=Size', values: ['l'] } },
      { fill: { selector: 'role=textbox[name="A note"]', text: 'two\nlines' } },
      { click: '[data-testid="card"]' },
      { click: 'internal:text="Some \\"quoted\\" text"i' },
      { double_click: 'role=button[name="Buy later"]' },
      { click_advanced: { selector: 'role=heading[name="Shop"]', button: 'right' } },
      { fill: { selector: 'frame=iframe[name="pay"] >> role=textbox[name="Card number"]', text: '42' } },
      { click: 'frame=iframe[name="pay"] >> role=button[name="Pay"]' },
      { verify: { title: title.replaceAll('${', () => '$${') } },
      { wait_for: { url: `${site.url}/` } },
      { verify: { selector: 'frame=iframe[name="pay"] >> role=button[name="Pay"]' } },
    ])
    expect(recording.errors()).toContain('\n- check: role=checkbox[name="Agree"]\n')
    const again = await run(['shop.yaml'])
    expect(again).toMatchObject({ code: 0, stderr: '' })
    expect((await homes.clients.http.listSessions({})).sessions).toEqual([])
  })

  test('contains no password, and neither do the events and the log', async () => {
    const recording = await startRecording(homes, folder.path, [`${site.url}/login`], 'login.yaml')
    const { page, sessionId } = recording
    await page.getByLabel('Name').fill('anna')
    await page.locator('[name=pass]').pressSequentially('s3cret')
    await page.getByRole('button', { name: 'Show password' }).click()
    await page.locator('[name=pass]').pressSequentially('-more')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await recording.contains('Sign in')
    const log = await homes.clients.http.getSessionLog({ session_id: sessionId })
    const status = await homes.clients.http.recordSession({ session_id: sessionId, action: 'status' })
    expect(status.steps).toContainEqual(expect.objectContaining({ command: 'fill', secret: true }))
    const { stderr } = await recording.end()
    const script = await recording.script()
    expect(script + stderr + JSON.stringify([log, status])).not.toMatch(/s3cr|-more/)
    expect(read(script).secrets).toEqual(['PASSWORD'])
    expect(script).toContain('text: ${env.PASSWORD}')
    expect(await run(['login.yaml'])).toMatchObject({ code: 2 })
    const { code, stdout } = await run(['login.yaml'], { PASSWORD: 's3cret-more' })
    expect([code, stdout.includes('s3cret')]).toEqual([0, false])
  })

  test('follows typed URLs and the history, but not the links and scripts that an input repeats', async () => {
    const recording = await startRecording(homes, folder.path, [`${site.url}/links`], 'links.yaml')
    const { page } = recording
    await page.getByText('Next').click()
    await page.waitForURL('**/links2')
    await page.getByRole('button', { name: 'Back' }).click()
    await page.waitForURL('**/links')
    await recording.contains('"Back"')
    // Like a person, who looks at a page before leaving it.
    await page.goto(`${site.url}/links2`)
    await recording.contains(`navigate_to: ${site.url}/links2`)
    await page.goBack()
    await recording.contains('go_back')
    await page.goForward()
    await recording.contains('go_forward')
    await page.reload()
    await recording.contains('refresh')
    await recording.end()
    // Navigations that begin late are also waited for.
    const steps = read(await recording.script()).steps.filter((step) => !Object.hasOwn(step, 'wait_for'))
    const commands = steps.map((step) => (typeof step === 'string' ? step : Object.values(step)[0]))
    expect(commands).toEqual([
      `${site.url}/links`,
      'role=link[name="Next"]',
      'role=button[name="Back"]',
      `${site.url}/links2`,
      'go_back',
      'go_forward',
      'refresh',
    ])
    expect(await run(['links.yaml'])).toMatchObject({ code: 0 })
  })

  test('switches tabs', async () => {
    const recording = await startRecording(homes, folder.path, [`${site.url}/links`], 'tabs.yaml')
    const { page } = recording
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByText('Popup').click()])
    await popup.getByText('Inside').click()
    await recording.contains('Inside')
    expect(await run(['tabs.yaml'])).toMatchObject({ code: 0 })
    await page.getByText('Next').click()
    await recording.contains('Next')
    await page.waitForURL('**/links2')
    await popup.close()
    await recording.contains('close_tab')
    await recording.end()
    const { steps } = read(await recording.script())
    // A slow navigation is also waited for.
    expect(withoutFingerprints(steps).filter((step) => !Object.hasOwn(step, 'wait_for'))).toEqual([
      { navigate_to: `${site.url}/links` },
      { click: 'role=link[name="Popup"]' },
      { click: 'role=button[name="Inside"]' },
      { switch_tab: 'tab_1' },
      { click: 'role=link[name="Next"]' },
      { close_tab: { tab: 'tab_2' } },
    ])
  })
})

describe('a recording', () => {
  test('of an existing session leaves it open, and ends with it', async () => {
    const client = homes.clients.http
    await client.createSession({ requested_name: 'mine', start_url: `${site.url}/menu1` })
    const first = await startRecording(homes, folder.path, ['-s', 'mine'], 'mine.yaml')
    await first.page.getByText('Basket').click()
    await first.contains('Basket')
    expect(await first.end()).toMatchObject({ code: 0 })
    expect(read(await first.script()).steps[0]).toEqual({ navigate_to: `${site.url}/menu1` })
    const second = await startRecording(homes, folder.path, ['-s', 'mine', '--force'], 'mine.yaml')
    await client.closeSession({ session_id: 'mine' })
    expect(await second.end()).toMatchObject({ code: 0 })
  })

  test('is refused when it runs already, and for a file that exists', async () => {
    const client = homes.clients.http
    const { session_id = '' } = await client.createSession({})
    const state = await client.recordSession({ session_id, action: 'start' })
    expect(state).toEqual({ session_id, recording: true, steps: [] })
    await expect(client.recordSession({ session_id, action: 'start' })).rejects.toMatchObject({ code: 'conflict' })
    await client.recordSession({ session_id, action: 'stop' })
    await expect(client.recordSession({ session_id, action: 'stop' })).rejects.toMatchObject({ code: 'conflict' })
    await client.closeSession({ session_id })
    await writeFile(join(folder.path, 'mine'), 'precious')
    const refused = await bax(['record', site.url, '-o', 'mine'], { cwd: folder.path, env: env() })
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('mine exists already')
    expect(await readFile(join(folder.path, 'mine'), 'utf8')).toBe('precious')
  })
})

describe('a step whose selector no longer matches', () => {
  const recorded = (path: string, timeoutMs = 500) => `# The menu
steps:
  - navigate_to: ${site.url}${path} # first
  - click: role=button[name="Basket"] # the basket
    timeout_ms: ${timeoutMs}
    fingerprint: { tag: button, role: button, name: Basket, attributes: { id: basket }, position: 1 }
  - verify: {title: 'click:basket'}
`

  test('uses the element with the same fingerprint, and warns', async () => {
    const recording = await startRecording(homes, folder.path, [`${site.url}/menu1`], 'menu.yaml')
    await recording.page.getByText('Basket').click()
    await recording.contains('Basket')
    recording.keys('t')
    await recording.contains('verify')
    await recording.end()
    const script = await recording.script()
    expect(read(script).steps[1]).toEqual(
      read(recorded('/menu1')).steps[1] && {
        click: 'role=button[name="Basket"]',
        fingerprint: (read(recorded('/menu1')).steps[1] as Record<string, unknown>)['fingerprint'],
      },
    )

    // The time for the missing element is also that for the click on the one that is used instead.
    const healed = recorded('/menu2', 5000)
    await folder.write('healed.yaml', healed)
    const { code, stdout } = await run(['healed.yaml'])
    expect(code).toBe(0)
    expect(stdout).toContain(
      'warning: role=button[name="Basket"] matches nothing; used the element with the same fingerprint: ',
    )
    expect(await folder.read('healed.yaml')).toBe(healed)
  })

  test('is rewritten with --update, and nothing else is', async () => {
    const before = recorded('/menu2', 5000)
    await folder.write('update.yaml', before)
    const updated = await run(['update.yaml', '--update'])
    const text = await folder.read('update.yaml')
    const selector = (read(text).steps[1] as { click: string }).click
    const line = before.split('\n').findIndex((each) => each.includes('Basket')) + 1
    const [was, is] = [before, text].map((each) => each.split('\n')[line - 1]!.trim())
    const diff = `${line} - ${was}\n${line} + ${is}\n`
    expect(updated).toMatchObject({ code: 0, stderr: `updated 1 selector in update.yaml\n${diff}` })
    expect(selector).not.toContain('Basket')
    expect(text).toBe(before.replace('role=button[name="Basket"]', `'${selector}'`))
    const again = await run(['update.yaml', '--strict'])
    expect(again).toMatchObject({ code: 0 })
  })

  test('is not rewritten with --update by a script that fails', async () => {
    const before = `${recorded('/menu2', 5000)}  - click: '#gone'\n    timeout_ms: 100\n`
    await folder.write('failing.yaml', before)
    const { code, stdout, stderr } = await run(['failing.yaml', '--update'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toContain('used the element with the same fingerprint')
    expect(await folder.read('failing.yaml')).toBe(before)
  })

  test('fails with --strict, when several elements fit, and when none does', async () => {
    await folder.write('strict.yaml', recorded('/menu2'))
    const strict = await run(['strict.yaml', '--strict'])
    expect(strict.code).toBe(1)
    expect(strict.stdout).toContain('[element_not_found]')
    await folder.write('ambiguous.yaml', recorded('/menu3'))
    const ambiguous = await run(['ambiguous.yaml', '--update'])
    expect(ambiguous.code).toBe(1)
    expect(ambiguous.stdout).toMatch(/2 elements fit its fingerprint: button#basket "Cart" .*button#basket "Bag"/)
    expect(await folder.read('ambiguous.yaml')).toBe(recorded('/menu3'))
    // Of the two identifying facts, the help button has one that most buttons have.
    const weak = recorded('/menu5').replace('id: basket', 'id: basket, type: button')
    await folder.write('weak.yaml', weak)
    await folder.write('gone.yaml', recorded('/menu4'))
    for (const script of ['weak.yaml', 'gone.yaml'])
      expect((await run([script])).stdout, script).toContain('[element_not_found]')
  })

  test('has its candidates searched by a command, too', async () => {
    const client = homes.clients.http
    const { session_id = '' } = await client.createSession({ start_url: `${site.url}/menu2` })
    const fingerprint = { tag: 'button', role: 'button', name: 'Basket', attributes: { id: 'basket' }, position: 1 }
    const find = async (data: object) => {
      const commands = [{ command: 'find_similar', data: { selector: '#old', fingerprint, ...data } }]
      const { results } = await client.runCommands({ session_id, commands })
      return results[0]!.data
    }
    expect(await find({})).toEqual({ candidates: [{ selector: '#basket', element: 'button#basket "Cart"' }] })
    // One of several equal elements is only the one in the same position.
    const second = { ...fingerprint, position: 2 }
    expect(await find({ selector: 'button >> nth=1', fingerprint: second })).toEqual({ candidates: [] })
    await client.closeSession({ session_id })
  })

  test('is checked like the rest of the script', async () => {
    await folder.write('bad.yaml', 'steps:\n  - click: a\n    fingerprint: {role: button}\n')
    const { code, stderr } = await run(['bad.yaml'])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/bad\.yaml:3:\d+.*\n?[\s\S]*tag/)])
  })
})
