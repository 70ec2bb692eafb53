/** Calls of commands inside the engine, directly and through its app: the answers are the same. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embedded, type Transport, type WireRequest } from '../../src/client/transport.ts'
import type { Engine } from '../../src/core/engine.ts'
import { createEngine } from '../../src/engine/index.ts'
import { privateGate } from '../../src/server/access/gate.ts'
import { createApp } from '../../src/server/app.ts'
import { directCalls, type DirectCalls } from '../../src/server/request/direct.ts'
import { serveSite, type Site } from '../support/site.ts'

let folder: string
let site: Site
let engine: Engine
let app: Transport
let direct: DirectCalls
let session: string
/** Errors that were reported, by either way. */
const reported: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-direct-'))
  site = await serveSite({ '/': '<!doctype html><title>Tea</title><h1>Tea</h1><button>Buy</button>' })
  const config = { home: 'local', stateDir: folder, cacheDir: folder, display: false, writeAnywhere: true } as const
  engine = createEngine({ ...config, allowPrivate: ['127.0.0.1'], log: () => {} })
  const services = {
    engine,
    sockets: 'http://127.0.0.1:1',
    onError: (error: Error) => void reported.push(error.message),
  } as const
  app = embedded(createApp({ ...services, gate: privateGate }).fetch)
  direct = directCalls(services)
  const response = await app.send({ ...post('/sessions', { headless: true, start_url: site.url }) })
  session = (JSON.parse(await response.text()) as { session_id: string }).session_id
})
afterAll(async () => {
  await engine?.close()
  await site?.close()
  await rm(folder, { recursive: true, force: true })
})

const json = { 'content-type': 'application/json' }
const strict = { prefer: 'handling=strict' }
const post = (path: string, body: unknown, headers: Record<string, string> = {}): WireRequest => ({
  method: 'POST',
  path,
  headers: { ...json, ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const get = (path: string, headers: Record<string, string> = {}): WireRequest => ({ method: 'GET', path, headers })
const commands = (command: string, data?: object, more: object = {}) => ({
  session_id: session,
  commands: [{ command, ...(data && { data }) }],
  ...more,
})

/** Requests of commands; the function is called when there is a session. */
const requests: Record<string, () => WireRequest> = {
  'a title': () => post('/commands', commands('get_title'), strict),
  'a click': () => post('/commands', commands('click', { selector: 'button' })),
  'a failed click': () => post('/commands', commands('click', { selector: '#no', timeout_ms: 300 })),
  'an unknown command': () => post('/commands', commands('no_command')),
  'an unknown field': () => post('/commands', commands('get_title', undefined, { colour: 1 })),
  'an unknown field, strictly': () => post('/commands', commands('get_title', undefined, { colour: 1 }), strict),
  'an invalid field': () => post('/commands', commands('get_title', undefined, { timeout_ms: 'soon' })),
  'no commands': () => post('/commands', { session_id: session }),
  'no body': () => ({ method: 'POST', path: '/commands', headers: json }),
  'no JSON': () => post('/commands', '{"session_id":'),
  'no object': () => post('/commands', [1]),
  'a deep body': () => post('/commands', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`),
  'a lone surrogate': () => post('/commands', '{"session_id":"\\ud800","commands":[]}'),
  sessions: () => get('/sessions'),
  'sessions with a query': () => get('/sessions?limit=1&nonsense=2'),
  'sessions with a query, strictly': () => get('/sessions?limit=1&nonsense=2', strict),
  'sessions with an invalid query': () => get('/sessions?limit=none'),
  'a session': () => get(`/sessions/${session}`),
  'a missing session': () => get('/sessions/ses_none'),
  'an observation': () => post('/observe', { session_id: session }),
  'the engine': () => get('/engine'),
  'no route': () => get('/nothing/here'),
  'another method': () => ({ method: 'DELETE', path: '/commands' }),
  dots: () => get('/sessions/..'),
  'an encoded path': () => get('/sessions/%73es_none'),
  'a new session': () => post('/sessions', { nonsense: true, headless: 'maybe' }, strict),
  'a stream': () => get(`/stream/sessions/ses_none`, { accept: 'application/x-ndjson' }),
}

/** Removes what differs between two calls. */
const stable = (text: string) =>
  text
    .replaceAll(/"(?:request_id|observation_id|captured_at|last_used_at|expires_at|idle_since)":"[^"]*"/g, '""')
    .replaceAll(/"(\w*(?:_ms|_secs|_bytes|_at|commands_run|calls|cpu\w*))":[\d.]+/g, '"$1":0')
    .replaceAll(/\d+ ms/g, 'N ms')

async function outcome(answer: Promise<Awaited<ReturnType<Transport['send']>>>) {
  const before = reported.length
  const response = await answer
  return { status: response.status, body: stable(await response.text()), reported: reported.slice(before) }
}

test.each(Object.keys(requests))('%s', async (name) => {
  const request = requests[name]!()
  const call = direct(request)
  const isForApp = ['no route', 'another method', 'dots', 'an encoded path', 'a new session', 'a stream'].includes(name)
  expect(call === undefined).toBe(isForApp)
  if (call) expect(await outcome(call())).toEqual(await outcome(app.send(request)))
})

test('an aborted call fails with its reason', async () => {
  const aborted = async (send: (request: WireRequest) => Promise<unknown>) => {
    const abort = new AbortController()
    const request = post('/commands', commands('wait_for_element', { selector: '#never' }))
    const sent = send({ ...request, signal: abort.signal })
    setTimeout(() => abort.abort(new Error('enough')), 50)
    const before = reported.length
    await expect(sent).rejects.toThrow('enough')
    return reported.slice(before)
  }
  expect(await aborted((request) => direct(request)!())).toEqual(await aborted((request) => app.send(request)))
})
