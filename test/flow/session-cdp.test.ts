import { once } from 'node:events'
import { WebSocket } from 'ws'
import { chromium } from 'playwright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { closeCodes } from '../../src/core/net/link.ts'
import { type Homes, openHomes, usualHomes } from '../support/homes.ts'
import { failureOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site

beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes(),
    serveSite({ '/': '<title>Home</title><h1>Home</h1>', '/other': '<title>Other</title><p>Other' }),
  ])
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

const create = (path = '') => homes.clients.http.createSession({ headless: true, start_url: `${site.url}/${path}` })

describe.each(usualHomes)('CDP on a browser session (%s)', (home) => {
  const call = (session_id: string, method: string, params = {}, target_id?: string) =>
    homes.clients[home].cdp({ session_id, method, params, ...(target_id && { target_id }) })

  test('calls the active page, and keeps domains enabled there', async () => {
    const { session_id: id } = await create()
    const title = await call(id!, 'Runtime.evaluate', { expression: 'document.title' })
    expect(title).toMatchObject({ success: true, session_id: id, result: { result: { value: 'Home' } } })
    await call(id!, 'DOM.enable')
    expect(await call(id!, 'DOM.getDocument')).toMatchObject({
      success: true,
      result: { root: { nodeName: '#document' } },
    })
    expect(await call(id!, 'Browser.getVersion')).toMatchObject({ success: true, target_id: null })
    await homes.clients.http.closeSession({ session_id: id! })
    expect(await failureOf(call(id!, 'Browser.getVersion'))).toMatchObject({ code: 'session_closed' })
  })

  test('isolates the session from other sessions', async () => {
    const [mine, other] = await Promise.all([create(), create('other')])
    const targetsOf = async (id: string) => {
      const { result } = await call(id, 'Target.getTargets')
      return result!['targetInfos'] as { targetId: string; url: string; browserContextId: string }[]
    }
    const [foreign] = await targetsOf(other.session_id!)
    expect((await targetsOf(mine.session_id!)).map(({ url }) => url)).toEqual([`${site.url}/`])
    const { targetId, browserContextId } = foreign!
    const id = mine.session_id!
    expect(await call(id, 'Target.closeTarget', { targetId })).toMatchObject({ code: 'cdp_error' })
    expect(await failureOf(call(id, 'Runtime.evaluate', { expression: '1' }, targetId))).toMatchObject({
      code: 'target_not_found',
    })
    for (const [method, params, target] of [
      ['Browser.close', {}],
      ['Target.disposeBrowserContext', { browserContextId }],
      ['Target.createTarget', { url: 'about:blank', browserContextId }],
      ['Storage.getCookies', { browserContextId }],
      ['SystemInfo.getProcessInfo', {}],
      ['Fetch.enable', {}, 'browser'],
      ['Security.setIgnoreCertificateErrors', { ignore: true }, 'browser'],
    ] as const) {
      expect(await failureOf(call(id, method, params, target)), method).toMatchObject({ code: 'method_denied' })
    }
    const made = await call(id, 'Target.createTarget', { url: 'about:blank' })
    const tabs = async () => (await homes.clients.http.getSession({ session_id: id })).tabs
    await waitUntil(async () => (await tabs()) === 2)
    expect((await targetsOf(id)).map((target) => target.targetId)).toContain(made.result!['targetId'])
    await Promise.all(
      [mine, other].map(({ session_id }) => homes.clients.http.closeSession({ session_id: session_id! })),
    )
  })
})

test('connects Playwright to one session without affecting others', async () => {
  const [mine, other] = await Promise.all([create(), create('other')])
  const browser = await chromium.connectOverCDP(`${mine.cdp_url}?token=${mine.frame_token}`)
  const pages = browser.contexts().flatMap((context) => context.pages())
  expect(pages.map((page) => page.url())).toEqual([`${site.url}/`])
  await pages[0]!.goto(`${site.url}/other`)
  expect(await pages[0]!.textContent('p')).toBe('Other')
  const title = [{ command: 'navigate_to', data: { url: site.url } }, { command: 'get_title' }]
  const beside = await homes.clients.http.runCommands({ session_id: other.session_id!, commands: title })
  expect(beside).toMatchObject({ success: true, results: [{}, { data: { result: { value: 'Home' } } }] })
  await browser.close()
  const after = await homes.clients.http.runCommands({
    session_id: mine.session_id!,
    commands: [{ command: 'get_title' }],
  })
  expect(after).toMatchObject({ results: [{ data: { result: { value: 'Other' } } }] })
  await expect(chromium.connectOverCDP(`${mine.cdp_url}?token=ft_wrong`)).rejects.toThrow(/401/)
})

test('uploads a large file with Playwright in one message', async () => {
  const { session_id: id, cdp_url, frame_token } = await create()
  const browser = await chromium.connectOverCDP(`${cdp_url}?token=${frame_token}`)
  const page = browser.contexts()[0]!.pages()[0]!
  await page.setContent('<input type="file">')
  const buffer = Buffer.alloc(24 * 1024 * 1024)
  const file = { name: 'large.bin', mimeType: 'application/octet-stream', buffer }
  await page.setInputFiles('input', file, { timeout: 0 })
  expect(await page.evaluate('document.querySelector("input").files[0].size')).toBe(buffer.length)
  await browser.close()
  await homes.clients.http.closeSession({ session_id: id! })
})

test('disconnects only the client that sends invalid messages, and all when the session ends', async () => {
  const { session_id: id, cdp_url, frame_token } = await create()
  const connect = async () => {
    const socket = new WebSocket(`${cdp_url}?token=${frame_token}`)
    const closed = new Promise<number>((resolve) => socket.once('close', resolve))
    await new Promise((resolve) => socket.once('open', resolve))
    return { socket, closed }
  }
  const good = await connect()
  const withParts = (parts: object) => JSON.stringify({ id: 1, method: 'Fetch.enable', ...parts })
  const malformed = [{ params: null }, { params: 1 }, { sessionId: '' }, { sessionId: null }, { id: {} }].map(withParts)
  for (const text of ['{', 'null', '[]', '{"id":1}', ...malformed]) {
    const bad = await connect()
    bad.socket.send(text)
    expect(await bad.closed).toBe(closeCodes.protocol)
  }
  const answered = new Promise<string>((resolve) => good.socket.once('message', (data) => resolve(String(data))))
  good.socket.send('{"id":1,"method":"Browser.getVersion"}')
  expect(JSON.parse(await answered)).toMatchObject({ id: 1, result: { protocolVersion: '1.3' } })
  await homes.clients.http.closeSession({ session_id: id! })
  expect(await good.closed).toBe(closeCodes.browserGone)
})

describe('WebSockets opened by tokens', () => {
  const connect = async (address: string) => {
    const socket = new WebSocket(address)
    socket.on('error', () => {})
    const status = await new Promise<number>((resolve) => {
      socket.once('open', () => resolve(101))
      socket.once('unexpected-response', (_request, { statusCode }) => resolve(statusCode!))
    })
    return { socket, status }
  }

  test('are limited per session over all tokens, clients and views', async () => {
    const { session_id: id, cdp_url, frame_token } = await create()
    const { token } = await homes.clients.http.linkLiveView({ session_id: id!, control: true })
    const ways = [
      `${cdp_url}?token=${frame_token}`,
      `${cdp_url!.replace(/cdp$/, 'live')}?token=${frame_token}`,
      `${cdp_url!.replace(/cdp$/, 'live')}?token=${token}`,
    ]
    const { ofSession } = limits.openEnds
    const inside = await Promise.all(Array.from({ length: ofSession }, (_, at) => connect(ways[at % ways.length]!)))
    expect(new Set(inside.map(({ status }) => status))).toEqual(new Set([101]))
    for (const way of ways) expect((await connect(way)).status, way).toBe(429)
    const other = await create()
    expect((await connect(`${other.cdp_url}?token=${other.frame_token}`)).status).toBe(101)
    for (const at of [0, 1]) {
      inside[at]!.socket.close()
      await once(inside[at]!.socket, 'close')
    }
    for (const way of [ways[0]!, ways[2]!]) await waitUntil(async () => (await connect(way)).status === 101)
    expect((await connect(ways[1]!)).status).toBe(429)
    await Promise.all([id, other.session_id].map((one) => homes.clients.http.closeSession({ session_id: one! })))
  })

  test('are limited when opened concurrently', async () => {
    const { session_id: id, cdp_url, frame_token } = await create()
    let closed = 0
    const answer = async (address: string) => {
      const { socket, status } = await connect(address)
      socket.once('close', () => (closed += status === 101 ? 1 : 0))
      return status
    }
    const { ofSession } = limits.openEnds
    const all = Array.from({ length: ofSession + 20 }, () => answer(`${cdp_url}?token=${frame_token}`))
    const inside = (await Promise.all(all)).filter((status) => status === 101).length
    // The last one may close clients that connected at the same time.
    await waitUntil(async () => inside - closed === ofSession)
    expect((await connect(`${cdp_url}?token=${frame_token}`)).status).toBe(429)
    await homes.clients.http.closeSession({ session_id: id! })
  })
})
