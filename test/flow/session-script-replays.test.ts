/** Scripts of sessions with references, secrets, tabs and dialogs, replayed in new sessions. */
import { describe, expect, test } from 'vitest'
import { connectMcp } from '../support/mcp.ts'
import { runPlaywrightTest } from '../support/playwright-test.ts'
import { command } from '../support/session-steps.ts'
import { sessionScripts } from '../support/session-scripts.ts'

const given = sessionScripts()
const { cli, createSession, env, exported, line, logins, orders, refOf, replayThrice } = given

describe('a script of a session', () => {
  test('repeats command lines and HTTP commands, with references as selectors, and without failures', async () => {
    const session = await createSession()
    await line(session, 'open', `${given.site.url}/shop`)
    await line(session, 'fill', await refOf(session, /searchbox/), 'earl')
    await line(session, 'fill', 'label=Search', 'darj')
    await cli(['click', '#nothing', '--timeout-ms', '300', '-s', session])
    await line(session, 'click', await refOf(session, /button "Add"/))
    await line(session, 'wait', 'h1 >> text=Cart')
    expect((await line(session, 'get', 'title')).stdout).toBe('Tea shop\n')
    await line(session, 'get', 'text', 'h1')
    await given.homes.clients.http.runCommands({
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
    await runPlaywrightTest(given.folder.path, 'shop.spec.ts')
    await expect.poll(() => orders.length).toBe(5)
    expect(new Set(orders.map((order) => JSON.stringify(order)))).toEqual(
      new Set([
        '{"name":"Ann","country":"de","gift":"on","speed":"fast","coupon":"TEA","budget":10,"cart":[["Darjeeling",2]]}',
      ]),
    )
  })

  test('has references instead of secrets, waits for what a step causes, and patterns of URLs', async () => {
    const session = await createSession()
    const mcp = await connectMcp([], { cwd: given.folder.path, env: env() }, [])
    await line(session, 'open', `${given.site.url}/login`)
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
    expect(tool.text).toMatch(/\d+ steps; left out: \d+ \(.+\); needs the environment variables PASSWORD, PASSWORD_2/)
    expect(tool.text).toContain('text: ${env.PASSWORD}')
    await mcp.close()
    const { script, stderr } = await exported(session)
    expect(script).not.toMatch(/geheim|123456|Help|orders.\d/)
    expect(script).toMatch(/^secrets:\n {2}- PASSWORD\n {2}- PASSWORD_2\n/)
    expect(script).toContain('text: ${env.PASSWORD}')
    expect(script).toContain('# downloads "invoice.txt"')
    expect(script).toContain(`url: ${given.site.url}/orders/*{,?**}`)
    expect(stderr).toContain('set PASSWORD, PASSWORD_2 to run it')
    await replayThrice('flow.yaml', { PASSWORD: 'geheim!', PASSWORD_2: '123456' })
    const test = await exported(session, 'login.spec.ts', ['--format', 'playwright'])
    expect(test.script).not.toMatch(/geheim|123456/)
    expect(test.script).toContain("await page.getByRole('textbox', { name: 'Password' }).fill(process.env.PASSWORD!)")
    await runPlaywrightTest(given.folder.path, 'login.spec.ts', { PASSWORD: 'geheim!', PASSWORD_2: '123456' })
    expect(logins).toEqual(Array.from({ length: 5 }, () => 'user=ann&word=geheim%21&otp=123456'))
  })

  test('has no value of a credential, also where a form puts it into the URL', async () => {
    const client = given.homes.clients.http
    await client.addCredential({
      name: 'shop',
      origins: [given.site.url],
      username: 'ann',
      password: 'correct (horse)',
    })
    const session = await createSession()
    await line(session, 'open', `${given.site.url}/get-login`)
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
    const { session_id } = await given.homes.clients.http.createSession({
      headless: true,
      dialogs: 'ask',
      locale: 'de-AT',
      viewport: { width: 900, height: 700 },
    })
    const session = session_id!
    await line(session, 'open', `${given.site.url}/tabs`)
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
    await runPlaywrightTest(given.folder.path, 'tabs.spec.ts')
    const late = await exported(session, 'late.yaml', ['--from', '10', '--verify'])
    expect(late.script).toContain('# starts with command 10 of the session')
    expect(late.stderr).toContain('steps can be replayed')
  })
})
