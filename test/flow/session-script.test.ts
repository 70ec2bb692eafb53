/** The commands of a session become a script that repeats them in new sessions. */
import { describe, expect, test } from 'vitest'
import { takeControl } from '../support/person.ts'
import { runPlaywrightTest } from '../support/playwright-test.ts'
import { command } from '../support/session-steps.ts'
import { sessionScripts } from '../support/session-scripts.ts'

const given = sessionScripts()
const { cli, createSession, exported, logins } = given

describe('a script of a session', () => {
  test('keeps text that looks like a reference as text, also beside a secret', async () => {
    const session_id = await createSession()
    const before = logins.length
    await given.homes.clients.http.runCommands({
      session_id,
      commands: [
        command('navigate_to', { url: `${given.site.url}/login` }),
        command('fill_form', { fields: { User: '${env.PASSWORD}$${env.HOME}', Password: 'geheim!' } }),
        command('click', { selector: 'button' }),
        command('wait_for', { text: 'Hello Ann' }),
      ],
    })
    const { script } = await exported(session_id)
    expect(script).toMatch(/^secrets:\n {2}- PASSWORD\n[^ ]/)
    expect((await cli(['run', 'flow.yaml', '--strict'], { PASSWORD: 'geheim!' })).code).toBe(0)
    await exported(session_id, 'text.spec.ts', ['--format', 'playwright'])
    await runPlaywrightTest(given.folder.path, 'text.spec.ts', { PASSWORD: 'geheim!' })
    const user = encodeURIComponent('${env.PASSWORD}$${env.HOME}')
    expect(logins.slice(before)).toEqual(Array.from({ length: 3 }, () => `user=${user}&word=geheim%21&otp=`))
  })

  test('finds a button by its row, and a name with characters that have a meaning in selectors', async () => {
    const session_id = await createSession()
    const commands = [
      command('navigate_to', { url: `${given.site.url}/table` }),
      command('click', { selector: 'tr >> nth=0 >> button' }),
      command('check', { selector: 'input' }),
    ]
    await given.homes.clients.http.runCommands({ session_id, commands })
    const { script } = await exported(session_id)
    expect(script).toContain('click: role=row[name*="A Delete" i] >> role=button\n')
    expect(script).toContain('check: role=checkbox[name="Accept >> all"]\n')
    expect((await cli(['run', 'flow.yaml', '--strict'])).code).toBe(0)
  })

  test('is refused while there is nothing to repeat, and keeps the latest commands only', async () => {
    const session_id = await createSession()
    await expect(given.homes.clients.http.getSessionScript({ session_id })).rejects.toMatchObject({
      code: 'invalid_request',
    })
    const commands = Array.from({ length: 100 }, (_, at) =>
      command('evaluate', { expression: `'${'x'.repeat(20_000)}${at}'` }),
    )
    await given.homes.clients.http.runCommands({ session_id, commands })
    const { commands: count, script, steps } = await given.homes.clients.http.getSessionScript({ session_id })
    expect(count).toBe(100)
    expect(steps).toBeLessThan(60)
    expect(script).toMatch(/^# starts with command \d+ of the session\n/)
    expect(script.length).toBeLessThan(1_100_000)
  })

  test.each(['yaml', 'playwright'] as const)('says at its end that a person has or had control: %s', async (format) => {
    const session_id = await createSession()
    await given.homes.clients.http.runCommands({
      session_id,
      commands: [
        command('navigate_to', { url: `${given.site.url}/login` }),
        command('fill', { selector: 'label=User', text: 'ann' }),
      ],
    })
    const written = () => given.homes.clients.http.getSessionScript({ session_id, format })
    const end = /(?:#|\/\/) a person had control here: the script does not repeat all that they did\n(?:\}\)\n)?$/
    const person = await takeControl(given.homes, session_id)
    const meanwhile = await written()
    expect(meanwhile.script).toMatch(end)
    expect(meanwhile.left_out).toEqual([{ number: 2, command: 'control', reason: 'a person had control' }])
    person.click({ x: 700, y: 500 })
    await person.giveBack()
    const { left_out, script } = await written()
    expect(left_out).toEqual(meanwhile.left_out)
    expect(script).toMatch(end)
  })

  test('has no secret that a person typed, also where the page shows it or puts it into the URL', async () => {
    const session_id = await createSession()
    const { http } = given.homes.clients
    const open = command('navigate_to', { url: `${given.site.url}/get-login` })
    await http.runCommands({ session_id, commands: [open, command('focus', { selector: 'label=Password' })] })
    const person = await takeControl(given.homes, session_id)
    person.send({ type: 'text', text: 'ada lovelace' })
    for (const action of ['down', 'up'] as const)
      person.send({ type: 'key', action, key: 'Enter', code: 'Enter', key_code: 13 })
    await person.received('pw=ada')
    await person.giveBack()
    const commands = [
      command('wait_for', { text: 'Hello Ann' }),
      command('get_url'),
      command('get_text', { selector: 'h1' }),
      command('evaluate', {
        expression: 'document.querySelector("h1").textContent += new URLSearchParams(location.search)',
      }),
      command('get_text', { selector: 'h1' }),
      command('click', { selector: 'text=Help' }),
      command('go_back'),
      command('get_title'),
    ]
    expect(await http.runCommands({ session_id, commands })).toMatchObject({ success: true })
    for (const format of ['yaml', 'playwright'] as const)
      for (const from of [1, 3, 4]) {
        const { script } = await http.getSessionScript({ session_id, format, from })
        expect(script).toContain('Hello Ann')
        expect(script).not.toMatch(/ada|lovelace/)
      }
  })
})
