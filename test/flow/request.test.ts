/** Single HTTP requests that share the cookies, rules and proxy of a session. */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Input } from '../../src/client/calls.ts'
import { waitingApproval } from '../support/approvals.ts'
import type { Client } from '../support/client.ts'
import { type ForwardProxy, serveProxy } from '../support/forward-proxy.ts'
import { type Homes, isFleet, openHomes } from '../support/homes.ts'
import { keyHolder } from '../support/owned-objects.ts'
import { openPrivateNet, type PrivateNet } from '../support/private-net.ts'
import { failureOf, open, valueOf } from '../support/session-steps.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let net: PrivateNet
let client: Client
let proxy: ForwardProxy
const logged: unknown[] = []

interface Seen {
  readonly method: string
  readonly host: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** Requests in the order in which the site received them. */
const seen: Seen[] = []
/** Responses of `/held`, which tests send. */
const held: ServerResponse[] = []

/** Records a request with its body, and then responds. */
const page =
  (respond: (response: ServerResponse, request: Seen) => unknown) =>
  (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const one = { method, url, headers, host: headers.host!.replace(/:.*/, ''), body: Buffer.concat(chunks) }
      seen.push(one)
      respond(response, one)
    })
  }
const redirectTo = (status: number, location: () => string, headers: object = {}) =>
  page((response) => response.writeHead(status, { location: location(), ...headers }).end())
const at = (path: string, host = 'site.open.test') => `http://${host}:${net.site.port}${path}`
const big = 11 * 1024 * 1024
const noise = randomBytes(4096)
const html = { 'content-type': 'text/html' }

beforeAll(async () => {
  proxy = await serveProxy({ username: 'ann', password: 'secret-proxy' })
  let answers = 0
  net = await openPrivateNet({
    '/': page((response) => response.writeHead(200, html).end('<!doctype html><title>Home</title>')),
    '/echo': page((response, { method, body }) => response.end(`${method} ${body.toString()}`)),
    '/login': redirectTo(303, () => '/account', {
      'set-cookie': ['sid=secret-sid; HttpOnly; Path=/', 'theme=dark; Max-Age=900', 'wide=1; Domain=open.test'],
    }),
    '/account': page((response, { headers: { cookie = '' } }) =>
      response.writeHead(200, html).end(/sid=secret-sid/.test(cookie) ? 'Welcome, Ann' : 'Please log in'),
    ),
    '/logout': page((response) => response.setHeader('set-cookie', 'sid=; Path=/; Max-Age=0').end('bye')),
    '/rotate': page((response) => response.setHeader('set-cookie', 'sid=secret-2; HttpOnly; Path=/').end()),
    '/to-held': redirectTo(302, () => '/held', { 'set-cookie': 'hop=3' }),
    '/held': page((response) => void held.push(response)),
    '/to-other': redirectTo(302, () => at('/echo', 'other.open.test'), { 'set-cookie': 'hop=1' }),
    '/to-sub': redirectTo(302, () => at('/echo', 'deep.site.open.test')),
    '/to-private': redirectTo(302, () => `http://x.private.test:${net.blocked.port}/`, { 'set-cookie': 'hop=2' }),
    '/to-file': redirectTo(302, () => 'file:///etc/passwd'),
    '/303': redirectTo(303, () => '/echo'),
    '/301': redirectTo(301, () => '/echo'),
    '/307': redirectTo(307, () => '/echo'),
    '/loop': redirectTo(302, () => '/loop'),
    '/noise': page((response) => response.end(noise)),
    '/gzip': page((response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('packed'))),
    '/empty': page((response) => response.writeHead(204).end()),
    '/missing': page((response) => response.writeHead(404).end('not here')),
    '/large': page((response) => response.setHeader('content-length', big).end(Buffer.alloc(big, 'a'))),
    '/stream': page((response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, 'a')));
      }
      response.on('drain', more)
      more()
    }),
    '/bomb': page((response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(big)))),
    '/reset': page((response) => response.destroy()),
    '/upgrade': page((response) =>
      response.socket!.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    ),
    '/cut': page((response) => {
      response.writeHead(200, { 'content-length': 100 }).write('abc')
      response.socket!.end()
    }),
    '/bad-cookies': page((response) =>
      response.setHeader('set-cookie', ['__Host-a=1; Path=/', '=nameless', 'c=1; Domain=test', 'b=2']).end(),
    ),
  })
  const { lookup } = net.config
  const config = {
    ...net.config,
    // The second answer leads to an address that is not allowed.
    lookup: async (host: string, signal?: AbortSignal) =>
      host === 'rebind.test'
        ? [{ address: answers++ === 0 ? '127.0.0.2' : '127.0.0.3', family: 4 }]
        : host === 'proxy.test'
          ? [{ address: '127.0.0.1', family: 4 }]
          : lookup!(host, signal),
    allowPrivate: ['127.0.0.1', ...net.config.allowPrivate!],
  }
  homes = await openHomes({ ...config, ...(!isFleet && { log: (...line) => logged.push(line) }) })
  client = (await keyHolder(homes)).client
})
afterAll(async () => {
  await homes?.close()
  await net?.close()
  await proxy?.close()
})

let id: string
const create = async (input: Partial<Input<'createSession'>> = {}) =>
  (id = (await client.createSession({ headless: true, ...input })).session_id!)
beforeEach(() => {
  seen.length = 0
  held.length = 0
})
afterEach(async () => {
  if (id) await client.closeSession({ session_id: id })
  id = ''
})

type Fields = Partial<Input<'sendRequest'>>
const send = (path: string, input: Fields = {}) =>
  client.sendRequest({ url: /^[a-z]+:/.test(path) ? path : at(path), ...input })
const inSession = (path: string, input: Fields = {}) => send(path, { session_id: id, ...input })
const cookies = async () => {
  const { results } = await client.runCommands({ session_id: id, commands: [{ command: 'get_cookies' }] })
  const { value } = results[0]!.data!['result'] as {
    value: { name: string; value: string; domain: string; http_only: boolean }[]
  }
  return value.map(
    ({ name, value: text, domain, http_only }) => `${domain} ${name}=${text}${http_only ? ' HttpOnly' : ''}`,
  )
}
const text = () => valueOf(client, id, 'document.body.innerText')

describe('the cookies of a session', () => {
  test('are sent after a login in the browser, also HttpOnly ones, with the same user agent', async () => {
    await create()
    await open(client, id, at('/login'))
    const browser = seen.at(-1)!.headers
    expect(await inSession('/account')).toMatchObject({ status: 200, body: 'Welcome, Ann' })
    const { cookie, 'user-agent': agent } = seen.at(-1)!.headers
    expect([cookie!.split('; ').toSorted(), agent]).toEqual([
      browser.cookie!.split('; ').toSorted(),
      browser['user-agent'],
    ])
  })

  test('are those of a login by request, in the browser', async () => {
    await create()
    await open(client, id, at('/'))
    const answer = await inSession('/login', { body: 'user=ann', headers: { 'Content-Type': 'text/plain' } })
    expect(answer).toMatchObject({ success: true, url: at('/account'), status: 200, body: 'Welcome, Ann' })
    expect(answer.redirects).toEqual([{ url: at('/login'), status: 303 }])
    expect(await valueOf(client, id, 'document.cookie')).toBe('theme=dark; wide=1')
    await open(client, id, at('/account'))
    expect(await text()).toBe('Welcome, Ann')
    expect(await cookies()).toEqual(
      expect.arrayContaining([
        'site.open.test sid=secret-sid HttpOnly',
        'site.open.test theme=dark',
        '.open.test wide=1',
      ]),
    )
  })

  test('are replaced and removed by responses', async () => {
    await create()
    await open(client, id, at('/login'))
    await inSession('/rotate')
    expect((await cookies()).filter((one) => one.includes('sid'))).toEqual(['site.open.test sid=secret-2 HttpOnly'])
    await inSession('/logout')
    expect((await cookies()).filter((one) => one.includes('sid'))).toEqual([])
    await open(client, id, at('/account'))
    expect(await text()).toBe('Please log in')
  })

  test('keep what pages set while a request is under way', async () => {
    await create()
    await open(client, id, at('/login'))
    await valueOf(
      client,
      id,
      `void fetch('/held?page').then(() => { document.cookie = 'theme=light'; return fetch('/echo') })`,
    )
    const answer = inSession('/held?request')
    await waitUntil(() => held.length === 2)
    held.shift()!.end()
    await waitUntil(() => seen.at(-1)!.url === '/echo')
    held.shift()!.setHeader('set-cookie', 'late=1').end()
    expect(await answer).toMatchObject({ status: 200 })
    expect(await valueOf(client, id, 'document.cookie')).toBe('wide=1; theme=light; late=1')
  })

  test('are sent to their host and path only', async () => {
    await create()
    await open(client, id, at('/login'))
    await valueOf(client, id, `document.cookie = 'deep=1; path=/deep'`)
    await inSession(at('/echo', 'other.open.test'))
    expect(seen.at(-1)!.headers.cookie).toBe('wide=1')
    await inSession('/echo')
    expect(seen.at(-1)!.headers.cookie).not.toContain('deep')
  })

  test('are stored even if a later redirect fails', async () => {
    await create()
    expect(await failureOf(inSession('/to-private'))).toMatchObject({ code: 'url_blocked' })
    expect(await cookies()).toEqual(['site.open.test hop=2'])
  })

  test('that browsers ignore are not stored', async () => {
    await create()
    expect(await inSession('/bad-cookies')).toMatchObject({ status: 200 })
    expect(await cookies()).toEqual(['site.open.test =nameless', 'site.open.test b=2'])
  })

  test('given with the request are sent, and not stored', async () => {
    await create()
    await inSession('/echo', { cookies: 'given=1' })
    expect(seen.at(-1)!.headers.cookie).toBe('given=1')
    expect(await cookies()).toEqual([])
  })
})

describe('redirects', () => {
  const headers = { Authorization: 'Bearer secret-header', 'X-Team': 'blue', 'Content-Type': 'text/x' }

  test('to another host lose all headers and cookies', async () => {
    await create()
    await open(client, id, at('/login'))
    await inSession('/to-other', { headers })
    const { authorization, 'x-team': team, cookie } = seen.at(-1)!.headers
    expect([seen.at(-1)!.host, authorization, team, cookie]).toEqual([
      'other.open.test',
      undefined,
      undefined,
      'wide=1',
    ])
  })

  test('to a subdomain keep headers, but not Authorization', async () => {
    await send('/to-sub', { headers })
    const { authorization, 'x-team': team } = seen.at(-1)!.headers
    expect([seen.at(-1)!.host, authorization, team]).toEqual(['deep.site.open.test', undefined, 'blue'])
  })

  test.each([
    ['/303', 'PUT', 'GET '],
    ['/301', 'POST', 'GET '],
    ['/301', 'PUT', 'PUT x=1'],
    ['/307', 'POST', 'POST x=1'],
  ])('of %s turn %s into %j', async (path, method, body) => {
    expect(await send(path, { method, headers, body: 'x=1' })).toMatchObject({ body })
    expect(seen.at(-1)!.headers['content-type']).toBe(body === 'GET ' ? undefined : 'text/x')
    expect(seen.at(-1)!.headers.authorization).toBe('Bearer secret-header')
  })

  test('are returned if none are to be followed', async () => {
    const { status, headers: received } = await send('/303', { max_redirects: 0 })
    expect([status, received['location'], seen.length]).toEqual([303, '/echo', 1])
  })

  test('end after the maximum', async () => {
    expect(await send('/loop', { max_redirects: 3 })).toMatchObject({ success: false, code: 'too_many_redirects' })
    expect(seen).toHaveLength(4)
  })
})

describe('refuses', () => {
  const refused = [
    ['an address', () => `http://127.0.0.3:${net.blocked.port}/`],
    ['a name', () => `http://x.private.test:${net.blocked.port}/`],
    ['the metadata service', () => 'http://metadata.test/latest'],
    ['a redirect', () => at('/to-private')],
    ['a redirect to a file', () => at('/to-file')],
    ['another scheme', () => 'ftp://site.open.test/'],
  ] as const

  test.each(refused)('%s that is not allowed, with and without a session', async (_, url) => {
    await create()
    const contacts = net.blocked.contacts()
    for (const session of [{}, { session_id: id }])
      expect(await failureOf(send(url(), session))).toMatchObject({ code: 'url_blocked' })
    expect(net.blocked.contacts()).toBe(contacts)
  })

  test('names of redirects in its error', async () => {
    expect((await failureOf(send('/to-private'))).message).toBe('URL blocked')
  })

  test('hosts outside of the allowed domains of the session, also after a redirect', async () => {
    await create({ allowed_domains: ['site.open.test'] })
    expect(await inSession('/echo')).toMatchObject({ status: 200 })
    const error = await failureOf(inSession(at('/echo', 'other.open.test')))
    expect(error).toMatchObject({ code: 'url_blocked', message: expect.stringContaining('not in the allowed domains') })
    expect(await failureOf(inSession('/to-other'))).toMatchObject({ code: 'url_blocked' })
    expect(seen.map(({ host }) => host)).not.toContain('other.open.test')
  })

  test('to connect to a name that resolves to another address later', async () => {
    const contacts = net.blocked.contacts()
    const url = `http://rebind.test:${net.site.port}/echo`
    for (let time = 0; time < 3; time++) await send(url).catch(() => {})
    expect([net.blocked.contacts(), seen.map(({ host }) => host)]).toEqual([
      contacts,
      expect.arrayContaining(['rebind.test']),
    ])
  })

  test('sessions of other keys, and keys without the scope', async () => {
    const [owner, other, reader] = [await keyHolder(homes), await keyHolder(homes), await keyHolder(homes, ['scrape'])]
    const { session_id } = await owner.client.createSession({ headless: true, requested_name: 'mine' })
    for (const name of [session_id!, 'mine'])
      expect(await failureOf(other.client.sendRequest({ url: at('/echo'), session_id: name }))).toMatchObject({
        code: 'session_not_found',
      })
    expect(await failureOf(reader.client.sendRequest({ url: at('/echo') }))).toMatchObject({ code: 'forbidden_scope' })
    expect(seen).toEqual([])
    await owner.client.closeSession({ session_id: session_id! })
    expect(await failureOf(owner.client.sendRequest({ url: at('/echo'), session_id: session_id! }))).toMatchObject({
      code: 'session_closed',
    })
  })
})

describe('the proxy of a session', () => {
  const login = { username: 'ann', password: 'secret-proxy' }

  test('is used for its requests', async () => {
    await create({ proxy: { server: proxy.url, ...login } })
    proxy.passed.length = 0
    const local = `http://shop.test:${new URL(homes.baseUrl).port}/healthz`
    expect(await inSession(local)).toMatchObject({ status: expect.any(Number) })
    expect(proxy.passed).toEqual([`GET ${local}`])
  })

  test('applies after the rules of the engine, and not to hosts that bypass it', async () => {
    await create({
      proxy: { server: proxy.url, ...login, bypass: '*.open.test' },
      allowed_domains: ['*.open.test', '127.0.0.3'],
    })
    proxy.passed.length = 0
    expect(await inSession('/echo')).toMatchObject({ status: 200 })
    for (const url of [`http://127.0.0.3:${net.blocked.port}/`, 'http://shop.test/'])
      expect(await failureOf(inSession(url))).toMatchObject({ code: 'url_blocked' })
    expect(proxy.passed).toEqual([])
  })

  test('that fails is an error, without its password', async () => {
    await create({ proxy: { server: proxy.url, username: 'ann', password: 'secret-wrong' } })
    const answer = await inSession('/echo')
    expect(answer).toMatchObject({ success: false, code: 'proxy_failed', error: expect.stringContaining(proxy.url) })
    expect(JSON.stringify(answer)).not.toContain('secret-')
    expect(seen).toEqual([])
  })
})

describe('bodies', () => {
  test.each<[string, Fields, string, string]>([
    ['text', { body: 'grüße' }, 'text/plain;charset=utf-8', 'POST grüße'],
    ['JSON', { body_json: { a: [1, null] } }, 'application/json', 'POST {"a":[1,null]}'],
    ['JSON of another method', { body_json: null, method: 'patch' }, 'application/json', 'PATCH null'],
    ['bytes', { body_base64: 'YQ==' }, 'application/octet-stream', 'POST a'],
    ['an empty text', { body: '' }, 'text/plain;charset=utf-8', 'POST '],
    ['text of another type', { body: 'a=1', headers: { 'content-TYPE': 'x/y' } }, 'x/y', 'POST a=1'],
  ])('of %s are sent', async (_, input, type, body) => {
    expect(await send('/echo', input)).toMatchObject({ body })
    expect(seen[0]!.headers).toMatchObject({ 'content-type': type })
  })

  test('of any bytes arrive unchanged', async () => {
    await send('/echo', { body_base64: noise.toString('base64') })
    expect(seen[0]!.body.equals(noise)).toBe(true)
  })

  test('of responses are text or base64, decompressed', async () => {
    expect(await send('/gzip')).toMatchObject({ body: 'packed', size: 6 })
    const { body, body_base64, size } = await send('/noise')
    expect([body, size]).toEqual([undefined, noise.length])
    expect(Buffer.from(body_base64!, 'base64').equals(noise)).toBe(true)
  })

  test('are empty for HEAD and 204, and any status is a success', async () => {
    expect(await send('/large', { method: 'HEAD' })).toMatchObject({ status: 200, size: 0, body: '' })
    expect(await send('/empty')).toMatchObject({ success: true, status: 204, body: '' })
    expect(await send('/missing')).toMatchObject({ success: true, status: 404, body: 'not here' })
  })

  test.each(['/large', '/stream', '/bomb'])('that are too large end the request (%s)', async (path) => {
    const error = `the response is larger than ${10 * 1024 * 1024} bytes`
    expect(await send(path)).toMatchObject({ success: false, code: 'content_too_large', error })
    expect(await send('/noise', { max_bytes: 4095 })).toMatchObject({ success: false, code: 'content_too_large' })
    expect(await send('/noise', { max_bytes: 4096 })).toMatchObject({ success: true })
  })

  test('larger than the default are returned if the caller accepts them', async () => {
    expect(await send('/large', { max_bytes: big })).toMatchObject({ success: true, size: big })
  })
})

describe('fails', () => {
  test('when the time is over', async () => {
    const error = await failureOf(send('/held', { timeout_ms: 200 }))
    expect(error).toMatchObject({ code: 'timeout', message: 'the request did not complete within 200 ms' })
  })

  test.each([
    ['/upgrade', 'the server switched to another protocol'],
    ['/cut', 'the connection was lost during the response'],
  ])('when the response of %s is incomplete', async (path, error) => {
    await create()
    expect(await inSession(path)).toMatchObject({ success: false, code: 'connection_failed', error })
    expect(await inSession('/echo')).toMatchObject({ success: true })
  })

  test('without a retry when the server closes the connection', async () => {
    for (const method of ['GET', 'POST'])
      expect(await send('/reset', { method })).toMatchObject({ success: false, code: 'connection_failed' })
    expect(seen.map(({ method }) => method)).toEqual(['GET', 'POST'])
  })

  test('with the session', async () => {
    await create()
    const failure = failureOf(inSession('/held'))
    await waitUntil(() => held.length === 1)
    await client.closeSession({ session_id: id })
    expect(await failure).toMatchObject({ code: 'session_closed' })
    id = ''
  })

  test.each<[Fields, string]>([
    [{ method: 'GE T' }, 'method is not a method such as GET or POST'],
    [{ method: 'connect' }, 'method must not be CONNECT or TRACE'],
    [{ body: 'a', body_json: 1 }, 'body_json cannot be combined with body'],
    [{ body_base64: '%' }, 'body_base64'],
    [{ headers: { Host: 'x' } }, 'headers.Host is set by the engine'],
    [{ headers: { 'X-A': 'secret-header\r\nHost: x' } }, 'headers.X-A must not contain control characters'],
    [{ cookies: 'secret-cookie' }, 'cookies must be name=value pairs'],
    [{ max_redirects: 51 }, 'max_redirects'],
    [{ timeout_ms: 0 }, 'timeout_ms'],
    [{ max_bytes: 0 }, 'max_bytes'],
    [{ save_profile: true }, 'save_profile needs profile'],
    [{ profile: 'a', session_id: 'b' }, 'profile cannot be combined with session_id'],
  ])('for %j', async (input, message) => {
    const error = await failureOf(send('/echo', input))
    expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(message) })
    expect(JSON.stringify(error.toBody())).not.toContain('secret-')
    expect(seen).toEqual([])
  })
})

test('a session that confirms forms holds requests until a person approves them', async () => {
  await create({ confirm: ['submit'] })
  expect(await inSession('/echo')).toMatchObject({ status: 200 })
  seen.length = 0
  const decide = async (decision: 'approveAction' | 'rejectAction') => {
    const { approval_id, ...action } = await waitingApproval(client)
    expect([action.kind, action.command, action.summary]).toEqual(['submit', 'request', `POST ${at('/echo')}`])
    expect(seen).toEqual([])
    await client[decision]({ session_id: id, approval_id })
  }
  const rejected = failureOf(inSession('/echo', { body: 'a' }))
  await decide('rejectAction')
  expect(await rejected).toMatchObject({ code: 'rejected' })
  const approved = inSession('/echo', { body: 'a' })
  await decide('approveAction')
  expect(await approved).toMatchObject({ body: 'POST a' })
})

test('a profile lends its cookies, and keeps those of responses if asked to', async () => {
  await create()
  await open(client, id, at('/login'))
  await client.saveProfile({ name: 'work', session_id: id })
  expect(await send('/account', { profile: 'work' })).toMatchObject({ body: 'Welcome, Ann' })
  await send('/rotate', { profile: 'work' })
  expect(await send('/account', { profile: 'work' })).toMatchObject({ body: 'Welcome, Ann' })
  await send('/rotate', { profile: 'work', save_profile: true })
  expect(await send('/account', { profile: 'work' })).toMatchObject({ body: 'Please log in' })
})

test('the error of a failed request names a profile that could not be saved', async () => {
  const { profile_id } = await client.saveProfile({ name: 'gone', session_id: await create() })
  const failed = send('/to-held', { profile: 'gone', save_profile: true })
  await waitUntil(() => held.length === 1)
  await client.deleteProfile({ profile_id })
  held[0]!.destroy()
  expect(await failed).toMatchObject({
    code: 'connection_failed',
    message: expect.stringMatching(/ \(the profile was not saved: .+\)$/),
  })
})

test('a request without a session keeps cookies between its redirects only', async () => {
  expect(await send('/login')).toMatchObject({ body: 'Welcome, Ann' })
  expect(await send('/account')).toMatchObject({ body: 'Please log in' })
})

test('no secret is in the log of the engine or the events of the session', async () => {
  await create()
  await open(client, id, at('/'))
  const headers = { Authorization: 'Bearer secret-header' }
  await inSession('/login', { headers, cookies: 'a=secret-cookie', body: 'password=secret-body' })
  await inSession('/reset', { headers, url: at('/reset').replace('//', '//ann:secret-word@') })
  const log = await client.getSessionLog({ session_id: id })
  expect([JSON.stringify(logged), JSON.stringify(log)].filter((text) => text.includes('secret-'))).toEqual([])
})
