/** Live views while a person has control: waiting commands, dialogs, composed text and recordings. */
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { follow } from '../../src/client/client.ts'
import { bax } from '../support/cli.ts'
import { valueOf } from '../support/session-steps.ts'
import { scriptFolder } from '../support/scripts.ts'
import { liveViews } from '../support/live-views.ts'
import { clickAt, takeOver, waitForFrame } from '../support/views.ts'
import { waitUntil } from '../support/wait.ts'

const { create, given, linkTo, openView } = liveViews()

describe('the live view in a browser', () => {
  test('reports commands that wait for a person, and fails them after their timeout', async () => {
    const session_id = await create()
    const view = await openView((await linkTo(session_id, true)).live_view_url)
    await waitForFrame(view)
    await takeOver(view)
    const client = given.homes.clients.http
    expect(await client.getSession({ session_id })).toMatchObject({ controlled_by_person: true })
    let waiting: string | undefined
    const flags = ['-s', session_id, '--server', given.homes.baseUrl, '--timeout-ms', '8000']
    const typed = await bax(['do', 'click', 'button', ...flags], { onError: (text) => (waiting ??= text) })
    expect(waiting).toBe(`waiting: a person has control of session ${session_id}\n`)
    expect(typed).toMatchObject({ code: 1, stderr: expect.stringContaining('[controlled_by_person]') })
    const commands = [
      { command: 'click', data: { selector: 'button' } },
      { command: 'get_title', data: {} },
    ]
    const refused = {
      success: false,
      code: 'controlled_by_person',
      results: [
        { command: 'click', code: 'controlled_by_person', details: { waited_ms: 50, delivered: false } },
        { command: 'get_title', code: 'skipped' },
      ],
    }
    expect(await client.runCommands({ session_id, commands, timeout_ms: 50 } as never)).toMatchObject(refused)
    const seen = follow(given.homes.transports.http, 'GET /stream/sse', {
      session_id,
      replay: 'all',
      types: 'control.waiting',
    })
    expect((await seen.next()).value).toMatchObject({ data: { commands: ['click'], timeout_ms: 8000 } })
    expect((await seen.next()).value).toMatchObject({ data: { commands: ['click', 'get_title'], timeout_ms: 50 } })
    await seen.return(undefined)
    await view.getByRole('button', { name: 'Return control' }).click()
    expect(await valueOf(client, session_id, '6 * 7')).toBe(42)
    expect(await client.getSession({ session_id })).toMatchObject({ controlled_by_person: false })
  })

  test('sends text of input methods and dead keys once it is composed', async () => {
    const session_id = await create()
    const view = await openView((await linkTo(session_id, true)).live_view_url)
    await waitForFrame(view)
    await takeOver(view)
    await clickAt(view, 100, 20)
    const input = await view.context().newCDPSession(view)
    const type = (text: string) => input.send('Input.imeSetComposition', { text, selectionStart: 1, selectionEnd: 1 })
    await type('に')
    await type('にほ')
    await input.send('Input.insertText', { text: '日本' })
    await input.send('Input.dispatchKeyEvent', {
      type: 'rawKeyDown',
      key: 'Dead',
      code: 'Quote',
      windowsVirtualKeyCode: 229,
    })
    await input.send('Input.insertText', { text: 'é' })
    await view.keyboard.press('x')
    const typed = () => valueOf(given.homes.clients.http, session_id, 'document.forms[0].who.value')
    await view.getByRole('button', { name: 'Return control' }).click()
    await waitUntil(async () => String(await typed()).endsWith('x'))
    expect(await typed()).toBe('日本éx')
  })

  test('returns control when it is closed, even with an open dialog', async () => {
    const session_id = await create()
    const view = await openView((await linkTo(session_id, true)).live_view_url)
    await waitForFrame(view)
    await takeOver(view)
    await clickAt(view, 100, 140)
    await view.getByRole('dialog').getByText('Your name?').waitFor()
    await view.close()
    expect(await valueOf(given.homes.clients.http, session_id, 'document.title')).toBe('null')
  })

  test('shows a dialog that was open before; with the setting ask it stays open afterwards', async () => {
    const created = await given.homes.clients.http.createSession({
      headless: true,
      dialogs: 'ask',
      start_url: given.site.url,
    })
    const session_id = created.session_id!
    const view = await openView((await linkTo(session_id, true)).live_view_url)
    await waitForFrame(view)
    const commands = [{ command: 'evaluate', data: { expression: `document.title = prompt('Who?')` } }]
    expect(await given.homes.clients.http.runCommands({ session_id, commands })).toMatchObject({
      code: 'dialog_blocking',
    })
    await takeOver(view)
    await view.getByRole('dialog').getByText('Who?').waitFor()
    await view.close()
    const answer = [{ command: 'answer_dialog', data: { accept: true, text: 'Ada' } }]
    expect(await given.homes.clients.http.runCommands({ session_id, commands: answer })).toMatchObject({
      success: true,
    })
    expect(await valueOf(given.homes.clients.http, session_id, 'document.title')).toBe('Ada')
  })

  test('records what a person does, as a script that passes', async () => {
    const session_id = await create()
    const view = await openView((await linkTo(session_id, true)).live_view_url)
    await waitForFrame(view)
    expect(await view.getByRole('button', { name: 'Record', exact: true }).isDisabled()).toBe(true)
    await takeOver(view)
    await view.getByRole('button', { name: 'Record', exact: true }).click()
    await view.getByRole('button', { name: 'Stop recording (0 steps)' }).waitFor()
    await clickAt(view, 100, 20)
    await view.keyboard.type('ada')
    await view.keyboard.press('Tab')
    await view.keyboard.type('Pa55!')
    await view.getByRole('button', { name: 'Stop recording (4 steps)' }).waitFor()
    await clickAt(view, 100, 100)
    await view.waitForFunction(() => document.querySelector<HTMLInputElement>('#address')!.value.includes('/done'))
    await view.getByRole('button', { name: 'Stop recording' }).click()
    const dialog = view.getByRole('dialog', { name: 'Recorded script' })
    const text = await dialog.getByLabel('Script').inputValue()
    expect(text).not.toContain('Pa55')
    const { steps, secrets } = parse(text) as { steps: Record<string, unknown>[]; secrets: string[] }
    expect(secrets).toEqual(['PASSWORD'])
    // On a busy machine, the navigation may begin late.
    const acts = steps.filter((step) => !('wait_for' in step))
    expect(acts.map((step) => ({ ...step, fingerprint: undefined }))).toEqual([
      { navigate_to: `${given.site.url}/` },
      { click: 'input[name="who"]' },
      { fill: { selector: 'input[name="who"]', text: 'ada' } },
      { press_key: { selector: 'input[name="who"]', key: 'Tab' } },
      { fill: { selector: 'input[name="word"]', text: '${env.PASSWORD}' } },
      { click: 'role=button[name="Go"]' },
    ])
    const [download] = await Promise.all([
      view.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Download' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('script.yaml')
    const file = await download.path()
    expect(await readFile(file, 'utf8')).toBe(text)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await view.getByRole('button', { name: 'Record', exact: true }).waitFor()
    await view.getByRole('button', { name: 'Return control' }).click()

    const folder = await scriptFolder()
    await folder.write('script.yaml', text)
    const env = { BAX_SERVER: given.homes.baseUrl, BAX_STATE_DIR: given.homes.stateDir, PASSWORD: 'Pa55!' }
    expect(await bax(['run', 'script.yaml'], { cwd: folder.path, env })).toMatchObject({ code: 0, stderr: '' })
    await folder.close()
  })

  test('shows a recording that was started elsewhere, and does not stop it', async () => {
    const session_id = await create()
    const view = await openView((await linkTo(session_id, true)).live_view_url)
    await waitForFrame(view)
    await takeOver(view)
    await given.homes.clients.http.recordSession({ session_id, action: 'start' })
    const button = view.getByRole('button', { name: 'Recording (0 steps)' })
    await button.waitFor()
    expect(await button.isDisabled()).toBe(true)
    expect(await button.getAttribute('title')).toContain('Somebody else records this session')
    await clickAt(view, 100, 20)
    await view.getByRole('button', { name: 'Recording (1 step)' }).waitFor()
    await given.homes.clients.http.recordSession({ session_id, action: 'stop' })
    await view.getByRole('button', { name: 'Record', exact: true }).click()
    await view.getByRole('button', { name: 'Stop recording (0 steps)' }).waitFor()
  })

  test('shows in a second view that somebody else has control', async () => {
    const session_id = await create()
    const { live_view_url } = await linkTo(session_id, true)
    const [first, second] = await Promise.all([openView(live_view_url), openView(live_view_url)])
    await Promise.all([waitForFrame(first), waitForFrame(second)])
    await takeOver(first)
    await second.getByText('Somebody else has control.').waitFor()
    expect(await second.getByRole('button', { name: 'Take control' }).isDisabled()).toBe(true)
    await first.getByRole('button', { name: 'Return control' }).click()
    await takeOver(second)
    await first.getByText('Somebody else has control.').waitFor()
  })
})
