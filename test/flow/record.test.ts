/** Recording a person's input as a script, and running the script as it was written. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { read, recordings, withoutFingerprints } from '../support/recordings.ts'

const given = recordings()
const { env, record, run } = given

describe('a recorded script', () => {
  test('repeats the input on the same elements', async () => {
    const recording = await record([given.site.url], 'shop.yaml')
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
      { navigate_to: given.site.url },
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
      { click: ':text("Some \\"quoted\\" text")' },
      { double_click: 'role=button[name="Buy later"]' },
      { click_advanced: { selector: 'role=heading[name="Shop"]', button: 'right' } },
      { fill: { selector: 'frame=iframe[name="pay"] >> role=textbox[name="Card number"]', text: '42' } },
      { click: 'frame=iframe[name="pay"] >> role=button[name="Pay"]' },
      { verify: { title: title.replaceAll('${', () => '$${') } },
      { wait_for: { url: `${given.site.url}/` } },
      { verify: { selector: 'frame=iframe[name="pay"] >> role=button[name="Pay"]' } },
    ])
    expect(recording.errors()).toContain('\n- check: role=checkbox[name="Agree"]\n')
    const again = await run(['shop.yaml'])
    expect(again).toMatchObject({ code: 0, stderr: '' })
    expect((await given.homes.clients.http.listSessions({})).sessions).toEqual([])
  })

  test('contains no password, and neither do the events and the log', async () => {
    const recording = await record([`${given.site.url}/login`], 'login.yaml')
    const { page, sessionId } = recording
    await page.getByLabel('Name').fill('anna')
    await page.locator('[name=pass]').pressSequentially('s3cret')
    await page.getByRole('button', { name: 'Show password' }).click()
    await page.locator('[name=pass]').pressSequentially('-more')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await recording.contains('Sign in')
    const log = await given.homes.clients.http.getSessionLog({ session_id: sessionId })
    const status = await given.homes.clients.http.recordSession({ session_id: sessionId, action: 'status' })
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
})

describe('a recording', () => {
  test('of an existing session leaves it open, and ends with it', async () => {
    const client = given.homes.clients.http
    await client.createSession({ requested_name: 'mine', start_url: `${given.site.url}/menu1` })
    const first = await record(['-s', 'mine'], 'mine.yaml')
    await first.page.getByText('Basket').click()
    await first.contains('Basket')
    expect(await first.end()).toMatchObject({ code: 0 })
    expect(read(await first.script()).steps[0]).toEqual({ navigate_to: `${given.site.url}/menu1` })
    const second = await record(['-s', 'mine', '--force'], 'mine.yaml')
    await client.closeSession({ session_id: 'mine' })
    expect(await second.end()).toMatchObject({ code: 0 })
  })

  test('is refused when it runs already, and for a file that exists', async () => {
    const client = given.homes.clients.http
    const { session_id = '' } = await client.createSession({})
    const state = await client.recordSession({ session_id, action: 'start' })
    expect(state).toEqual({ session_id, recording: true, steps: [] })
    await expect(client.recordSession({ session_id, action: 'start' })).rejects.toMatchObject({ code: 'conflict' })
    await client.recordSession({ session_id, action: 'stop' })
    await expect(client.recordSession({ session_id, action: 'stop' })).rejects.toMatchObject({ code: 'conflict' })
    await client.closeSession({ session_id })
    await writeFile(join(given.folder.path, 'mine'), 'precious')
    const refused = await bax(['record', given.site.url, '-o', 'mine'], { cwd: given.folder.path, env: env() })
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('mine exists already')
    expect(await readFile(join(given.folder.path, 'mine'), 'utf8')).toBe('precious')
  })
})

describe('a step whose selector no longer matches', () => {
  test('has its candidates searched by a command, too', async () => {
    const client = given.homes.clients.http
    const { session_id = '' } = await client.createSession({ start_url: `${given.site.url}/menu2` })
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
    await given.folder.write('bad.yaml', 'steps:\n  - click: a\n    fingerprint: {role: button}\n')
    const { code, stderr } = await run(['bad.yaml'])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/bad\.yaml:3:\d+.*\n?[\s\S]*tag/)])
  })
})
