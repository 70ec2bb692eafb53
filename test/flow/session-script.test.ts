/** The commands of a session become a script that repeats them in new sessions. */
import { describe, expect, test } from 'vitest'
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
})
