import { chromium } from 'playwright'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { follow } from '../../src/client/client.ts'
import type { Client } from '../support/client.ts'
import { startForeignBrowser } from '../support/foreign-browser.ts'
import { homeNames, type Homes, openHomes } from '../support/homes.ts'
import { type ConnectedBrowser, connectBrowser } from '../support/relay.ts'
import { command, failureOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
let foreign: Awaited<ReturnType<typeof startForeignBrowser>>
const connected: ConnectedBrowser[] = []

beforeAll(async () => {
  ;[homes, site, foreign] = await Promise.all([
    openHomes(),
    serveSite({
      '/': '<title>Home</title><h1>Home</h1><script>console.log("hello")</script>',
      '/other': '<title>Other</title><p>Other',
      '/form': '<title>Form</title><button onclick="document.title = `Pressed`">Press</button>',
      '/send': `<title>Send</title><button>Press</button><input onkeydown="if (event.key === 'Enter') setTimeout(() => {
        document.body.append(Object.assign(document.createElement('output'), { textContent: 'Sent' })) }, 50)">`,
    }),
    startForeignBrowser(),
  ])
})
afterEach(async () => {
  for (const one of connected.splice(0)) await one.stop()
})
afterAll(async () => {
  await homes.close()
  await foreign.close()
  await site.close()
})

const connect = async (source: { token?: string; name?: string } = {}): Promise<ConnectedBrowser> => {
  const engine = source.token ? homes.baseUrl : `unix:${homes.stateDir}/test.sock`
  const one = await connectBrowser({ browser: foreign.url, engine, ...source })
  connected.push(one)
  await waitUntil(async () => (await homes.clients.unix.getRelay({ id: one.id })).active_target_id !== null)
  return one
}

describe.each(homeNames)('a browser of the relay (%s)', (home) => {
  const client = (): Client => homes.clients[home]
  const cdp = (session_id: string, method: string, params = {}) => client().cdp({ session_id, method, params })

  test('is listed with its tabs, and found by ID and by name', async () => {
    const { id } = await connect({ name: 'laptop' })
    const { sessions } = await client().listRelays({})
    expect(sessions).toMatchObject([{ id, name: 'laptop', status: 'connected', policy: 'no-lifecycle' }])
    const record = () => client().getRelay({ id: 'laptop' })
    // A tab responds late while the machine is busy.
    await expect
      .poll(async () => (await record()).targets)
      .toMatchObject([{ type: 'page', active: true, responsive: true }])
    expect((await record()).browser).toMatchObject({ product: expect.stringContaining('Chrome/'), headless: true })
    expect((await client().listSessions({})).relay_sessions).toBeUndefined()
    expect((await client().listSessions({ include: ['relay'] })).relay_sessions).toMatchObject([{ id }])
    expect(await failureOf(client().getRelay({ id: 'rly_none' }))).toMatchObject({ code: 'relay_not_found' })
  })

  test('takes the name of an ended session, but not that of a live one', async () => {
    const name = 'shared-name'
    const own = (await client().createSession({ headless: true, requested_name: name })).session_id!
    await expect(connect({ name })).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining(name) })
    const titleOf = { session_id: name, commands: [command('get_title')] }
    const evaluation = { expression: 'document.title' }
    expect((await client().runCommands(titleOf)).session_id).toBe(own)
    expect((await cdp(name, 'Runtime.evaluate', evaluation)).session_id).toBe(own)
    await client().closeSession({ session_id: own })
    const { id } = await connect({ name })
    expect(await failureOf(client().createSession({ requested_name: name }))).toMatchObject({ code: 'conflict' })
    expect((await client().runCommands(titleOf)).session_id).toBe(id)
    expect((await cdp(name, 'Runtime.evaluate', evaluation)).session_id).toBe(id)
    expect(await failureOf(client().listSessionFiles({ session_id: name }))).toMatchObject({ code: 'unsupported' })
    // Its ID still means the ended session.
    expect(await failureOf(cdp(own, 'Runtime.evaluate', evaluation))).toMatchObject({ code: 'session_closed' })
  })

  test('that does not exist is reported by its kind', async () => {
    const commands = [command('get_title')]
    for (const [id, code] of [
      ['rly_none', 'relay_not_found'],
      ['ses_none', 'session_not_found'],
      ['nobody', 'session_not_found'],
    ] as const) {
      expect(await failureOf(client().runCommands({ session_id: id, commands })), id).toMatchObject({ code })
      expect(await failureOf(client().observe({ session_id: id })), id).toMatchObject({ code })
      expect(await failureOf(cdp(id, 'Runtime.evaluate', { expression: '1' })), id).toMatchObject({ code })
    }
  })

  test('runs calls; a protocol error is a result, a denied call is an error', async () => {
    const { id } = await connect()
    const answer = await cdp(id, 'Runtime.evaluate', { expression: '6 * 7' })
    expect(answer).toMatchObject({ success: true, session_id: id, result: { result: { value: 42 } } })
    expect(await cdp(id, 'Foo.bar')).toMatchObject({
      success: false,
      code: 'cdp_error',
      cdp: { code: -32_601, message: "'Foo.bar' wasn't found" },
    })
    expect(await failureOf(cdp(id, 'Browser.close'))).toMatchObject({ code: 'method_denied' })
    expect(await failureOf(cdp(id, 'evaluate'))).toMatchObject({ code: 'invalid_request' })
    const hung = client().cdp({
      session_id: id,
      method: 'Runtime.evaluate',
      params: { expression: 'new Promise(() => {})', awaitPromise: true },
      timeout_ms: 100,
    })
    expect(await failureOf(hung)).toMatchObject({ code: 'timeout' })
  })

  test('reads, waits for, follows and clears events', async () => {
    const { id } = await connect()
    const waiting = client().readRelayEvents({ id, kind: ['console'], text: 'hello', wait_ms: 20_000 })
    await cdp(id, 'Page.navigate', { url: site.url })
    expect(await waiting).toMatchObject({ events: [{ kind: 'console', data: { text: 'hello', level: 'log' } }] })

    const seen: string[] = []
    for await (const event of follow(homes.transports[home], 'GET /relay/sessions/{id}/events', { id, since: 0 })) {
      seen.push(event.type)
      if (event.type === 'load') break
    }
    expect(seen).toEqual(expect.arrayContaining(['connected', 'attached', 'request', 'navigated', 'log']))

    const archive = await client().readRelayEvents({ id, format: 'har' })
    expect(archive).toMatchObject({ log: { version: '1.2' } })
    const { next } = (await client().readRelayEvents({ id })) as { next: number }
    await client().clearRelayEvents({ id })
    // The page may cause further events.
    const { events, gap } = (await client().readRelayEvents({ id })) as { events: { seq: number }[]; gap: unknown }
    expect([events.filter(({ seq }) => seq <= next), gap]).toEqual([[], null])
  })

  test('activates another tab', async () => {
    const { id } = await connect()
    const { result } = await cdp(id, 'Target.createTarget', { url: `${site.url}/other` })
    const other = result!['targetId'] as string
    const first = (await client().getRelay({ id })).targets[0]!.target_id
    await client().activateTarget({ id, target_id: first })
    await waitUntil(async () => (await client().getRelay({ id })).active_target_id === first)
    await client().activateTarget({ id, target_id: other })
    await waitUntil(async () => (await client().getRelay({ id })).active_target_id === other)
    await cdp(id, 'Target.closeTarget', { targetId: other })
    await waitUntil(async () => (await client().getRelay({ id })).targets.length === 1)
    expect(await failureOf(client().activateTarget({ id: 'no', target_id: first }))).toMatchObject({
      code: 'relay_not_found',
    })
    expect(await failureOf(client().activateTarget({ id, target_id: 'NOPE' }))).toMatchObject({
      code: 'target_not_found',
    })
  })

  test('runs commands beyond the catalogue of the interface', async () => {
    const { id } = await connect()
    const { results } = await client().runCommands({
      session_id: id,
      commands: [
        command('navigate_to', { url: site.url }),
        command('navigate_to', { url: `${site.url}/send` }),
        command('fill', { selector: 'input', text: 'typed at once' }),
        command('press_key', { key: 'Enter' }),
        command('wait_for', { selector: 'output' }),
        command('get_value', { selector: 'input' }),
        command('find_text', { text: 'press' }),
        command('verify', { selector: 'output', text: 'sent' }),
        command('go_back'),
        command('get_url'),
        command('get_console'),
      ],
    })
    expect(results.map(({ error }) => error)).toEqual(results.map(() => undefined))
    expect(results.slice(5).map(({ data }) => data)).toMatchObject([
      { result: { value: 'typed at once' } },
      { result: { value: [{ text: 'Press', role: 'button', ref: expect.stringMatching(/^e\d+$/) }] } },
      undefined,
      { url: `${site.url}/` },
      { result: { value: `${site.url}/` } },
      // The page has written it again after going back.
      { result: { value: [{ text: 'hello' }, { text: 'hello' }] } },
    ])
  })

  test('runs commands in the active tab or in the named one', async () => {
    const { id } = await connect()
    const done = await client().runCommands({
      session_id: id,
      commands: [command('navigate_to', { url: site.url }), command('get_title'), command('get_content')],
    })
    const active = (await client().getRelay({ id })).active_target_id
    expect(done).toMatchObject({
      success: true,
      session_id: id,
      target_id: active,
      results: [{}, { data: { result: { value: 'Home' } } }, { data: { content: '# Home\n' } }],
    })
    const { result } = await cdp(id, 'Target.createTarget', { url: `${site.url}/other`, background: true })
    const target_id = result!['targetId'] as string
    await waitUntil(async () =>
      (await client().getRelay({ id })).targets.some((one) => one.target_id === target_id && one.title === 'Other'),
    )
    const title = { session_id: id, commands: [command('get_title')] }
    const inTarget = await client().runCommands({ ...title, context: { target_id } })
    expect(inTarget).toMatchObject({ target_id, results: [{ data: { result: { value: 'Other' } } }] })
    await cdp(id, 'Target.closeTarget', { targetId: target_id })
    await waitUntil(async () => (await client().getRelay({ id })).targets.length === 1)
    await waitUntil(async () => (await foreign.pages()).length === 1)
    const lost = client().runCommands({ ...title, context: { target_id } })
    expect(await lost).toMatchObject({ success: false, code: 'target_not_found' })
    expect(await foreign.pages()).toHaveLength(1)
  })

  test('runs observations and steps', async () => {
    const { id } = await connect()
    await client().runCommands({
      session_id: id,
      commands: [{ command: 'navigate_to', data: { url: `${site.url}/form` } }],
    })
    const seen = await client().observe({ session_id: id })
    expect(seen).toMatchObject({ title: 'Form', elements: [{ role: 'button', name: 'Press' }] })
    const step = await client().browserStep({
      session_id: id,
      command: { command: 'click', data: { selector: `ref=${seen.elements![0]!.ref}` } },
    })
    expect(step).toMatchObject({ success: true, changes: { title_changed: true } })
    await client().runCommands({
      session_id: id,
      commands: [
        { command: 'evaluate', data: { expression: "document.querySelector('button').textContent = 'Again'" } },
      ],
    })
    const { changes, snapshot } = await client().observe({ session_id: id, diff: true })
    expect(changes!.texts!.replaced).toEqual([[expect.any(String), 'Again']])
    expect(snapshot).toBeUndefined()
    const files = await client().runCommands({
      session_id: id,
      commands: [{ command: 'screenshot', data: { path: 'page.png' } }],
    })
    expect(files).toMatchObject({ success: false, code: 'invalid_data' })
  })

  test('is released and keeps running', async () => {
    const one = await connect()
    await client().stopRelay({ id: one.id })
    await expect(one.running).rejects.toMatchObject({
      message: expect.stringContaining('the engine ended this relay session'),
    })
    connected.length = 0
    expect(await failureOf(client().getRelay({ id: one.id }))).toMatchObject({ code: 'relay_not_found' })
    expect(await foreign.pages()).toHaveLength(1)
  })
})

describe('CDP clients', () => {
  test('Playwright drives the browser next to single calls and events', async () => {
    const { token } = await homes.clients.http.createRelayToken({})
    const { id } = await connect({ token })
    const { cdp_url: url } = await homes.clients.http.getRelay({ id })
    const browser = await chromium.connectOverCDP(url!)
    const page = browser.contexts()[0]!.pages()[0]!
    await page.goto(`${site.url}/other`)
    expect(await page.textContent('p')).toBe('Other')
    const answer = await homes.clients.http.cdp({
      session_id: id,
      method: 'Runtime.evaluate',
      params: { expression: 'document.title' },
    })
    expect(answer).toMatchObject({ result: { result: { value: 'Other' } } })
    expect((await homes.clients.http.getRelay({ id })).clients.map(({ kind }) => kind)).toEqual([
      'collector',
      'ws',
      'cdp',
    ])
    await browser.close()
    await waitUntil(async () => (await homes.clients.http.getRelay({ id })).clients.every(({ kind }) => kind !== 'ws'))
    expect(await foreign.pages()).toHaveLength(1)
  })

  test('are only accepted with the token of the session', async () => {
    const { id } = await connect()
    const url = `${homes.baseUrl.replace('http', 'ws')}/relay/sessions/${id}/cdp`
    for (const wrong of [url, `${url}?token=ct_wrong`]) expect(await refusalOf(wrong)).toBe(401)
  })
})

describe('connectors', () => {
  test('need a token over HTTP, which is valid until it is revoked', async () => {
    const { http } = homes.clients
    expect(await failureOf(connect({ token: 'rlt_wrong' }))).toMatchObject({ code: 'unauthorized' })
    const { token, token_id } = await http.createRelayToken({ name: 'ci' })
    const one = await connect({ token })
    const { tokens } = await http.listRelayTokens({})
    expect(tokens.find((listed) => listed.token_id === token_id)).toMatchObject({
      name: 'ci',
      last_used_at: expect.any(String),
    })
    await http.revokeRelayToken({ token_id })
    await expect(one.running).rejects.toMatchObject({
      code: 'unauthorized',
      message: expect.stringContaining('revoked'),
    })
    connected.length = 0
    expect(await failureOf(connect({ token }))).toMatchObject({ code: 'unauthorized' })
    expect(await failureOf(http.revokeRelayToken({ token_id }))).toMatchObject({ code: 'token_not_found' })
  })

  test('with a single-use token connect one browser, which may reconnect', async () => {
    const { token } = await homes.clients.http.createRelayToken({ single_use: true })
    const one = await connect({ token })
    one.links[0]!.drop()
    await waitUntil(() => one.statuses.some((status) => status.state === 'connected' && status.resumed))
    await expect(connectBrowser({ browser: foreign.url, engine: homes.baseUrl, token })).rejects.toMatchObject({
      code: 'unauthorized',
      message: expect.stringContaining('already used'),
    })
  })

  test('of web pages are rejected, even with a valid token', async () => {
    const { token } = await homes.clients.http.createRelayToken({})
    const url = `${homes.baseUrl.replace('http', 'ws')}/relay/connect`
    const bearer = { authorization: `Bearer ${token}` }
    expect(await refusalOf(url, { ...bearer, origin: 'http://evil.test' })).toBe(403)
    expect(await refusalOf(url, { ...bearer, origin: 'null' })).toBe(403)
    expect(await refusalOf(url, { ...bearer, host: 'rebound.test' })).toBe(403)
    expect(await refusalOf(url.replace('/relay/connect', '/nothing'), bearer)).toBe(404)
  })
})

/** Returns the status with which an upgrade is rejected. */
function refusalOf(url: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, 'bax.relay.v1', { headers })
    socket.once('unexpected-response', (_request, response) => {
      resolve(response.statusCode!)
      socket.terminate()
    })
    socket.once('open', () => reject(new Error('it was let in')))
    socket.on('error', () => {})
  })
}
