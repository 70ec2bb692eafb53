/** One short flow of each command and operation whose own tests take too long for `npm test`. */
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'
import { passkeySite } from '../support/passkey-site.ts'
import { bytesOf, inEveryShell } from '../support/shell.ts'
import { serveSite } from '../support/site.ts'
import { toolPages } from '../support/tool-pages.ts'
import { waitUntil } from '../support/wait.ts'

const pages = {
  '/': `<!doctype html><title>Start</title><style>body{margin:0} #from,#to{width:50px;height:50px;margin:20px}</style>
    <div id=from draggable=true>From</div><div id=to>To</div><label>Name <input id=name value=Ann></label>
    <button id=leave onclick="setTimeout(() => (location.href = '/end'), 50)">Leave</button><button id=low style="position:absolute;top:4000px">Low</button><script>
      to.ondragover = (event) => event.preventDefault()
      to.ondrop = () => (to.textContent = 'dropped')</script>`,
  '/tools': toolPages('')['/'],
  '/end': '<!doctype html><title>End</title>',
  '/data': (_: unknown, response: { end(body: string): void }) => response.end('{"stock":7}'),
}

inUsualHomes(pages, (given) => {
  test('drag drops an element on another', async () => {
    await given.open('/')
    await given.do('drag', { from: { x: 45, y: 45 }, to: { x: 45, y: 115 } })
    expect(await given.value('get_text', { selector: '#to' })).toBe('dropped')
  })

  test('scroll_into_view scrolls to an element, which get_element_bounding_box, get_basic_info and inspect_element describe', async () => {
    await given.open('/')
    await given.do('scroll_into_view', { selector: '#low' })
    expect(await given.evaluate('scrollY > 3000')).toBe(true)
    expect(await given.value('get_element_bounding_box', { selector: '#from' })).toMatchObject({
      width: 50,
      height: 50,
    })
    expect(await given.value('get_basic_info', { selector: '#low' })).toMatchObject({ role: 'button', name: 'Low' })
    expect(await given.value('inspect_element', { selector: '#low' })).toMatchObject({
      in_viewport: true,
      tag: 'button',
    })
  })

  test('write_clipboard is read by read_clipboard, and pasted into a field that clear has emptied', async () => {
    await given.open('/')
    await given.do('clear', { selector: '#name' })
    await given.do('write_clipboard', { text: 'Berta' })
    expect(await given.value('read_clipboard')).toBe('Berta')
    await given.do('press_key', { selector: '#name', key: 'Control+v' })
    expect(await given.value('get_value', { selector: '#name' })).toBe('Berta')
  })

  test('get_request returns the body of a response', async () => {
    await given.open('/')
    await given.evaluate(`fetch('/data').then((response) => response.text())`)
    const listed = async () => {
      const { requests } = (await given.value('list_requests', { url: '**/data', status: '200' })) as {
        requests: { request_id: string }[]
      }
      return requests
    }
    await expect.poll(listed).toHaveLength(1)
    const [{ request_id }] = (await listed()) as [{ request_id: string }]
    expect(await given.value('get_request', { request_id })).toMatchObject({ response_body: { text: '{"stock":7}' } })
  })

  test('wait_for_navigation waits for the page that a click opens later', async () => {
    await given.open('/')
    await given.do('click', { selector: '#leave' })
    expect(await given.do('wait_for_navigation')).toEqual({ url: given.url('/end') })
  })

  test('stop_video saves what start_video began to record', async () => {
    await given.open('/')
    await given.do('start_video')
    await given.open('/end')
    expect(await given.do('stop_video')).toMatchObject({ name: 'video.webm', width: 1280, height: 720 })
  })

  test('call_page_tool calls a tool that list_page_tools lists, also as operations', async () => {
    await given.open('/tools')
    const tool = { name: 'add', arguments: { a: 2, b: 40 } }
    expect(await given.value('list_page_tools')).toContainEqual(expect.objectContaining({ name: 'add' }))
    expect(await given.do('call_page_tool', tool)).toMatchObject({ text: '42' })
    const session = { session_id: given.sessionId() }
    const { tools } = await given.client().listWebmcpTools(session)
    expect(tools).toContainEqual(expect.objectContaining({ name: 'add' }))
    expect(await given.client().callWebmcpTool({ ...session, ...tool })).toMatchObject({ data: { text: '42' } })
  })

  test('use_passkey stores the passkey that a page creates', async () => {
    const shop = await serveSite(passkeySite().pages, 'localhost')
    try {
      await given.client().addCredential({ name: 'shop', origins: [shop.url], username: 'ann', passkey: true })
      await given.do('navigate_to', { url: `${shop.url}/settings` })
      await given.do('use_passkey', { credential: 'shop' })
      await given.do('click', { selector: 'button' })
      await given.do('wait_for', { text: 'Passkey created' })
      const rpIds = async () => (await given.client().listCredentials({})).credentials.map(({ rp_ids }) => rp_ids)
      await expect.poll(rpIds).toEqual([['localhost']])
    } finally {
      await shop.close()
    }
  })
})

inEveryShell(
  (given) => {
    test('a terminal has a size, which resizeShellExec changes', async () => {
      let execId = ''
      let seen = ''
      const pty = { cols: 91, rows: 17 }
      const reading = given.stream(
        { command: 'stty size; read line; stty size', pty },
        {
          onFrame(frame) {
            if (frame.type === 'start') execId = String(frame['exec_id'])
            else seen += bytesOf([frame], 'pty').toString()
          },
        },
      )
      await waitUntil(() => seen.includes('17 91'))
      await given.client().resizeShellExec({ exec_id: execId, cols: 100, rows: 30 })
      await given.client().writeShellExec({ exec_id: execId, data: '\n' })
      await reading
      expect(seen).toContain('30 100')
    })
  },
  { homes: ['http'] },
)
