/** Responses of the server before any engine is called. */
import { describe, expect, test } from 'vitest'
import type { Engine } from '../../../src/core/engine.ts'
import { createApp } from '../../../src/server/app.ts'
import { loopbackHosts } from '../../../src/server/access/gate.ts'

const untouched = new Proxy({} as Engine, {
  get: () => {
    throw new Error('the engine was reached')
  },
})
const gate = { hosts: loopbackHosts, origins: new Set(['http://friend.test']), keys: null }
const app = createApp({ engine: untouched, gate })

async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  const init = {
    method,
    headers: { host: '127.0.0.1', ...type, ...headers },
    ...(text !== undefined && { body: text as string }),
  }
  const response = await app.request(`http://127.0.0.1${path}`, init)
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  }
}

const fault = (path: string) => expect.objectContaining({ path })

describe('creation fields', () => {
  test.each([
    ['headless', 'yes'],
    ['requested_name', ''],
    ['requested_name', 7],
    ['start_url', 5],
    ['cdp_url', {}],
    ['use_random_user_agent', 'true'],
    ['disable_automation_detection', 1],
    ['user_agent', ''],
    ['profile_id', ''],
    ['viewport', { width: 0, height: 10 }, 'viewport.width'],
    ['viewport', { width: 10 }, 'viewport.height'],
    ['viewport', '10x10'],
    ['locale', 'x'],
    ['locale', 'toString'],
    ['user_agent', 'x\r\nx-injected: 1'],
    ['requested_name', '..'],
    ['requested_name', 'a\u202eb'],
    ['cdp_url', 'http://x\0'],
    ['timezone', 12],
    ['proxy', {}, 'proxy.server'],
    ['idle_timeout_secs', -1],
    ['timeout_secs', 0],
    ['timeout_secs', 86_401],
    ['keep_alive', 'yes'],
    ['tags', { a: 1 }, 'tags.a'],
    ['save_profile', 'no'],
  ])('%s = %j is a 400 that names it', async (field, value, path = field) => {
    const { status, body } = await send('POST', '/sessions', { [field]: value })
    expect(status).toBe(400)
    expect(body).toMatchObject({ success: false, code: 'invalid_request', details: [fault(path)] })
    expect(body['error']).toContain(path)
    expect(body['message']).toBe(body['error'])
  })

  test('all errors are reported at once', async () => {
    const { body } = await send('POST', '/sessions', { headless: 1, timeout_secs: 0, user_agent: 3 })
    expect(body['details']).toEqual([fault('headless'), fault('user_agent'), fault('timeout_secs')])
  })
})

describe('command batches', () => {
  test.each([
    ['commands missing', {}, 'commands'],
    ['no command', { commands: [] }, 'commands'],
    [
      'an unknown command',
      { commands: [{ command: 'get_title' }, { command: 'clik', data: {} }] },
      'commands[1].command',
    ],
    ['a command without a name', { commands: [{}] }, 'commands[0].command'],
    ['a missing field', { commands: [{ command: 'click', data: {} }] }, 'commands[0].data.selector'],
    ['data left out', { commands: [{ command: 'click' }] }, 'commands[0].data'],
    [
      'a field of the wrong type',
      { commands: [{ command: 'click_at', data: { x: '1', y: 2 } }] },
      'commands[0].data.x',
    ],
    ['a session id that is a number', { session_id: 1, commands: [{ command: 'get_title' }] }, 'session_id'],
    ['a batch time below one', { timeout_ms: 0, commands: [{ command: 'get_title' }] }, 'timeout_ms'],
  ])('%s is a 400 that names it, before anything runs', async (_, request, path) => {
    const { status, body } = await send('POST', '/commands', request)
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'invalid_request', details: [fault(path)] })
  })

  test('an unknown command gets a suggestion', async () => {
    const { body } = await send('POST', '/commands', { commands: [{ command: 'getTitel' }] })
    expect(body['error']).toBe('commands[0].command: unknown command "getTitel" (did you mean "get_title"?)')
  })
})

describe('a response', () => {
  test.each([
    ['a body that is not JSON', '{', {}, 400, 'invalid_json'],
    ['a body in another encoding', '{}', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['a body that is a list', [], {}, 400, 'invalid_request'],
    ['a body over 10 MiB', `{"requested_name":"${'x'.repeat(10 * 1024 * 1024)}"}`, {}, 413, 'payload_too_large'],
  ])('%s', async (_, sent, headers, status, code) => {
    const answer = await send('POST', '/sessions', sent, headers)
    expect(answer).toMatchObject({ status, body: { success: false, code } })
  })

  test('every error has a request ID in the header and in the body', async () => {
    const { headers, body } = await send('GET', '/nowhere')
    expect(headers.get('x-request-id')).toMatch(/^req_/)
    expect(body).toMatchObject({ code: 'route_not_found', request_id: headers.get('x-request-id') })
  })

  test('405 lists the allowed methods', async () => {
    const { status, headers, body } = await send('PUT', '/sessions', {})
    expect([status, headers.get('allow'), body['code']]).toEqual([405, 'DELETE, POST, GET, HEAD', 'method_not_allowed'])
    const allowed = async (method: string, path: string) => (await send(method, path)).headers.get('allow')
    expect(await allowed('GET', '/search')).toBe('POST')
    expect(await allowed('DELETE', '/openapi.json')).toBe('GET, HEAD')
  })

  test('names a query parameter of the wrong type', async () => {
    const { status, body } = await send('GET', '/sessions?status=sleeping')
    expect([status, body['details']]).toEqual([400, [fault('status')]])
  })

  test('unknown fields are rejected with handling=strict, with a suggestion', async () => {
    const { status, body } = await send('POST', '/sessions', { headles: true }, { prefer: 'handling=strict' })
    expect([status, body['error']]).toEqual([400, 'headles is not a known field (did you mean "headless"?)'])
  })
})

describe('the gate', () => {
  test.each([
    ['a rebound host', { host: 'evil.test' }, 'bad_host'],
    ['a host that only begins like ours', { host: '127.0.0.1.evil.test' }, 'bad_host'],
    ['a foreign web page', { origin: 'https://evil.test' }, 'bad_origin'],
    ['a sandboxed page', { origin: 'null' }, 'bad_origin'],
    ['a form or image of a web page', { 'sec-fetch-site': 'cross-site' }, 'bad_origin'],
  ])('%s is turned away', async (_, headers: Record<string, string>, code) => {
    expect(await send('GET', '/healthz', undefined, headers)).toMatchObject({ status: 403, body: { code } })
  })

  test.each<Record<string, string>>([
    { host: 'localhost:4100' },
    { host: '[::1]:4100' },
    { origin: 'http://friend.test' },
  ])('%j comes in', async (headers) => {
    expect(await send('GET', '/healthz', undefined, headers)).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    })
  })
})
