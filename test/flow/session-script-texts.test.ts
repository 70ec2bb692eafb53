/** Scripts of sessions with texts that a page shows, and texts in editors. */
import { describe, expect, test } from 'vitest'
import { runPlaywrightTest } from '../support/playwright-test.ts'
import { command } from '../support/session-steps.ts'
import { sessionScripts } from '../support/session-scripts.ts'

const given = sessionScripts()
const { cli, createSession, exported } = given

describe('a script of a session', () => {
  test('waits for the text that the caller has chosen, not for all of what appeared', async () => {
    const session_id = await createSession()
    const commands = [
      command('navigate_to', { url: `${given.site.url}/help` }),
      command('evaluate', {
        expression: "document.body.innerHTML += '<p>2 rows in ' + Date.now() + '<i hidden></i><p id=end>Done<p>Done'",
      }),
      command('wait_for', { selector: 'text=2 rows' }),
      command('wait_for', { selector: 'p i', state: 'attached' }),
      // A script with --strict needs one match.
      command('wait_for', { selector: 'text=Done' }),
    ]
    await given.homes.clients.http.runCommands({ session_id, commands })
    const { script } = await exported(session_id)
    expect(script).toContain('selector: text=2 rows\n')
    expect((await cli(['run', 'flow.yaml', '--strict'])).code).toBe(0)
    await exported(session_id, 'text.spec.ts', ['--format', 'playwright'])
    await runPlaywrightTest(given.folder.path, 'text.spec.ts')
  })

  test('replaces the text of an editor, which is inside of the element', async () => {
    const session_id = await createSession()
    const commands = [
      command('navigate_to', { url: `${given.site.url}/help` }),
      command('evaluate', {
        expression: "document.body.innerHTML = '<div id=note><div contenteditable>Old</div></div>'",
      }),
      command('fill', { selector: '#note', text: 'First\nSecond' }),
      command('wait_for', { selector: '#note:has-text("First"):has-text("Second"):not(:has-text("Old"))' }),
      command('type_text', { selector: '#note', text: 'Third' }),
      command('wait_for', { selector: '#note:has-text("Third")' }),
    ]
    expect(await given.homes.clients.http.runCommands({ session_id, commands })).toMatchObject({ success: true })
    await exported(session_id)
    expect((await cli(['run', 'flow.yaml', '--strict'])).code).toBe(0)
    await exported(session_id, 'editor.spec.ts', ['--format', 'playwright'])
    await runPlaywrightTest(given.folder.path, 'editor.spec.ts')
  })
})
