import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../support/client.ts'
import { startForeignBrowser } from '../support/foreign-browser.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { connectBrowser } from '../support/relay.ts'
import { command, valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
let client: Client

const page = `<!doctype html><title>Fields</title><p id=text>Some text</p>
  <input id=from value="secret of one"><input id=to><div id=rich contenteditable>rich</div>
  <input id=word type=password value=password>
  <button onclick="navigator.clipboard.writeText('from a button')">Copy</button>
  <button id=read onclick="navigator.clipboard.readText().then((text) => to.value = text)">Read</button>
  <iframe src="/frame"></iframe>
  <iframe sandbox srcdoc="<textarea>sandboxed secret</textarea>"></iframe>`

beforeAll(async () => {
  // One browser for all sessions.
  ;[homes, site] = await Promise.all([
    openHomes({ pool: { warm: 1, browsers: 1, contextsPerBrowser: 10 } }),
    serveSite({
      '/': page,
      '/empty': page.replace('sandboxed secret', 'nothing'),
      '/frame': '<input id=inner value="in a frame">',
      '/own': `<p id=text>Some text</p><textarea id=t></textarea><script>
        addEventListener('copy', (e) => { e.clipboardData.setData('text/plain', 'made by the page'); e.preventDefault() })
        addEventListener('paste', (e) => { t.value = 'page got ' + e.clipboardData.getData('text'); e.preventDefault() })
      </script>`,
    }),
  ])
  client = homes.clients.http
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

const create = async (path = '/', input = {}) =>
  (await client.createSession({ headless: true, start_url: site.url + path, ...input })).session_id!
const run = async (id: string, name: string, data?: Record<string, unknown>) => {
  const { results } = await client.runCommands({ session_id: id, commands: [command(name, data)] })
  expect(results[0], JSON.stringify(results[0])).toMatchObject({ success: true })
  return results[0]!.data
}
const press = async (id: string, key: string, selector: string, modifiers = 2) => {
  await run(id, 'focus', { selector })
  await client.cdp({
    session_id: id,
    method: 'Input.dispatchKeyEvent',
    params: {
      type: 'rawKeyDown',
      key,
      code: `Key${key.toUpperCase()}`,
      windowsVirtualKeyCode: key.toUpperCase().charCodeAt(0),
      modifiers,
    },
  })
  await client.cdp({
    session_id: id,
    method: 'Input.dispatchKeyEvent',
    params: {
      type: 'keyUp',
      key,
      code: `Key${key.toUpperCase()}`,
      windowsVirtualKeyCode: key.toUpperCase().charCodeAt(0),
      modifiers,
    },
  })
}
const read = async (id: string) => ((await run(id, 'read_clipboard'))!['result'] as { value: string }).value
const copies = (id: string, text: string) => waitUntil(async () => (await read(id)) === text)
const chord = (id: string, selector: string, key: string) => run(id, 'press_key', { selector, key })

describe('the clipboard of a session', () => {
  test('is written by commands and by pages, and pasted into fields', async () => {
    const id = await create()
    expect(await read(id)).toBe('')
    await run(id, 'write_clipboard', { text: 'from outside\nin two lines' })
    expect(await read(id)).toBe('from outside\nin two lines')
    await run(id, 'write_clipboard', { text: 'from outside' })
    await chord(id, '#to', 'Control+v')
    expect(await valueOf(client, id, 'to.value')).toBe('from outside')
    await chord(id, '#from', 'Control+a')
    await chord(id, '#from', 'Control+c')
    await copies(id, 'secret of one')
    await chord(id, '#rich', 'Control+v')
    expect(await valueOf(client, id, 'rich.textContent')).toContain('secret of one')
    await chord(id, '#from', 'Control+a')
    await chord(id, '#from', 'Control+x')
    expect(await valueOf(client, id, 'from.value')).toBe('')
  })

  test('is the one of navigator.clipboard and execCommand', async () => {
    const id = await create()
    await run(id, 'click', { selector: 'text=Copy' })
    await copies(id, 'from a button')
    await run(id, 'click', { selector: '#read' })
    await waitUntil(async () => (await valueOf(client, id, 'to.value')) === 'from a button')
    await valueOf(client, id, `getSelection().selectAllChildren(text); document.execCommand('copy')`)
    await copies(id, 'Some text')
    expect(await valueOf(client, id, `String(navigator.clipboard.readText)`)).toContain('[native code]')
  })

  test('works in frames and across tabs, and not for passwords', async () => {
    const id = await create()
    await chord(id, 'frame=iframe >> #inner', 'Control+a')
    await chord(id, 'frame=iframe >> #inner', 'Control+c')
    await copies(id, 'in a frame')
    await chord(id, '#word', 'Control+a')
    await chord(id, '#word', 'Control+c')
    await run(id, 'new_tab', { url: site.url })
    await chord(id, '#to', 'Control+v')
    expect(await valueOf(client, id, 'to.value')).toBe('in a frame')
  })

  test("keeps the page's own handling of copy and paste", async () => {
    const id = await create('/own')
    await valueOf(client, id, `getSelection().selectAllChildren(text); document.execCommand('copy')`)
    await copies(id, 'made by the page')
    await chord(id, '#t', 'Control+v')
    expect(await valueOf(client, id, 't.value')).toBe('page got made by the page')
  })

  test.each(['headless', 'stealth'])('is never that of another session (%s)', async (kind) => {
    const input = { disable_automation_detection: kind === 'stealth' }
    const [one, other] = [await create('/', input), await create('/empty', input)]
    await chord(one, '#from', 'Control+a')
    await chord(one, '#from', 'Control+c')
    await run(one, 'click', { selector: 'text=Copy' })
    await valueOf(client, one, `getSelection().selectAllChildren(text); document.execCommand('copy')`)
    // Scripts do not run in this frame.
    await chord(one, 'frame=iframe[sandbox] >> textarea', 'Control+a')
    await chord(one, 'frame=iframe[sandbox] >> textarea', 'Control+c')
    await chord(other, '#to', 'Control+v')
    await press(other, 'v', '#to')
    await chord(other, 'frame=iframe[sandbox] >> textarea', 'Control+a')
    await chord(other, 'frame=iframe[sandbox] >> textarea', 'Control+v')
    expect(await valueOf(client, other, 'to.value')).toBe('')
    expect(await valueOf(client, other, 'navigator.clipboard.readText()')).toBe('')
    const { results } = await client.runCommands({ session_id: other, commands: [command('read_clipboard')] })
    // Pages of a session that hides automation keep what they copy to themselves.
    if (kind === 'stealth') expect(results[0]).toMatchObject({ success: false, code: 'unsupported' })
    else expect(results[0]).toMatchObject({ success: true, data: { result: { value: '' } } })
    const inFrame = await client.runCommands({
      session_id: other,
      commands: [command('get_text', { selector: 'frame=iframe[sandbox] >> textarea' })],
    })
    expect(inFrame).toMatchObject({ results: [{ data: { result: { value: expect.not.stringContaining('secret') } } }] })
  })
})

test('is refused on a relay session', async () => {
  const foreign = await startForeignBrowser()
  const relay = await connectBrowser({ browser: foreign.url, engine: `unix:${homes.stateDir}/test.sock` })
  await waitUntil(async () => (await homes.clients.unix.getRelay({ id: relay.id })).active_target_id !== null)
  for (const commands of [[command('read_clipboard')], [command('write_clipboard', { text: 'x' })]]) {
    const refused = await homes.clients.unix.runCommands({ session_id: relay.id, commands })
    expect(refused).toMatchObject({ success: false, code: 'unsupported', error: expect.stringContaining('clipboard') })
  }
  await relay.stop()
  await foreign.close()
})
