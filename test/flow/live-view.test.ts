import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createApp } from '../../src/server/app.ts'
import { loopbackHosts } from '../../src/server/access/gate.ts'
import { listen } from '../../src/server/process/listen.ts'
import { failureOf, valueOf } from '../support/session-steps.ts'
import { liveViews } from '../support/live-views.ts'
import { clickAt, takeOver, waitForFrame } from '../support/views.ts'
import { waitUntil } from '../support/wait.ts'

const { create, given, linkTo, openView } = liveViews()

describe('the live view in a browser', () => {
  test('shows the page, its tabs, its URL and its events', async () => {
    const session_id = await create('/red')
    const view = await openView((await linkTo(session_id)).live_view_url)
    // The first frame may be older than the background.
    await view.waitForFunction(() => {
      const canvas = document.querySelector('canvas')!
      const [red, green] = canvas.getContext('2d')!.getImageData(50, 50, 1, 1).data
      return red! > 240 && green! < 20
    })
    await view.getByLabel('Tabs').getByText('Red').waitFor()
    expect(await view.getByLabel('Address').inputValue()).toBe(`${given.site.url}/red`)
    await given.homes.clients.http.runCommands({
      session_id,
      commands: [{ command: 'navigate_to', data: { url: `${given.site.url}/done` } }],
    })
    await view.getByLabel('Events').getByText('navigate_to').first().waitFor()
    await view.getByLabel('Tabs').getByText('Done').waitFor()
    expect(await view.getByLabel('Address').inputValue()).toBe(`${given.site.url}/done`)
    expect(await view.getByLabel('Events').getByText('network.response').first().isVisible()).toBe(false)
    await view.getByLabel('Filter events').fill('network.response')
    expect(await view.getByLabel('Events').getByText('network.response').first().isVisible()).toBe(true)
  })

  test('follows the active tab, and shows that the session has ended', async () => {
    const session_id = await create('/red')
    const view = await openView((await linkTo(session_id)).live_view_url)
    await waitForFrame(view)
    await valueOf(given.homes.clients.http, session_id, `void window.open('/done')`)
    await view.getByLabel('Tabs').getByText('Done').waitFor()
    expect(await view.getByLabel('Tabs').getByRole('listitem').count()).toBe(2)
    await given.homes.clients.http.closeSession({ session_id })
    await view.getByText('the session has ended').waitFor()
  })

  test('does not accept input without control access', async () => {
    const session_id = await create()
    const view = await openView((await linkTo(session_id)).live_view_url)
    await waitForFrame(view)
    expect(await view.getByRole('button', { name: 'Take control' }).isVisible()).toBe(false)
    expect(await view.getByLabel('Back').isDisabled()).toBe(true)
    await clickAt(view, 100, 20)
    await view.keyboard.type('mine')
    expect(await valueOf(given.homes.clients.http, session_id, 'document.forms[0].who.value')).toBe('')
  })

  test('lets a person take control, fill a form and return control; commands wait meanwhile', async () => {
    const session_id = await create()
    const view = await openView((await linkTo(session_id, true)).live_view_url)
    await waitForFrame(view)
    await takeOver(view)
    let settled = false
    const waiting = valueOf(given.homes.clients.http, session_id, 'location.pathname + location.search').then(
      (value) => {
        settled = true
        return value
      },
    )
    await clickAt(view, 100, 20)
    await view.keyboard.type('ada')
    await view.keyboard.press('Tab')
    await view.keyboard.type('Pa55!')
    await view.keyboard.press('Enter')
    await view.waitForFunction(() => document.querySelector<HTMLInputElement>('#address')!.value.includes('/done'))
    expect(settled).toBe(false)
    await view.getByRole('button', { name: 'Return control' }).click()
    expect(await waiting).toBe('/done?who=ada&word=Pa55%21')
    const { left_out, script } = await given.homes.clients.http.getSessionScript({ session_id })
    expect(left_out).toEqual([])
    expect(script).toMatch(/text: ada\n[\s\S]*- press_key: Tab\n[\s\S]*\$\{env\.PASSWORD\}[\s\S]*- press_key: Enter\n/)
    expect(script).not.toContain('Pa55')
    await view.getByRole('button', { name: 'Take control' }).waitFor()
  })

  test('lets a person navigate, go back, and paste', async () => {
    const session_id = await create()
    const view = await openView((await linkTo(session_id, true)).live_view_url)
    await waitForFrame(view)
    await takeOver(view)
    const address = (part: string) =>
      view.waitForFunction((end) => document.querySelector<HTMLInputElement>('#address')!.value.endsWith(end), part)
    await view.getByLabel('Address').fill(`${given.site.url}/red`)
    await view.keyboard.press('Enter')
    await address('/red')
    await view.getByLabel('Back').click()
    await address(`${new URL(given.site.url).port}/`)
    // The field exists once the page has loaded.
    await view.getByLabel('Tabs').getByText('Sign in').waitFor()
    await clickAt(view, 100, 20)
    await view.evaluate(() => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', 'pasted – 漢字')
      document.dispatchEvent(new ClipboardEvent('paste', { clipboardData }))
    })
    await view.getByRole('button', { name: 'Return control' }).click()
    await waitUntil(
      async () => (await valueOf(given.homes.clients.http, session_id, 'document.forms[0].who.value')) !== '',
    )
    expect(await valueOf(given.homes.clients.http, session_id, 'document.forms[0].who.value')).toBe('pasted – 漢字')
  })

  test('shows dialogs to the person in control, and dismisses them otherwise', async () => {
    const session_id = await create()
    const view = await openView((await linkTo(session_id, true)).live_view_url)
    await waitForFrame(view)
    await takeOver(view)
    await clickAt(view, 100, 140)
    await view.getByRole('dialog').getByText('Your name?').waitFor()
    await view.getByLabel('Answer').fill('Grace')
    await view.getByRole('button', { name: 'OK' }).click()
    await view.getByRole('dialog').getByText('Your name?').waitFor({ state: 'hidden' })
    await view.getByRole('button', { name: 'Return control' }).click()
    expect(await valueOf(given.homes.clients.http, session_id, 'document.title')).toBe('Grace')
    expect(await valueOf(given.homes.clients.http, session_id, `prompt('Again?')`)).toBe(null)
  })

  test('loads nothing from other origins, runs no inline scripts, and cannot be framed', async () => {
    const session_id = await create()
    const { live_view_url } = await linkTo(session_id)
    const page = await given.views.newPage()
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    const answer = (await page.goto(live_view_url))!
    await waitForFrame(page)
    expect(new Set(requests.map((url) => new URL(url).origin))).toEqual(new Set([given.homes.baseUrl]))
    const { 'content-security-policy': policy, 'referrer-policy': referrer } = answer.headers()
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*/)
    expect(referrer).toBe('no-referrer')
  })
})

test('may be framed by allowed origins only', async () => {
  const session_id = await create('/red')
  const gate = { hosts: loopbackHosts, origins: new Set([given.site.url]), keys: null }
  const { engine } = given.homes
  const app = createApp({ engine, gate, sockets: 'here' })
  const listener = await listen(app, { host: '127.0.0.1', port: 0 }, { engine, gate, own: false })
  const { token } = await linkTo(session_id)
  const framed = (address: string) => `<iframe src="${address}" width="900" height="600"></iframe>`
  const page = await given.views.newPage()
  await page.goto(given.site.url)
  await page.setContent(framed(`${listener.address}/live/${session_id}?token=${token}`))
  await page.frameLocator('iframe').getByText('Red').first().waitFor()
  const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
  await page.setContent(framed(`${given.homes.baseUrl}/live/${session_id}?token=${token}`))
  await refused
  await page.goto('about:blank')
  await listener.close()
})

describe('the websocket of the live view', () => {
  const opening = async (session_id: string, token: string | null, headers: Record<string, string> = {}) => {
    const protocols = ['bax.live.v1', ...(token === null ? [] : [`bax.bearer.${token}`])]
    const socket = new WebSocket(
      `${given.homes.baseUrl.replace('http', 'ws')}/sessions/${session_id}/live`,
      protocols,
      {
        headers,
      },
    )
    socket.on('error', () => {})
    const status = await new Promise<number>((resolve) => {
      socket.once('open', () => resolve(101))
      socket.once('unexpected-response', (_request, { statusCode }) => resolve(statusCode!))
    })
    return { socket, status }
  }
  const answersOf = (socket: WebSocket) => {
    const messages: Record<string, unknown>[] = []
    socket.on('message', (data: Buffer, isBinary) => isBinary || messages.push(JSON.parse(data.toString())))
    return messages
  }

  test('accepts only tokens of this session', async () => {
    const [session_id, other] = [await create(), await create()]
    const { token } = await linkTo(session_id)
    expect((await opening(session_id, null)).status).toBe(401)
    expect((await opening(session_id, 'ft_wrong')).status).toBe(401)
    expect((await opening(other, token)).status).toBe(401)
    expect((await opening(session_id, token, { origin: 'https://elsewhere.example' })).status).toBe(403)
    const { socket, status } = await opening(session_id, token)
    expect(status).toBe(101)
    socket.close()
  })

  test('does not accept input with the frame_token of a session', async () => {
    const { session_id, frame_token } = await given.homes.clients.http.createSession({ headless: true })
    const { socket } = await opening(session_id!, frame_token!)
    const messages = answersOf(socket)
    socket.send(JSON.stringify({ type: 'take' }))
    await waitUntil(() => messages.some(({ type }) => type === 'error'))
    expect(messages.find(({ type }) => type === 'error')).toMatchObject({ code: 'unauthorized' })
    socket.close()
  })

  test('accepts input of the viewer with control only, until that viewer returns it', async () => {
    const session_id = await create()
    const { token } = await linkTo(session_id, true)
    const sockets = [await opening(session_id, token), await opening(session_id, token)].map(({ socket }) => socket)
    const [first, second] = sockets as [WebSocket, WebSocket]
    const [, messages] = sockets.map(answersOf)
    const send = (socket: WebSocket, message: object) => socket.send(JSON.stringify(message))
    const isHeldBy = (who: string) =>
      waitUntil(() => messages!.findLast(({ type }) => type === 'control')?.['holder'] === who)
    send(first, { type: 'take' })
    await isHeldBy('another')
    send(second, { type: 'take' })
    send(second, { type: 'text', text: 'x' })
    const errors = () => messages!.filter(({ type }) => type === 'error').map(({ code }) => code)
    await waitUntil(() => errors().length === 2)
    expect(errors()).toEqual(['conflict', 'conflict'])
    send(first, { type: 'return' })
    await isHeldBy('nobody')
    for (const socket of sockets) socket.close()
  })

  test('reports invalid messages, and continues', async () => {
    const session_id = await create()
    const { socket } = await opening(session_id, (await linkTo(session_id, true)).token)
    const messages = answersOf(socket)
    const errors = () => messages.filter(({ type }) => type === 'error').map(({ code }) => code)
    const wrong = [
      '{',
      '[]',
      JSON.stringify({ type: 'fly' }),
      JSON.stringify({ type: 'mouse', action: 'move', x: -1, y: 0 }),
      JSON.stringify({ type: 'key', action: 'down', key: 'x' }),
      JSON.stringify({ type: 'dialog', accept: true }),
      JSON.stringify({ type: 'record', on: true }),
      JSON.stringify({ type: 'record', on: 'yes' }),
    ]
    for (const text of wrong) socket.send(text)
    await waitUntil(() => errors().length === wrong.length)
    expect(errors().toSorted()).toEqual([
      'conflict',
      'conflict',
      'conflict',
      'invalid_json',
      'invalid_request',
      'invalid_request',
      'invalid_request',
      'invalid_request',
    ])
    socket.send(JSON.stringify({ type: 'take' }))
    await waitUntil(() => messages.some(({ type, holder }) => type === 'control' && holder === 'you'))
    socket.send(JSON.stringify({ type: 'navigate', url: 'file:///etc/passwd' }))
    await waitUntil(() => errors().includes('url_blocked'))
    socket.close()
  })

  test('does not let a slow reader block the session or the engine', async () => {
    const session_id = await create('/busy')
    const { socket } = await opening(session_id, (await linkTo(session_id)).token)
    socket.pause()
    const count = () =>
      valueOf(given.homes.clients.http, session_id, 'Number(document.querySelector("h1").textContent)')
    const before = (await count()) as number
    await waitUntil(async () => ((await count()) as number) > before + 20)
    socket.resume()
    const [data] = (await once(socket, 'message')) as [Buffer]
    expect(data.length).toBeGreaterThan(0)
    socket.terminate()
  })

  test('disconnects a client that sends too many messages', async () => {
    const session_id = await create()
    const { socket } = await opening(session_id, (await linkTo(session_id, true)).token)
    const closed = once(socket, 'close')
    for (let at = 0; at < 5000; at += 1) socket.send(JSON.stringify({ type: 'take' }))
    expect(String((await closed)[1])).toBe('too many messages per second')
    expect(await valueOf(given.homes.clients.http, session_id, '6 * 7')).toBe(42)
  })

  test('is not available in an embedded engine', async () => {
    const session_id = await create()
    expect(await failureOf(given.homes.clients.embedded.linkLiveView({ session_id, control: false }))).toMatchObject({
      code: 'unsupported',
    })
    expect((await given.homes.clients.embedded.getSession({ session_id })).live_view_url).toBe(null)
    expect((await given.homes.clients.http.getSession({ session_id })).live_view_url).toBe(
      `${given.homes.baseUrl}/live/${session_id}`,
    )
  })
})
