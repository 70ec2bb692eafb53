/** Access to every operation on a server with keys, and from web pages. */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyScopes, type KeyScope, type Scope } from '../../../src/core/access/caller.ts'
import type { Engine } from '../../../src/core/engine.ts'
import { BaxError } from '../../../src/core/errors/errors.ts'
import { route, routesOf } from '../../../src/core/operation/route.ts'
import { KeyStore } from '../../../src/engine/store/keys.ts'
import { operations, streams, transfers } from '../../../src/operations/index.ts'
import { createApp } from '../../../src/server/app.ts'
import { loopbackHosts } from '../../../src/server/access/gate.ts'
import { refusalOf } from '../../../src/server/gateway/refusals.ts'
import { LostWorker } from '../../../src/server/gateway/worker-requests.ts'

let folder: string
let keys: KeyStore
let app: ReturnType<typeof createApp>
const made = {} as Record<KeyScope, string>

/** An engine whose methods all fail with a recognizable error. */
const engine = new Proxy({} as Engine, {
  get: () => {
    throw new Error('the engine was reached')
  },
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-gate-'))
  keys = new KeyStore(folder)
  for (const scope of keyScopes) made[scope] = (await keys.create({ name: scope, scopes: [scope] })).key
  app = createApp({ engine, gate: { hosts: loopbackHosts, origins: new Set(['https://friend.test']), keys } })
})
afterAll(() => rm(folder, { recursive: true }))

async function send(http: string, headers: Record<string, string> = {}, to = app) {
  const { method, path } = route(http)
  const response = await to.request(`http://bax.test${path}`, { method, headers: { host: 'bax.test', ...headers } })
  const text = await response.text()
  const { code } = (text.startsWith('{') ? JSON.parse(text) : {}) as { code?: string }
  return { status: response.status, code, headers: response.headers }
}

interface Guarded {
  readonly http: string
  readonly aliases?: readonly string[]
  readonly scope: Scope | readonly Scope[]
  readonly token?: true
}

const guarded = Object.entries({ ...operations, ...streams, ...transfers } as unknown as Record<string, Guarded>)
const addresses = guarded.flatMap(([name, one]) =>
  routesOf(one).map((http) => [name, http.replaceAll(/\{\w+\*?\}/g, 'x'), one] as const),
)
const isPublic = ({ scope }: Guarded) => [scope].flat().includes('public')

describe('every operation', () => {
  /** Where the gate lets in whom it must not, or keeps out whom it must let in. */
  async function holesAt(http: string, one: Guarded, ask = send): Promise<string[]> {
    const holes: string[] = []
    const refuses = async (headers: Record<string, string>, expected: string) => {
      const { status, code } = await ask(http, headers)
      if (`${status} ${code}` !== expected) holes.push(`${JSON.stringify(headers)}: ${status} ${code}`)
    }
    // Operations that accept a token check it themselves; here that reaches the engine.
    if (!one.token) await refuses({}, '401 unauthorized')
    await refuses({ 'x-api-key': 'bax_wrong' }, '401 unauthorized')
    for (const scope of keyScopes) {
      const allowed = scope === 'admin' || [one.scope].flat().includes(scope)
      if (!allowed) await refuses({ 'x-api-key': made[scope] }, '403 forbidden_scope')
      else {
        const { code } = await ask(http, { 'x-api-key': made[scope] })
        if (['unauthorized', 'forbidden_scope', 'route_not_found'].includes(code ?? '')) holes.push(`${scope}: ${code}`)
      }
    }
    return holes
  }

  test.each(addresses.filter(([, , one]) => !isPublic(one)))(
    '%s (%s) needs a key that allows it',
    async (_, http, one) => {
      expect(await holesAt(http, one)).toEqual([])
    },
  )

  test('the checks detect an operation with a wrong scope', async () => {
    const open = createApp({ engine, gate: { hosts: null, origins: new Set(), keys: null } })
    const ask = (http: string, headers: Record<string, string> = {}) => send(http, headers, open)
    expect(await holesAt('GET /sessions', operations.listSessions, ask)).toHaveLength(2 + keyScopes.length - 2)
    // An operation that declares a wider scope than it should.
    const scopes = await holesAt('GET /sessions', { http: 'GET /sessions', scope: 'shell' })
    expect(scopes).toEqual([expect.stringContaining('500'), 'shell: forbidden_scope'])
  })

  test.each(addresses.filter(([, , one]) => isPublic(one)))('%s (%s) is public', async (_, http) => {
    expect((await send(http)).status).not.toBe(401)
    expect((await send(http, { 'x-api-key': 'bax_wrong' })).status).not.toBe(401)
  })
})

test('only the health checks and the OpenAPI document are public', async () => {
  const open = guarded.filter(([, one]) => isPublic(one)).map(([, { http }]) => http)
  expect(open.toSorted()).toEqual(['GET /healthz', 'GET /readyz'])
  expect((await send('GET /openapi.json')).status).toBe(200)
})

describe('a key', () => {
  const target = 'GET /v1/crawl/x'

  test('is accepted in either header, or the same in both', async () => {
    const { scrape } = made
    const ways: Record<string, string>[] = [
      { 'x-api-key': scrape },
      { authorization: `Bearer ${scrape}` },
      { authorization: `bearer   ${scrape}` },
      { 'x-api-key': scrape, authorization: `Bearer ${scrape}` },
    ]
    for (const headers of ways) expect((await send(target, headers)).status).toBe(500)
  })

  test.each<[string, Record<string, string>]>([
    ['none', {}],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['an empty one', { 'x-api-key': '' }],
    ['one of others', { 'x-api-key': `bax_${'A'.repeat(43)}` }],
    ['a token', { authorization: `Bearer ft_${'A'.repeat(43)}` }],
  ])('%s is a 401 that says how', async (_, headers) => {
    const answer = await send(target, headers)
    expect(answer).toMatchObject({ status: 401, code: 'unauthorized' })
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('two different keys are a 401, even if both are valid', async () => {
    const both = { 'x-api-key': made.scrape, authorization: `Bearer ${made.admin}` }
    expect(await send(target, both)).toMatchObject({ status: 401, code: 'unauthorized' })
  })

  test('a token in the URL is rejected beside another one in a header, but not beside itself or a key', async () => {
    const [token, other] = ['ft_', 'rlt_'].map((prefix) => prefix + 'A'.repeat(43))
    const stream = `GET /stream/sse?session_id=x&token=${token}`
    for (const wrong of [other!, 'nonsense', `${token}A`])
      for (const headers of [{ authorization: `Bearer ${wrong}` }, { 'x-api-key': wrong }] as Record<string, string>[])
        expect(await send(stream, headers), wrong).toMatchObject({ status: 401, code: 'unauthorized' })
    for (const right of [token!, made.browser])
      expect(await send(stream, { authorization: `Bearer ${right}` }), right).toMatchObject({ status: 500 })
  })

  test('is rejected in the URL, even next to a valid header', async () => {
    for (const field of ['api_key', 'token', 'key', 'x-api-key'])
      expect(await send(`${target}?${field}=${made.admin}`, { 'x-api-key': made.scrape })).toMatchObject({
        status: 401,
      })
    expect(await send(`GET /stream/sse?session_id=x&token=${made.admin}`)).toMatchObject({ status: 401 })
  })

  test('is required for 404 and 405 responses', async () => {
    expect(await send('GET /nowhere')).toMatchObject({ status: 401 })
    expect(await send('GET /nowhere', { 'x-api-key': made.shell })).toMatchObject({
      status: 404,
      code: 'route_not_found',
    })
    expect(await send('PUT /sessions')).toMatchObject({ status: 401 })
    for (const path of ['/healthz/', '//healthz', '/healthz%2f', '/x/../v1/keys', '/healthz/x'])
      expect((await send(`GET ${path}`)).status).toBe(401)
  })

  test('that is created or revoked while the server runs takes effect immediately', async () => {
    const { key, key_id } = await new KeyStore(folder).create({ name: 'late', scopes: ['scrape'] })
    expect((await send(target, { 'x-api-key': key })).status).toBe(500)
    await new KeyStore(folder).revoke(key_id)
    expect(await send(target, { 'x-api-key': key })).toMatchObject({ status: 401 })
  })
})

describe('while the keys cannot be read', () => {
  test('every request is a 503 with Retry-After, and the reason is logged once', async () => {
    const stateDir = await mkdtemp(join(tmpdir(), 'bax-gate-'))
    const said: string[] = []
    const store = new KeyStore(stateDir, Date.now, (level, message) => said.push(`${level}: ${message}`))
    const { key } = await store.create({ name: 'one', scopes: ['scrape'] })
    const guarded = createApp({ engine, gate: { hosts: loopbackHosts, origins: new Set(), keys: store } })
    const get = (path: string, headers: Record<string, string> = {}) =>
      guarded.request(`http://127.0.0.1${path}`, { headers: { host: '127.0.0.1', ...headers } })
    expect((await get('/v1/crawl', { 'x-api-key': key })).status).toBe(500)
    await rename(stateDir, `${stateDir}.away`)
    await writeFile(stateDir, '')
    const shownKeys: Record<string, string>[] = [
      { 'x-api-key': key },
      { authorization: `Bearer ${key}` },
      {},
      { 'x-api-key': 'bax_other' },
    ]
    for (const shown of shownKeys) {
      const answer = await get('/v1/crawl', shown)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
      expect(await answer.json()).toMatchObject({ code: 'not_ready', error: 'the keys cannot be read' })
    }
    expect((await get('/healthz')).status).not.toBe(503)
    const complaint = 'error: the keys cannot be read: every request is refused'
    expect(said).toEqual([complaint])
    await rm(stateDir)
    await rename(`${stateDir}.away`, stateDir)
    expect((await get('/v1/crawl', { 'x-api-key': key })).status).toBe(500)
    expect((await get('/v1/crawl')).status).toBe(401)
    expect(said).toEqual([complaint, 'info: the keys can be read again'])
    await rm(stateDir, { recursive: true })
  })
})

describe('a worker that cannot accept a request', () => {
  /** Returns what a gateway makes of the answer of a worker whose check fails. */
  async function refusedWith(error: BaxError) {
    const fail = () => {
      throw error
    }
    const gate = {
      hosts: null,
      origins: new Set<string>(),
      keys: null,
      forwarded: { verify: fail, answer: () => undefined },
    }
    const answer = await createApp({ engine, gate }).request('http://bax.test/sessions')
    const response = Object.assign(Readable.from([Buffer.from(await answer.arrayBuffer())]), {
      headers: Object.fromEntries(answer.headers),
    })
    return refusalOf(response as unknown as IncomingMessage, { id: 'wrk_1', url: 'http://127.0.0.1:1' })
  }

  test.each(['not_ready', 'no_capacity', 'shutting_down'] as const)('reports %s to its gateway', async (code) => {
    const error = new BaxError(code, `because of ${code}`, { retryAfterSecs: 1 })
    expect(await refusedWith(error)).toMatchObject({ lacks: { code, message: `because of ${code}` } })
  })

  test('is lost for a gateway that it does not trust', async () => {
    const refused = refusedWith(new BaxError('unauthorized', 'the signature was used before'))
    await expect(refused).rejects.toBeInstanceOf(LostWorker)
  })
})

describe('a web page', () => {
  const page = { 'x-api-key': made.scrape, origin: 'https://friend.test' }

  test('of an allowed origin can read responses, including errors', async () => {
    const asked = await send('OPTIONS /v1/scrape', { ...page, 'access-control-request-method': 'POST' })
    expect(asked.status).toBe(204)
    const allow = (name: string) => asked.headers.get(`access-control-allow-${name}`)
    expect([allow('origin'), allow('methods')]).toEqual(['https://friend.test', expect.stringContaining('POST')])
    const refused = await send('GET /sessions', { origin: 'https://friend.test' })
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, 'https://friend.test'])
  })

  test('of any other origin is rejected, whatever its key', async () => {
    for (const origin of ['https://evil.test', 'http://friend.test', 'null']) {
      const answer = await send('GET /v1/keys', { 'x-api-key': made.admin, origin })
      expect(answer).toMatchObject({ status: 403, code: 'bad_origin' })
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
  })
})
