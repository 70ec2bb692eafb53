/** Ways in which code and forms reach a page without the command that usually brings them, and approvals of documents. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Client } from '../support/client.ts'
import type { CommandResult } from '../../src/core/shapes/commands.ts'
import { waitingApproval, waitingApprovals } from '../support/approvals.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { command } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
let client: Client
/** Requests with a body that have reached the site. */
const received: string[] = []
/** Answers the request that a page waits for before it leaves. */
let leave = () => {}

const page = `<!doctype html><title>Shop</title>
  <form method=post action=/order><input name=item value=tea><button id=buy>Buy</button></form>
  <iframe id=inner src=/inner></iframe>
  <button id=reload onclick="fetch('/gate').then(() => location.reload())">Reload later</button>
  <button id=replace onclick="fetch('/gate').then(() => { inner.src = '/other' })">Replace the frame later</button>
  <script src=/shop.js></script>`

const code = 'document.title = "changed"'
const codeUrl = `data:text/html,<title>Code</title><script>${code}</script>`

const accept = (request: IncomingMessage, response: ServerResponse) => {
  received.push(`${request.method} ${request.url}`)
  request.resume()
  response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Ordered</title>')
}

beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes(),
    serveSite({
      '/': page,
      '/shop.js': '',
      '/inner': '<!doctype html><title>Inner</title><p id=text>inner</p>',
      '/other': '<!doctype html><title>Other</title><p id=text>other</p>',
      '/submits':
        '<!doctype html><title>Submits</title><form method=post action=/order></form><script>document.forms[0].submit()</script>',
      '/order': accept,
      '/elsewhere': accept,
      '/gate': (_, response) => void (leave = () => response.end()),
    }),
  ])
  client = homes.clients.http
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
})

let id: string
const create = async (input: object) => {
  const made = await client.createSession({ headless: true, start_url: site.url, ...input })
  id = made.session_id!
  received.length = 0
  return made
}
afterEach(() => client.closeSession({ session_id: id }))

const one = async (name: string, data?: Record<string, unknown>): Promise<CommandResult> =>
  (await client.runCommands({ session_id: id, commands: [command(name, data)] })).results[0]!
/** Returns the title; it is empty while a document that has just replaced another one is parsed. */
const titleOf = async () => ((await one('get_title')).data!['result'] as { value: string }).value
const waiting = () => waitingApprovals(client)
const asked = () => waitingApproval(client)
const approve = async () => client.approveAction({ session_id: id, approval_id: (await asked()).approval_id })
const reject = async () => client.rejectAction({ session_id: id, approval_id: (await asked()).approval_id })
/** Clicks a button whose script waits for the site. */
async function clickLater(selector: string) {
  await one('click', { selector })
  await expect.poll(() => site.requests).toContain('/gate')
  site.requests.length = 0
}
const left = { success: false, code: 'navigation_aborted', error: 'not executed: the page left before it was approved' }

describe('code', () => {
  test.each([
    [
      'a redirect',
      { status: 302, headers: { location: 'https://caller.test/code.js' } },
      'location: https://caller.test/code.js',
    ],
    [
      'headers',
      { headers: { link: '<https://caller.test/code.js>; rel=preload' } },
      'link: <https://caller.test/code.js>',
    ],
    ['a body', { body: code }, code],
    ['bytes', { body_base64: Buffer.from(code).toString('base64') }, code],
  ])('in %s of a route waits, and is shown', async (_, answer, shown) => {
    await create({ confirm: ['eval'] })
    const running = one('add_route', { url: '**/shop.js', ...answer })
    expect(await asked()).toMatchObject({ kind: 'eval', command: 'add_route', url: `${site.url}/` })
    expect((await asked()).summary).toMatch(/^\*\*\/shop\.js\nanswer: \d+\n/)
    expect((await asked()).summary).toContain(shown)
    await reject()
    expect(await running).toMatchObject({ success: false, code: 'rejected' })
    expect(await one('list_routes')).toMatchObject({ data: { result: { value: [] } } })
  })

  test.each([
    ['a status', { status: 503 }],
    ['an abort', { abort: true }],
    ['changed request headers', { set_headers: { 'x-test': '1' } }],
  ])('is not in a route with %s', async (_, rule) => {
    await create({ confirm: ['eval'] })
    expect(await one('add_route', { url: '**/shop.js', ...rule })).toMatchObject({ success: true })
  })

  test.each([['navigate_to'], ['new_tab']])('in a URL of %s waits', async (name) => {
    await create({ confirm: ['eval'] })
    const running = one(name, { url: codeUrl })
    expect(await asked()).toMatchObject({
      kind: 'eval',
      command: name,
      summary: expect.stringContaining('data:text/html,'),
    })
    expect(await client.getSession({ session_id: id })).toMatchObject({ tabs: 1, url: `${site.url}/` })
    await approve()
    expect(await running).toMatchObject({ success: true })
    expect(await titleOf()).toBe('changed')
    const again = one(name, { url: `blob:${site.url}/1` })
    await reject()
    expect(await again).toMatchObject({ success: false, code: 'rejected' })
  })

  test('in start_url waits, and the session is usable meanwhile', async () => {
    const { warning } = await create({ confirm: ['eval'], start_url: codeUrl })
    const { approval_id, ...action } = await asked()
    expect(warning).toBe(`start_url waits until a person approves eval (${approval_id})`)
    expect(action).toMatchObject({ kind: 'eval', command: 'start_url', url: 'about:blank' })
    expect(await titleOf()).toBe('')
    await approve()
    await expect.poll(titleOf).toBe('changed')
  })

  test('in a URL that a viewer of the live view enters waits', async () => {
    await create({ confirm: ['eval'] })
    const { token } = await client.linkLiveView({ session_id: id, control: true })
    const socket = new WebSocket(`${homes.baseUrl.replace('http', 'ws')}/sessions/${id}/live`, [
      'bax.live.v1',
      `bax.bearer.${token}`,
    ])
    const isInControl = new Promise<void>((resolve) =>
      socket.on('message', (data: Buffer, isBinary) => {
        if (!isBinary && (JSON.parse(data.toString()) as { holder?: string }).holder === 'you') resolve()
      }),
    )
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'take' }))
    await isInControl
    socket.send(JSON.stringify({ type: 'navigate', url: codeUrl }))
    expect(await reject()).toMatchObject({ kind: 'eval', command: 'navigate_to' })
    socket.close()
    expect(await client.getSession({ session_id: id })).toMatchObject({ url: `${site.url}/` })
  })

  test('that does not parse does not run, not even in part', async () => {
    await create({})
    const expression = `1)}); ${code}; (async function () { (2`
    const failed = await one('evaluate_on_element', { selector: 'frame=#inner >> #text', expression })
    expect(failed).toMatchObject({ success: false, code: 'evaluate_failed' })
    expect(await titleOf()).toBe('Shop')
  })

  test('may wait for longer than its command', async () => {
    await create({ confirm: ['eval'] })
    const running = one('wait_for', { function: 'document.title === "Shop"', timeout_ms: 1 })
    const { created_at } = await asked()
    await waitUntil(() => Date.now() - Date.parse(created_at) > 1000)
    await approve()
    expect(await running).toMatchObject({ success: true })
  })
})

describe('an approval', () => {
  test.each([
    ['evaluate', { expression: code }],
    ['wait_for', { function: code }],
    ['add_init_script', { script: code }],
    ['evaluate_on_element', { selector: 'button', expression: code }],
  ])('of %s does not apply to the same page after a reload', async (name, data) => {
    await create({ confirm: ['eval'] })
    await clickLater('#reload')
    const running = one(name, data)
    await asked()
    leave()
    expect(await running).toMatchObject(left)
    expect(await waiting()).toEqual([])
    await expect.poll(titleOf).toBe('Shop')
  })

  test('shows the frame, and does not apply to the next document of the frame', async () => {
    await create({ confirm: ['eval'] })
    await clickLater('#replace')
    const running = one('evaluate_on_element', {
      selector: 'frame=#inner >> #text',
      expression: 'this.textContent = "changed"',
    })
    expect(await asked()).toMatchObject({ url: `${site.url}/inner` })
    leave()
    expect(await running).toMatchObject(left)
    expect(await one('get_text', { selector: 'frame=#inner >> #text' })).toMatchObject({
      data: { result: { value: 'other' } },
    })
  })

  test('applies while another frame shows something else', async () => {
    await create({ confirm: ['eval'] })
    await clickLater('#replace')
    const running = one('evaluate', { expression: code })
    await asked()
    leave()
    await expect.poll(() => site.requests).toContain('/other')
    await approve()
    expect(await running).toMatchObject({ success: true })
    expect(await titleOf()).toBe('changed')
  })

  test('of a condition ends with the document', async () => {
    await create({ confirm: ['eval'] })
    await clickLater('#reload')
    const running = one('wait_for', { function: 'sessionStorage.seen = document.title = "seen", false' })
    await approve()
    await expect.poll(async () => (await client.getSession({ session_id: id })).title).toBe('seen')
    leave()
    expect(await running).toMatchObject(left)
    await expect.poll(titleOf).toBe('Shop')
  })
})

describe('a form', () => {
  test('that start_url submits waits, and the session is usable meanwhile', async () => {
    const { warning } = await create({ confirm: ['submit'], start_url: `${site.url}/submits` })
    const { approval_id, ...action } = await asked()
    expect(warning).toBe(`start_url waits until a person approves submit (${approval_id})`)
    expect(action).toMatchObject({ kind: 'submit', summary: `POST ${site.url}/order` })
    expect(await titleOf()).toBe('Submits')
    expect(received).toEqual([])
    await approve()
    await expect.poll(titleOf).toBe('Ordered')
    expect(received).toEqual(['POST /order'])
  })

  test('waits although a route answers it, and shows where a redirect sends it', async () => {
    await create({ confirm: ['submit'] })
    await one('add_route', { url: '**/order', status: 307, headers: { location: `${site.url}/elsewhere` } })
    const running = one('click', { selector: '#buy' })
    expect(await asked()).toMatchObject({
      kind: 'submit',
      summary: `POST ${site.url}/order, redirected to ${site.url}/elsewhere`,
    })
    await reject()
    expect(await running).toMatchObject({ success: false, code: 'rejected' })
    expect(received).toEqual([])
    await one('remove_route', {})
    const again = one('click', { selector: '#buy' })
    await approve()
    expect(await again).toMatchObject({ success: true })
    expect(received).toEqual(['POST /order'])
  })
})
