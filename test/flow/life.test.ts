import { mkdir, rmdir } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { type HeldPage, heldPages } from '../support/held-pages.ts'
import { freePort } from '../support/ports.ts'
import { request, type LogLine, type RunningServer, serve, stop } from '../support/server.ts'
import { isRunning } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let built: BuiltBax
let site: Site
let held: HeldPage

beforeAll(async () => {
  held = heldPages()
  ;[built, site] = await Promise.all([
    buildBax(),
    serveSite({ '/': '<title>Home</title><main><h1>Home</h1><p>Some words of a page.</p></main>', '/held': held.page }),
  ])
})
afterAll(async () => {
  held.release()
  await built.close()
  await site.close()
})

/** Private addresses are blocked by default; the fixture site is on one. */
const flags = ['--allow-private', '127.0.0.0/8']

const line = (message: string) => (one: LogLine) => one.message === message

describe('a server', () => {
  let server: RunningServer
  beforeAll(async () => {
    server = await serve(built, [...flags, '--metrics', '127.0.0.1:0'])
  })
  afterAll(() => stop(server))

  test('is healthy, and ready if a browser starts and its folder is writable', async () => {
    expect(await server.request('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
    const { status, body } = await server.request('GET', '/readyz')
    expect([status, body]).toEqual([
      200,
      { status: 'ready', parts: { accepting: { ok: true }, browser: { ok: true }, state: { ok: true } } },
    ])
  })

  test('is not ready while its folder is not writable, without revealing its path', async () => {
    const inTheWay = join(server.stateDir, 'ready')
    await mkdir(inTheWay)
    await waitUntil(async () => (await server.request('GET', '/readyz')).status === 503)
    const { body, headers } = await server.request('GET', '/readyz')
    expect(body).toMatchObject({
      code: 'not_ready',
      error: 'the service is not ready: the state folder cannot be written',
      details: { parts: { state: { ok: false }, browser: { ok: true } } },
    })
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
    expect(JSON.stringify(body)).not.toContain(server.stateDir)
    await rmdir(inTheWay)
    await waitUntil(async () => (await server.request('GET', '/readyz')).status === 200)
  })

  test('logs every request in one line without secrets', async () => {
    const { url } = server
    const answer = await fetch(`${url}/v1/scrape?token=ft_hidden`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': 'from-outside:1', cookie: 'login=hidden' },
      body: JSON.stringify({ url: `${site.url}/?token=hidden` }),
    })
    const size = (await answer.text()).length
    const logged = await server.waitForLog((one) => one['client_request_id'] === 'from-outside:1')
    expect(logged).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      message: 'request',
      request_id: answer.headers.get('x-request-id'),
      client_request_id: 'from-outside:1',
      operation: 'scrape',
      method: 'POST',
      path: '/v1/scrape',
      status: 200,
      ms: expect.any(Number),
      bytes: expect.any(Number),
      key_id: null,
    })
    expect(logged['bytes']).toBeGreaterThan(size)
    expect(JSON.stringify(logged)).not.toContain('hidden')
  })

  test('assigns an ID to every request, and logs valid IDs of callers', async () => {
    const answer = await fetch(`${server.url}/nowhere`, { headers: { 'x-request-id': 'not "fit"' } })
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    const logged = await server.waitForLog((one) => one['path'] === '/nowhere')
    expect(logged).toMatchObject({ operation: 'unknown', status: 404 })
    expect(logged).not.toHaveProperty('client_request_id')
  })

  test('logs callers that disconnect before the response', async () => {
    const { hostname, port } = new URL(server.url)
    const body = JSON.stringify({ url: `${site.url}/held`, render: 'http' })
    const socket = createConnection(Number(port), hostname)
    socket.write(
      `POST /v1/scrape HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    await held.requested()
    socket.destroy()
    expect(await server.waitForLog((one) => one['cut'] === true)).toMatchObject({ operation: 'scrape', bytes: 0 })
  })

  test('exports metrics of requests by operation and status, and of resources', async () => {
    const { session_id } = (await server.request('POST', '/sessions', {})).body
    await server.request('POST', '/commands', { session_id, commands: [{ command: 'get_title' }] })
    await server.request('POST', '/commands', { session_id: 'ses_unknown', commands: [{ command: 'get_title' }] })
    const { body, headers } = await server.request('GET', '/metrics')
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1])
    expect(value('bax_requests_total{operation="runCommands",status="200"}')).toBe(1)
    expect(value('bax_requests_total{operation="runCommands",status="404"}')).toBe(1)
    expect(value('bax_request_duration_seconds_count{operation="runCommands",status="200"}')).toBe(1)
    expect(value('bax_response_bytes_total{operation="runCommands"}')).toBeGreaterThan(100)
    expect(value('bax_sessions')).toBe(1)
    expect(value('bax_browsers{kind="headless"}')).toBe(1)
    expect(value('bax_queue_length{queue="sessions"}')).toBe(0)
    expect(value('bax_egress_refused_total{reason="private"}')).toBe(0)
    for (const url of ['http://10.0.0.1/', 'http://169.254.169.254/latest/'])
      expect((await server.request('POST', '/v1/scrape', { url })).status).toBe(403)
    const refused = (await server.request('GET', '/metrics')).body
    expect(refused).toMatch(/^# TYPE bax_egress_refused_total counter$/m)
    expect(refused).toMatch(/^bax_egress_refused_total\{reason="private"\} 1$/m)
    expect(refused).toMatch(/^bax_egress_refused_total\{reason="metadata"\} 1$/m)
    // This request.
    expect(value('bax_requests_in_flight')).toBe(1)
    expect(body).toMatch(/^nodejs_eventloop_lag_seconds /m)
    expect(body).toMatch(/^process_resident_memory_bytes /m)
    await server.request('DELETE', `/sessions/${session_id}`)
  })

  test('serves only metrics at the metrics address', async () => {
    const { message } = await server.waitForLog((one) => one.message.startsWith('metrics are at '))
    const metricsUrl = message.slice('metrics are at '.length)
    expect((await request(metricsUrl, 'GET', '')).body).toContain('bax_requests_total')
    expect((await request(metricsUrl.replace('/metrics', ''), 'GET', '/engine')).status).toBe(404)
  })
})

test('a server without a browser is healthy but not ready', async () => {
  const server = await serve(built, ['--browser', '/nowhere/chromium'])
  expect((await server.request('GET', '/healthz')).status).toBe(200)
  const { status, body } = await server.request('GET', '/readyz')
  expect([status, body.code, body.details.parts.browser]).toEqual([
    503,
    'not_ready',
    { ok: false, message: 'no browser was found' },
  ])
  expect(await stop(server)).toBe(0)
})

test('logs text with one line per event, from the configured level on', async () => {
  const folder = await built.stateDir()
  const port = await freePort()
  const quiet = built.start(['serve', '--port', `${port}`, '--log-level', 'error'], { env: { BAX_STATE_DIR: folder } })
  const text = built.start(['serve', '--port', '0', '--log-format', 'text'], {
    env: { BAX_STATE_DIR: await built.stateDir() },
  })
  const printed = await text.waitForStderr('bax is listening on http://')
  const lines = printed.trimEnd().split('\n')
  expect(lines.pop()).toMatch(/^\d\d:\d\d:\d\d\.\d{3} info {2}bax is listening on http:\/\/127\.0\.0\.1:\d+$/)
  // The server of the test has no keys, and as root browsers have no sandbox.
  for (const line of lines)
    expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} warn {2}(?:browsers run as root|no API key is required)/)
  // It prints nothing, not even that it listens.
  const isHealthy = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
  await waitUntil(isHealthy)
  for (const { child } of [quiet, text]) child.kill('SIGTERM')
  expect(await quiet.ended).toMatchObject({ code: 0, stderr: '' })
  expect((await text.ended).code).toBe(0)
})

describe('at SIGTERM', () => {
  test('running work finishes, new work is rejected, streams end, and the exit code is 0', async () => {
    const server = await serve(built, flags)
    const { session_id } = (await server.request('POST', '/sessions', { start_url: site.url })).body
    const watching = (await fetch(`${server.url}/stream/sse?session_id=${session_id}`)).text()
    const scraping = server.request('POST', '/v1/scrape', { url: `${site.url}/held`, render: 'http' })
    await held.requested()
    server.child.kill('SIGTERM')
    await server.waitForLog(line('draining'))

    const ready = await server.request('GET', '/readyz')
    expect([ready.status, ready.body.code]).toEqual([503, 'shutting_down'])
    const refused = await server.request('POST', '/v1/scrape', { url: site.url })
    expect([refused.status, refused.body.code]).toEqual([503, 'shutting_down'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('connection')).toBe('close')
    expect(await refusalOf(`${server.url.replace('http', 'ws')}/sessions/${session_id}/cdp`)).toBe(503)
    // Existing work can still be read and ended.
    expect((await server.request('GET', `/sessions/${session_id}`)).body).toMatchObject({ status: 'ready' })

    held.release()
    expect(await scraping).toMatchObject({ status: 200, body: { success: true } })
    expect(await watching).toContain('"type":"session.closed"')
    const { code, stderr } = await server.ended
    expect(code).toBe(0)
    expect(stderr).toContain('"message":"drained"')
  })

  test('work that does not finish in time is cancelled with a response', async () => {
    const server = await serve(built, [...flags, '--drain-secs', '0.2'])
    const { session_id } = (await server.request('POST', '/sessions', {})).body
    const hanging = server.request('POST', '/commands', {
      session_id,
      commands: [{ command: 'evaluate', data: { expression: 'new Promise(() => {})' } }],
    })
    await commandStarted(server, session_id)
    server.child.kill('SIGTERM')
    expect(await hanging).toMatchObject({ status: 200, body: { success: false, code: 'session_closed' } })
    expect((await server.ended).code).toBe(0)
  })

  test('a second signal exits immediately without leaving a browser', async () => {
    const server = await serve(built, flags)
    const { session_id } = (await server.request('POST', '/sessions', {})).body
    const { browsers } = (await server.request('GET', '/engine')).body
    const hanging = server
      .request('POST', '/commands', {
        session_id,
        commands: [{ command: 'evaluate', data: { expression: 'new Promise(() => {})' } }],
      })
      .catch((error: Error) => error.name)
    await commandStarted(server, session_id)
    server.child.kill('SIGTERM')
    await server.waitForLog(line('draining'))
    server.child.kill('SIGTERM')
    expect((await server.ended).code).toBe(143)
    expect(await hanging).toBe('TypeError')
    await waitUntil(() => !isRunning(browsers[0].pid))
  })
})

/** Returns the HTTP status of a rejected websocket. */
const refusalOf = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url)
    socket.on('unexpected-response', (_, response) => {
      response.resume()
      resolve(response.statusCode!)
    })
    socket.on('open', () => reject(new Error('the websocket was let in')))
    socket.on('error', reject)
  })

/** Resolves when a batch of the session has started. */
async function commandStarted({ url }: RunningServer, sessionId: string): Promise<void> {
  const aborted = new AbortController()
  const answer = await fetch(`${url}/stream/sse?session_id=${sessionId}&replay=all`, { signal: aborted.signal })
  let text = ''
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.includes('"command.started"')) break
  }
  aborted.abort()
}
