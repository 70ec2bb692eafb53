import { once } from 'node:events'
import { WebSocket } from 'ws'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { download, follow, upload } from '../../../src/client/client.ts'
import { createClient } from '../../support/client.ts'
import { overHttp } from '../../../src/client/transport.ts'
import { operations } from '../../../src/operations/index.ts'
import { bytesOf } from '../../support/bytes.ts'
import { shellConfig } from '../../support/docker.ts'
import { startFleet, type TestFleet } from '../../support/fleet.ts'
import { titled } from '../../support/needs.ts'
import { noRedis } from '../../support/redis.ts'
import { request } from '../../support/server.ts'
import { failureOf } from '../../support/session-steps.ts'
import { busybox } from '../../support/shell.ts'
import { serveSite, type Site } from '../../support/site.ts'
import { waitUntil } from '../../support/wait.ts'
import { channelOf, requestWorker } from '../../support/worker-request.ts'

const title = [{ command: 'get_title' as const }]

describe.skipIf(noRedis)(titled('a gateway with two workers', noRedis), () => {
  let fleet: TestFleet
  let site: Site
  beforeAll(async () => {
    ;[fleet, site] = await Promise.all([
      startFleet([{ config: { shell: shellConfig } }, { config: { shell: shellConfig } }]),
      serveSite({ '/': '<title>Home</title><h1>Home</h1><p>Some text of the page.', '/other': '<title>Other</title>' }),
    ])
  })
  afterAll(async () => {
    await fleet.close()
    await site.close()
  })
  const client = () => fleet.gateway.client
  const transport = () => fleet.gateway.transport
  const create = async () => (await client().createSession({ start_url: `${site.url}/` })).session_id!

  test('places sessions on different workers, and finds them by ID and name', async () => {
    const one = await client().createSession({ requested_name: 'one', start_url: `${site.url}/` })
    const two = await client().createSession({ requested_name: 'two', start_url: `${site.url}/other` })
    expect([one.status, two.status]).toEqual(['ready', 'ready'])
    expect(one.cdp_url).toContain(fleet.gateway.url.replace('http', 'ws'))
    const statuses = await Promise.all(fleet.workers.map(({ engine }) => engine.status()))
    expect(statuses.map(({ sessions }) => sessions)).toEqual([1, 1])
    const ids = fleet.workers.map(({ id }) => id).toSorted()
    const records = await Promise.all(
      [one, two].map(({ session_id }) => client().getSession({ session_id: session_id! })),
    )
    expect(records.map(({ worker_id }) => worker_id).toSorted()).toEqual(ids)
    const { browsers } = await client().getEngineStatus({})
    expect([...new Set(browsers.map(({ worker_id }) => worker_id))].toSorted()).toEqual(ids)
    for (const [session_id, value] of [
      ['one', 'Home'],
      [two.session_id!, 'Other'],
    ] as const) {
      const { results } = await client().runCommands({ session_id, commands: title })
      expect(results[0]!.data).toMatchObject({ result: { value } })
    }
    expect(await failureOf(client().createSession({ requested_name: 'one' }))).toMatchObject({ code: 'conflict' })
    const listed = await client().listSessions({})
    expect(listed.sessions.map(({ name }) => name)).toEqual(['two', 'one'])
    expect(await client().getEngineStatus({})).toMatchObject({ sessions: 2, home: 'server' })
    expect((await client().closeSessions({})).total).toBe(2)
    expect(await failureOf(client().runCommands({ session_id: 'one', commands: title }))).toMatchObject({
      code: 'session_closed',
    })
  })

  test('reports unknown objects as a single engine does', async () => {
    expect(await failureOf(client().getSession({ session_id: 'nope' }))).toMatchObject({
      code: 'session_not_found',
      hint: 'list them with "bax session list"',
    })
    expect(await failureOf(client().getShellExec({ exec_id: 'ex_nope' }))).toMatchObject({ code: 'exec_not_found' })
    expect(await failureOf(client().getProvision({ provision_id: 'prv_nope' }))).toMatchObject({
      code: 'provision_not_found',
    })
  })

  test('validates input before a worker is chosen, and reports unknown fields', async () => {
    const bad = await request(fleet.gateway.url, 'POST', '/sessions', { viewport: 'wide' })
    expect(bad).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    const { body } = await request(fleet.gateway.url, 'GET', '/sessions?colour=red')
    expect(body.warning).toContain('colour')
  })

  test('reports invalid input for a session as its worker does', async () => {
    const session_id = await create()
    const { url } = fleet.gateway
    const send = (body: object) => request(url, 'POST', '/commands', body)
    // Twice, since the second request needs no look-up of the session.
    for (const commands of [title, title]) expect((await send({ session_id, commands })).status).toBe(200)
    const bad = await send({ session_id, commands: [{ command: 'click' }] })
    expect(bad).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', request_id: bad.headers.get('x-request-id') },
    })
    expect((await send({ sessionId: session_id, commands: title, colour: 'red' })).body.warning).toContain('colour')
    await client().closeSession({ session_id })
  })

  test('gives every response its own request ID, which errors of workers repeat', async () => {
    const { headers, body } = await request(fleet.gateway.url, 'GET', '/sessions/nope')
    expect(body.request_id).toBe(headers.get('x-request-id'))
    expect(headers.get('x-request-id')).not.toContain(',')
  })

  test('scrapes on a worker', async () => {
    const { data } = await client().scrape({ url: `${site.url}/` })
    expect(data!.markdown).toContain('Some text of the page.')
  })

  test('answers scrapes with max_age from the cache of the worker that loaded the page', async () => {
    // Enough pages that a choice by load would use both workers.
    const urls = Array.from({ length: 3 }, (_, at) => `${site.url}/?cached=${at}`)
    for (const url of urls) {
      const scrape = async (max_age: number) => (await client().scrape({ url, max_age })).data!.metadata.cached_at
      expect(await scrape(60_000)).toBeUndefined()
      expect(await scrape(60_000)).toMatch(/^\d{4}-/)
    }
  })

  test('runs commands in a new session', async () => {
    const go = { command: 'navigate_to' as const, data: { url: `${site.url}/other` } }
    const { session_id } = await client().runCommands({ commands: [go] })
    const { results } = await client().runCommands({ session_id, commands: title })
    expect(results[0]!.data).toMatchObject({ result: { value: 'Other' } })
    await client().closeSession({ session_id })
  })

  test('creates one session for repeated requests with an idempotency key', async () => {
    const again = createClient(overHttp(fleet.gateway.url, { 'idempotency-key': 'once' }), addressed)
    const [first, second] = await Promise.all([again.createSession({}), again.createSession({})])
    expect(second).toEqual(first)
    expect((await client().listSessions({})).total).toBe(1)
    await client().closeSession({ session_id: first.session_id! })
  })

  test('streams the events of a session until it ends', async () => {
    const session_id = await create()
    const types: string[] = []
    for await (const { type } of follow(transport(), 'GET /stream/sse', { session_id, replay: 'all' })) {
      types.push(type)
      if (type === 'page.navigated') await client().closeSession({ session_id })
    }
    expect(types.at(-1)).toBe('session.closed')
  })

  test('passes CDP and live view websockets on', async () => {
    const { session_id, cdp_url, frame_token } = await client().createSession({ start_url: `${site.url}/` })
    const cdp = new WebSocket(`${cdp_url}?token=${frame_token}`)
    await once(cdp, 'open')
    cdp.send(JSON.stringify({ id: 1, method: 'Browser.getVersion' }))
    const [answer] = await once(cdp, 'message')
    expect(JSON.parse(String(answer))).toMatchObject({ id: 1, result: { product: expect.stringContaining('Chrome') } })
    const { live_view_url } = await client().linkLiveView({ session_id: session_id! })
    expect((await fetch(live_view_url)).status).toBe(200)
    const live = new URL(live_view_url.replace('http', 'ws'))
    live.pathname = `/sessions/${session_id}/live`
    const view = new WebSocket(live, 'bax.live.v1')
    const [hello] = await once(view, 'message')
    expect(JSON.parse(String(hello))).toMatchObject({ type: 'hello' })
    await client().closeSession({ session_id: session_id! })
    await Promise.all([cdp, view].map((socket) => socket.readyState === WebSocket.CLOSED || once(socket, 'close')))
  })

  test('rejects a websocket as its worker does', async () => {
    const session_id = await create()
    const socket = new WebSocket(`${fleet.gateway.url.replace('http', 'ws')}/sessions/${session_id}/cdp?token=wrong`)
    const [, response] = await once(socket, 'unexpected-response')
    expect(response.statusCode).toBe(401)
    await client().closeSession({ session_id })
  })

  test('resolves the only session for CDP clients with an http URL', async () => {
    expect(await failureOf(client().cdpVersion({ session_id: 'nope' }))).toMatchObject({ code: 'session_not_found' })
    const none = await request(fleet.gateway.url, 'GET', '/json/version')
    expect(none.body).toMatchObject({ code: 'session_not_found', message: 'there is no session to connect to' })
    const one = await create()
    const { body } = await request(fleet.gateway.url, 'GET', '/json/version')
    expect(body.webSocketDebuggerUrl).toContain(`/sessions/${one}/cdp`)
    await create()
    expect((await request(fleet.gateway.url, 'GET', '/json/version')).body).toMatchObject({ code: 'conflict' })
    await client().closeSessions({})
  })

  test('uploads and downloads files, also in ranges', async () => {
    const session_id = await create()
    const content = Buffer.alloc(3 * 1024 * 1024, 'content ')
    const input = { session_id, name: 'large.bin' }
    expect(await upload(transport(), 'PUT /sessions/{session_id}/files/{name}', input, pieces(content))).toMatchObject({
      size: content.length,
    })
    const all = await download(transport(), 'GET /sessions/{session_id}/files/{name}', input)
    expect((await bytesOf(all.bytes)).equals(content)).toBe(true)
    const headers = { range: 'bytes=10-19' }
    const part = await download(transport(), 'GET /sessions/{session_id}/files/{name}', input, { headers })
    expect(part.status).toBe(206)
    expect(String(await bytesOf(part.bytes))).toBe('ntent cont')
    await client().closeSession({ session_id })
  })

  test('cancels the work of a client that disconnects', async () => {
    const session_id = await create()
    const gone = new AbortController()
    const script = { command: 'evaluate' as const, data: { expression: 'new Promise(() => {})', timeout_ms: 60_000 } }
    const body = JSON.stringify({ session_id, commands: [script] })
    const headers = { 'content-type': 'application/json' }
    const waiting = fetch(`${fleet.gateway.url}/commands`, { method: 'POST', headers, body, signal: gone.signal })
    await waitUntil(async () =>
      (await client().getSessionLog({ session_id })).events.some(({ type }) => type === 'command.started'),
    )
    gone.abort()
    await expect(waiting).rejects.toThrow('abort')
    const { results } = await client().runCommands({ session_id, commands: title, timeout_ms: 40_000 })
    expect(results[0]!.data).toMatchObject({ result: { value: 'Home' } })
    await client().closeSession({ session_id })
  })

  test('another gateway continues with the sessions of one that has stopped', async () => {
    const other = await fleet.addGateway()
    const { session_id } = await other.client.createSession({ start_url: `${site.url}/` })
    await other.stop()
    const { results } = await client().runCommands({ session_id: session_id!, commands: title })
    expect(results[0]!.data).toMatchObject({ result: { value: 'Home' } })
    await client().closeSession({ session_id: session_id! })
  })

  test('a worker refuses what no gateway has signed', async () => {
    const { url } = fleet.workers[0]!
    const { secretFile } = fleet
    for (const path of ['/sessions', '/healthz', '/openapi.json', '/nowhere'])
      expect(await requestWorker({ url, secretFile }, 'GET', path)).toMatchObject({
        status: 401,
        body: { code: 'unauthorized' },
      })
    const socket = new WebSocket(`${url.replace('http', 'wss')}/relay/connect`, 'bax.relay.v1', channelOf(secretFile))
    const [, response] = await once(socket, 'unexpected-response')
    expect(response.statusCode).toBe(401)
  })

  describe.skipIf(busybox.absent)(titled('shell sessions', busybox.absent), () => {
    test('run, stream and keep their output on their worker', async () => {
      const make = (name: string) => client().createShell({ name, image: busybox.image })
      const [first, second] = [await make('first'), await make('second')]
      const statuses = await Promise.all(fleet.workers.map(({ engine }) => engine.status()))
      expect(statuses.reduce((sum, { shells }) => sum + shells, 0)).toBe(2)
      const listed = await client().listShells({ limit: 1 })
      expect(listed).toMatchObject({ total: 2, sessions: [{ name: 'second' }] })
      expect((await client().listShells({ limit: 1, cursor: listed.next_cursor! })).sessions[0]!.name).toBe('first')
      const body = { session_id: 'first', command: 'echo 42 > /output/plot.txt; echo done', on_disconnect: 'continue' }
      const frames = []
      for await (const frame of follow(transport(), 'POST /shell/exec/stream', body))
        frames.push(frame as never as Record<string, string>)
      expect(frames.at(-1)).toMatchObject({ type: 'exit', exit_code: 0 })
      const { exec_id } = frames.find(({ type }) => type === 'start')!
      expect(await client().getShellExec({ exec_id: exec_id! })).toMatchObject({ exec_id, status: 'exited' })
      const { artifact_id } = frames.find(({ type }) => type === 'artifact')!
      expect(await client().getArtifact({ artifact_id: artifact_id! })).toMatchObject({ session_id: first.session_id })
      for (const { session_id } of [first, second]) await client().deleteShell({ session_id })
      expect((await client().listArtifacts({ session_id: first.session_id })).artifacts).toHaveLength(1)
    })
  })
})

const addressed = Object.entries(operations).map(([name, { http }]) => ({ name, http }))

async function* pieces(content: Buffer) {
  for (let at = 0; at < content.length; at += 100_000) yield content.subarray(at, at + 100_000)
}
