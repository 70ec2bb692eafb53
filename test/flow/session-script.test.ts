/** The commands of a session become a script that repeats them in new sessions. */
import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
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
    const end = /(?:#|\/\/) a person had control here: the script does not repeat what they did\n(?:\}\)\n)?$/
    const person = await takeControl(session_id)
    const meanwhile = await written()
    expect(meanwhile.script).toMatch(end)
    expect(meanwhile.left_out).toEqual([{ number: 2, command: 'control', reason: 'a person had control' }])
    person.send({ type: 'navigate', url: `${given.site.url}/help` })
    await person.received('/help')
    await person.giveBack()
    const { left_out, script } = await written()
    expect(left_out).toEqual(meanwhile.left_out)
    expect(script).toMatch(end)
    expect(script).not.toContain('/help')
  })

  test('has no text that a person typed, also where the page shows it or puts it into the URL', async () => {
    const session_id = await createSession()
    const { http } = given.homes.clients
    const open = command('navigate_to', { url: `${given.site.url}/get-login` })
    await http.runCommands({ session_id, commands: [open, command('focus', { selector: 'label=User' })] })
    const person = await takeControl(session_id)
    person.send({ type: 'text', text: 'ada lovelace' })
    for (const action of ['down', 'up']) person.send({ type: 'key', action, key: 'Enter', code: 'Enter', key_code: 13 })
    await person.received('user=ada')
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

/** Takes control of a session as its live view does. */
async function takeControl(session_id: string) {
  const { token } = await given.homes.clients.http.linkLiveView({ session_id, control: true })
  const address = `${given.homes.baseUrl.replace('http', 'ws')}/sessions/${session_id}/live`
  const socket = new WebSocket(address, ['bax.live.v1', `bax.bearer.${token}`])
  onTestFinished(() => socket.close())
  const messages: string[] = []
  socket.on('message', (data: Buffer, isBinary) => void (isBinary || messages.push(data.toString())))
  const received = (part: string) => expect.poll(() => messages.some((text) => text.includes(part))).toBe(true)
  const send = (input: object) => socket.send(JSON.stringify(input))
  await once(socket, 'open')
  send({ type: 'take' })
  await received('"holder":"you"')
  return {
    received,
    send,
    async giveBack() {
      send({ type: 'return' })
      await received('control.returned')
    },
  }
}
