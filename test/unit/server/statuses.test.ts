/**
 * Provokes every status that openapi.json documents, and no other: those of the server with the examples of the
 * operations, those of an operation with an engine that returns values of the operation's schemas.
 */
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { allowancesOf } from '../../../src/core/access/quota.ts'
import { type Caller, keyScopes } from '../../../src/core/access/caller.ts'
import type { Engine } from '../../../src/core/engine.ts'
import { BaxError, type ErrorBody, type ErrorCode, errorTable } from '../../../src/core/errors/errors.ts'
import type { Keys } from '../../../src/core/access/keys.ts'
import type { Link } from '../../../src/core/net/link.ts'
import type { HttpOperation, Operation } from '../../../src/core/operation/operation.ts'
import { pathFields, route, routesOf } from '../../../src/core/operation/route.ts'
import { operations, streams, transfers } from '../../../src/operations/index.ts'
import { type AppOptions, createApp } from '../../../src/server/app.ts'
import { Drain } from '../../../src/server/process/drain.ts'
import { loopbackHosts, privateGate } from '../../../src/server/access/gate.ts'
import { codesOfPlace } from '../../../src/server/openapi/responses.ts'
import { makeOpenapi } from '../../../src/server/openapi/openapi.ts'
import { RateLimiter } from '../../../src/core/access/rate-limiter.ts'

const document = makeOpenapi() as {
  paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>
}

/** One URL of an operation, with a valid request. */
interface Case {
  readonly name: string
  /** Method and path as the document has them. */
  readonly address: string
  readonly operation: HttpOperation
  readonly target: string
  readonly init: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string }
}

/** A form with a file, for uploads. */
const form = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\ntext\r\n--b--\r\n'

const all = Object.entries({ ...operations, ...streams, ...transfers } as unknown as Record<string, HttpOperation>)
const cases: Case[] = all.flatMap(([name, operation]) =>
  routesOf(operation)
    .filter((http) => !http.endsWith('/'))
    .map((http) => caseOf(name, http, operation)),
)

function caseOf(name: string, http: string, operation: HttpOperation): Case {
  const { method, path } = route(http)
  const sample: Record<string, unknown> = { ...operation.sample }
  const fields = new Set(pathFields(path))
  const rest = Object.entries(sample).filter(([field]) => !fields.has(field))
  const filled = path.replaceAll(/\{(\w+)\*?\}/g, (_, field: string) =>
    encodeURIComponent(String(sample[field] ?? 'laptop')),
  )
  const hasJson = (method === 'POST' || method === 'PUT') && !('receive' in operation)
  const query = hasJson
    ? ''
    : `?${new URLSearchParams(rest.map(([field, value]) => [field, String(value)])).toString()}`
  const accept: Record<string, string> = 'frame' in operation ? { accept: 'text/event-stream' } : {}
  return {
    name,
    address: `${method} ${path.replace('*}', '}')}`,
    operation,
    target: `http://127.0.0.1${filled}${query}`,
    init: hasJson
      ? {
          method,
          headers: { ...accept, 'content-type': 'application/json' },
          body: JSON.stringify(Object.fromEntries(rest)),
        }
      : {
          method,
          headers: accept,
          ...(name === 'parseV2' && {
            body: form,
            headers: { ...accept, 'content-type': 'multipart/form-data; boundary=b' },
          }),
        },
  }
}

/** Statuses and codes received from each URL. */
const seen = new Map<string, Set<string>>()
const promised = new Map<string, Record<string, { description: string }>>(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => [`${method.toUpperCase()} ${path}`, responses]),
  ),
)

/** Returns an engine whose methods all do the same. */
function engineThat(answers: (method: string) => unknown): Engine {
  const anything = (method = ''): unknown =>
    new Proxy(() => {}, {
      get: (_, name) =>
        name === 'then'
          ? undefined
          : name === 'whenLost'
            ? () => {}
            : anything(method ? `${method}.${String(name)}` : String(name)),
      apply: () => answers(method),
    })
  return anything() as Engine
}
const unreached = engineThat(() => {
  throw new Error('the engine was reached')
})

type Change = (one: Case) => Partial<Case['init']> & { target?: string }

/** Sends the request of a case with changes, and records the response. */
async function ask(app: ReturnType<typeof createApp>, one: Case, change: Change = () => ({})): Promise<Response> {
  const { target = one.target, headers, ...init } = change(one)
  const request = new Request(target, { ...one.init, ...init, headers: { ...one.init.headers, ...headers } })
  const response = await app.fetch(request)
  const status = String(response.status)
  expect(Object.keys(promised.get(one.address)!), `${one.name} answered ${status}`).toContain(status)
  seen.set(one.address, (seen.get(one.address) ?? new Set()).add(status))
  if (response.status >= 400) await assertFailure(response)
  else await response.body?.cancel()
  return response
}

async function assertFailure(response: Response): Promise<void> {
  const body = (await response.json()) as ErrorBody
  expect(body).toMatchObject({ success: false, message: body.error, request_id: response.headers.get('x-request-id') })
  expect(errorTable[body.code].status).toBe(response.status)
  expect(response.headers.get('www-authenticate')).toBe(response.status === 401 ? 'Bearer' : null)
  const waits = response.status === 429 || response.status === 503
  expect(Number(response.headers.get('retry-after')) > 0).toBe(waits)
}

const promisedBy = (status: number) => cases.filter(({ address }) => String(status) in promised.get(address)!)
const counters = (metrics: () => Promise<string>) => ({ service: { draining: false, metrics } })
const appOf = (engine: Engine, more: Partial<AppOptions> = {}) =>
  createApp({ engine, gate: privateGate, sockets: 'here', ...counters(async () => 'bax_up 1'), ...more })
const isJson = ({ init }: Case) => init.headers['content-type'] === 'application/json'

const holder: Caller = { keyId: 'key_1', name: 'ann', scopes: keyScopes, admin: false }
const ring = { required: () => true, check: () => {}, callerOf: () => ({ ...holder, admin: true }) } as unknown as Keys
const keyed = { ...privateGate, keys: ring }

test('400: an unknown field with handling=strict', async () => {
  const strict: Change = (one) => ({
    headers: { prefer: 'handling=strict' },
    ...(isJson(one)
      ? { body: JSON.stringify({ ...JSON.parse(one.init.body!), nobody_knows: 1 }) }
      : { target: `${one.target}${one.target.includes('?') ? '&' : '?'}nobody_knows=1` }),
  })
  for (const one of promisedBy(400)) expect((await ask(appOf(unreached), one, strict)).status, one.name).toBe(400)
})

test('401: a missing key', async () => {
  const app = appOf(unreached, { gate: keyed })
  // Operations that accept a token reach the engine, which reports the missing token.
  const tokens = appOf(
    engineThat(() => Promise.reject(new BaxError('unauthorized', 'a token is needed'))),
    { gate: keyed },
  )
  for (const one of promisedBy(401)) {
    const access = one.operation as { token?: true }
    expect((await ask(access.token ? tokens : app, one)).status, one.name).toBe(401)
  }
})

test('403: a host that is not allowed', async () => {
  const app = appOf(unreached, { gate: { ...privateGate, hosts: loopbackHosts } })
  for (const one of promisedBy(403))
    expect((await ask(app, one, () => ({ headers: { host: 'evil.test' } }))).status).toBe(403)
})

test('413 and 415: bodies that are too large or not JSON', async () => {
  const app = appOf(unreached)
  for (const one of cases.filter(isJson)) {
    expect((await ask(app, one, () => ({ headers: { 'content-length': String(2 ** 40) } }))).status, one.name).toBe(413)
    expect((await ask(app, one, () => ({ headers: { 'content-type': 'text/plain' } }))).status, one.name).toBe(415)
  }
})

test('429: too many requests of a key', async () => {
  const rates = new RateLimiter(allowancesOf({ rate: 1, burst: 1 }), () => 0)
  const app = appOf(unreached, { gate: keyed, rates })
  const withKey: Change = () => ({ headers: { 'x-api-key': 'bax_1' } })
  await app.request('http://127.0.0.1/nowhere', { headers: { 'x-api-key': 'bax_1' } })
  for (const one of promisedBy(429)) {
    expect((await ask(app, one, withKey)).status, one.name).toBe(429)
  }
})

/** Names of operations whose responses are constant, which cannot fail. */
const constant = /^(?:credit|token)(?:Usage|History)/

test('500: internal errors hide their details', async () => {
  const fault = () => Promise.reject(new Error('secret'))
  const app = appOf(engineThat(fault), counters(fault))
  const working = promisedBy(500).filter(({ name }) => !constant.test(name))
  for (const one of working) expect((await ask(app, one)).status, one.name).toBe(500)
})

test('503: operations that need a key while the keys cannot be read', async () => {
  const check = () => {
    throw new BaxError('not_ready', 'the keys cannot be read')
  }
  const app = appOf(unreached, { gate: { ...privateGate, keys: { ...ring, check } } })
  for (const one of promisedBy(503).filter(({ operation }) => operation.scope !== 'public'))
    expect((await ask(app, one, () => ({ headers: { 'x-api-key': 'bax_1' } }))).status, one.name).toBe(503)
})

test('503: new work while the server shuts down', async () => {
  const drain = new Drain()
  drain.begin(5000)
  const app = appOf(unreached, { drain })
  for (const one of promisedBy(503)
    .filter(({ address }) => said(address, 503).includes('shutting_down'))
    .filter(isNew))
    expect((await ask(app, one)).status, one.name).toBe(503)
})
const said = (address: string, status: number) => promised.get(address)![status]!.description
const isNew = ({ init }: Case) => init.method === 'POST' || init.method === 'PUT'

test('every error code of an operation has the status of the table', async () => {
  let code: ErrorCode
  const refused = () =>
    Promise.reject(
      new BaxError(code, `because of ${code}`, code === 'range_not_satisfiable' ? { details: { size: 3 } } : {}),
    )
  const app = appOf(engineThat(refused), counters(refused))
  for (const one of cases) {
    const errors: readonly ErrorCode[] = one.operation.errors ?? []
    for (code of [...codesOfPlace(one.operation.runs), ...errors]) {
      const { status } = errorTable[code]
      if (status !== 200) expect((await ask(app, one)).status, `${one.name} ${code}`).toBe(status)
    }
  }
})

test('409: an idempotency-key used for another request', async () => {
  for (const one of cases.filter(({ operation }) => 'idempotent' in operation)) {
    const app = appOf(engineThat(() => Promise.resolve({ id: crawlId, status: 'ready' })))
    const send =
      (more: object): Change =>
      () => ({ headers: { 'idempotency-key': 'k' }, body: JSON.stringify({ ...JSON.parse(one.init.body!), ...more }) })
    await ask(app, one, send({}))
    const others = { name: 'other', limit: 7, headless: true, max_concurrency: 7, show_sources: true }
    const known = Object.entries(others).filter(([name]) => name in one.operation.input.shape)
    expect((await ask(app, one, send(Object.fromEntries(known)))).status, one.name).toBe(409)
  }
})

test('success statuses', async () => {
  let value: unknown
  let name = ''
  const app = appOf(engineThat(async (method) => given(name, method) ?? value))
  for (const one of cases) {
    const { operation } = one
    name = one.name
    const done = async (gift: unknown, change?: Change) => {
      value = gift
      expect((await ask(app, one, change)).status, name).toBeLessThan(400)
    }
    if ('frame' in operation) {
      await done(nothing())
      if (operation.mayHaveEnded) await done(null)
    } else if ('open' in operation) {
      await done(content)
      await done(content, () => ({ headers: { range: 'bytes=1-' } }))
      await done(content, () => ({ headers: { 'if-none-match': '"tag"' } }))
    } else {
      for (const branch of [0, 1]) await done(outputOf(operation, branch))
    }
  }
})

/** Engine results for operations that convert them. */
function given(name: string, method: string): unknown {
  if (name === 'ready') return Promise.resolve({})
  if (name === 'parseV2') return Promise.resolve(outputOf(operations.scrape, 0))
  const crawl = { ...(outputOf(operations.getCrawl, 0) as object), id: crawlId, next: undefined, completed: 0 }
  if (method === 'crawls.usage') return Promise.resolve({ crawls: [], active: 0, waiting: 0, latest_success: null })
  if (name.startsWith('getExtract'))
    return Promise.resolve({ ...crawl, kind: 'extract', errors: [], status: 'scraping' })
  if (/^getBatch(?:V2)?$/.test(name)) return Promise.resolve({ ...crawl, url: 'http://127.0.0.1/' })
  if (/^(?:batchScrape|extract)/.test(name)) return Promise.resolve({ success: true, id: crawlId, url: '' })
  if (name === 'getCrawlV2')
    return Promise.resolve({ ...(outputOf(operations.getCrawl, 0) as object), id: crawlId, next: undefined })
  if (name === 'crawlV2') return Promise.resolve({ success: true, id: crawlId, url: 'http://127.0.0.1/' })
  if (name === 'searchV2') return Promise.resolve(outputOf(operations.search, 0))
  if (/WebmcpTools?$/.test(name)) {
    const one = { success: true, command_type: 'action', command: 'call_page_tool', index: 0 }
    return Promise.resolve({ results: [{ ...one, data: { result: { value: [] } } }] })
  }
  if (!name.startsWith('cdp')) return undefined
  if (method === 'sessions.list') return Promise.resolve([])
  if (method === 'relays.list')
    return Promise.resolve([{ id: 'laptop', name: 'laptop', cdp_url: 'ws://127.0.0.1/?token=t' }])
  return Promise.resolve(method === 'relays.openClient' ? speaking : { session_id: 'laptop' })
}

const crawlId = 'crl_b3TgJ6wYx9Nf1CzAq2Ws'

/** A fake remote browser. */
const speaking = (link: Link): void =>
  link.handle({
    onText: (text) =>
      void link.sendText(JSON.stringify({ id: (JSON.parse(text) as { id: number }).id, result: { targetInfos: [] } })),
    onBytes: () => {},
    onClose: () => {},
  } as Parameters<Link['handle']>[0])

const outputOf = ({ output }: Pick<Operation, 'output'>, branch: number): unknown =>
  output === null ? undefined : made(z.toJSONSchema(output, { unrepresentable: 'any' }) as Schema, branch)

async function* nothing() {}

const content = {
  size: 3,
  etag: 'tag',
  contentType: 'text/plain',
  fileName: 'a',
  async *read() {
    yield Buffer.from('abc')
  },
}

type Schema = Record<string, unknown> & { $defs?: Record<string, Schema> }

/** Returns a value of the schema; `branch` selects the option of a union. */
function made(schema: Schema, branch: number, definitions = schema.$defs ?? {}): unknown {
  const inner = (one: unknown) => made(one as Schema, branch, definitions)
  const choose = (list: unknown[]) => list[Math.min(branch, list.length - 1)]
  if (schema['$ref']) return inner(definitions[String(schema['$ref']).split('/').at(-1)!])
  if ('const' in schema) return schema['const']
  if (schema['enum']) return choose(schema['enum'] as unknown[])
  const options = (schema['anyOf'] ?? schema['oneOf']) as unknown[] | undefined
  if (options) return inner(choose(options))
  if (schema['type'] === 'array') return []
  if (schema['type'] === 'object') {
    const fields = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)
    return Object.fromEntries(
      fields.filter(([, field]) => !field['$ref'] || field['type']).map(([name, field]) => [name, inner(field)]),
    )
  }
  return { string: 'text', integer: 1, number: 1, boolean: true }[schema['type'] as string] ?? null
}

afterAll(() => {
  const unfailing = new Set(cases.filter(({ name }) => constant.test(name)).map(({ address }) => `${address} 500`))
  const missing = [...promised].flatMap(([address, responses]) =>
    Object.keys(responses)
      .filter((status) => !seen.get(address)?.has(status))
      .map((status) => `${address} ${status}`)
      .filter((one) => !unfailing.has(one)),
  )
  expect(missing).toEqual([])
})
