/** Pages that are read with the cookies of a session, apart from its tabs. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Input } from '../../src/client/calls.ts'
import type { BaxError } from '../../src/core/errors/errors.ts'
import { bax } from '../support/cli.ts'
import type { Client } from '../support/client.ts'
import { type ForwardProxy, serveProxy } from '../support/forward-proxy.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type KeyHolder, keyHolder } from '../support/owned-objects.ts'
import { openPrivateNet, type PrivateNet } from '../support/private-net.ts'
import { failureOf, open, valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
let net: PrivateNet
let holder: KeyHolder
let client: Client
let proxy: ForwardProxy
let far: Site
const seen: IncomingMessage[] = []

const page = (response: ServerResponse, text: string, headers: object = {}) =>
  response
    .writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers })
    .end(`<!doctype html><title>Page</title><main><p>${text}</p></main>`)

beforeAll(async () => {
  net = await openPrivateNet({
    '/': (_, response) => page(response, 'Home'),
    '/login': (_, response) => page(response, 'Logged in', { 'set-cookie': 'sid=secret-sid; HttpOnly; Path=/' }),
    '/account': (request, response) => {
      seen.push(request)
      const isMember = /sid=secret-sid/.test(request.headers.cookie ?? '')
      page(response, isMember ? 'Welcome, Ann' : '<form><input type=password name=p></form>')
    },
    '/team': (request, response) => {
      const isMember = /sid=secret-sid/.test(request.headers.cookie ?? '')
      const links = isMember ? ['/team/a', '/team/b', '/logout'] : ['/join']
      page(response, links.map((path) => `<a href="${path}">${path}</a>`).join(' '), { 'set-cookie': 'seen=team' })
    },
    '/rotate': (_, response) => page(response, 'Rotated', { 'set-cookie': 'sid=secret-next; HttpOnly; Path=/' }),
    '/script': (_, response) => page(response, '<script>document.cookie = "seen=yes; path=/"</script>Scripted'),
  })
  ;[homes, proxy, far] = await Promise.all([
    openHomes({ ...net.config, allowPrivate: ['127.0.0.1', '127.0.0.2'] }),
    serveProxy({ username: 'ann', password: 'secret-proxy' }),
    serveSite({ '/': '<!doctype html><title>Shop</title><main><p>Far away</p></main>' }),
  ])
  holder = await keyHolder(homes)
  client = holder.client
})
beforeEach(() => void seen.splice(0))
afterAll(() => Promise.all([homes.close(), net.close(), proxy.close(), far.close()]))

const at = (path: string) => `http://site.open.test:${net.site.port}${path}`
const scrape = (session_id: string, path: string, input: Partial<Input<'scrape'>> = {}) =>
  client.scrape({ url: at(path), session_id, ...input })

/** Creates a session that has opened a page, and closes it after the work. */
async function inSession(path: string, work: (id: string) => Promise<void>, input: Input<'createSession'> = {}) {
  const { session_id: id } = await client.createSession({ headless: true, ...input })
  try {
    await open(client, id!, at(path))
    await work(id!)
  } finally {
    await client.closeSession({ session_id: id! })
  }
}
const cookieNames = async (session_id: string) => {
  const { results } = await client.runCommands({ session_id, commands: [{ command: 'get_cookies' }] })
  const { value: cookies } = results[0]!.data!['result'] as { value: { name: string; value: string }[] }
  return cookies.map(({ name, value }) => `${name}=${value}`).toSorted()
}

describe.each(['http', 'browser'] as const)('a page read with render %s', (render) => {
  test('is that of the user who is logged in in the session, with its user agent and language', async () => {
    await inSession(
      '/login',
      async (id) => {
        const { data } = await scrape(id, '/account', { render })
        expect(data!.markdown).toBe('Welcome, Ann\n')
        expect(seen[0]!.headers).toMatchObject({ 'user-agent': 'Reader/1.0', 'accept-language': 'de-AT,de;q=0.9' })
      },
      { user_agent: 'Reader/1.0', locale: 'de-AT' },
    )
  })

  test('changes the cookies of the session, whose tabs stay as they are', async () => {
    await inSession('/login', async (id) => {
      await scrape(id, '/rotate', { render })
      expect(await cookieNames(id)).toEqual(['sid=secret-next'])
      expect(await valueOf(client, id, 'location.href')).toBe(at('/login'))
    })
  })

  test('reports that the session is not logged in', async () => {
    await inSession('/', async (id) => {
      expect(await scrape(id, '/account', { render })).toMatchObject({ warning_code: 'login_required' })
    })
  })

  test('goes through the proxy of the session, and obeys its allowed domains', async () => {
    const rules = {
      proxy: { server: proxy.url, username: 'ann', password: 'secret-proxy' },
      allowed_domains: ['shop.test'],
    }
    const { session_id } = await client.createSession({ headless: true, ...rules })
    // Only the proxy knows this name.
    const url = `http://shop.test:${new URL(far.url).port}/`
    const { data } = await client.scrape({ url, render, session_id: session_id! })
    expect(data).toMatchObject({ markdown: 'Far away\n', metadata: { proxy: proxy.url } })
    const blocked = await scrape(session_id!, '/', { render }).catch((error: BaxError) => error)
    expect(blocked).toMatchObject({ code: 'url_blocked' })
    await client.closeSession({ session_id: session_id! })
  })
})

test('cookies that scripts of the page set reach the session', async () => {
  await inSession('/', async (id) => {
    await scrape(id, '/script', { render: 'browser' })
    expect(await cookieNames(id)).toEqual(['seen=yes'])
  })
})

test('headers and cookies of the caller are sent, and not stored in the session', async () => {
  await inSession('/login', async (id) => {
    await scrape(id, '/account', { headers: { 'X-Team': 'blue' }, cookies: 'extra=1' })
    expect(seen[0]!.headers).toMatchObject({ 'x-team': 'blue', cookie: expect.stringContaining('extra=1') })
    expect(await cookieNames(id)).toEqual(['sid=secret-sid'])
  })
})

test('answers are not cached for others', async () => {
  await inSession('/login', async (id) => {
    await scrape(id, '/account', { max_age: 60_000 })
    const { data } = await client.scrape({ url: at('/account'), max_age: 60_000 })
    expect(data!.markdown ?? '').not.toContain('Ann')
  })
})

describe.each(['/v1/map', '/v2/map'])('%s', (path) => {
  async function map(fields: object) {
    const response = await fetch(homes.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${holder.key}` },
      body: JSON.stringify({ url: at('/team'), sitemap: 'skip', ...fields }),
    })
    const { links, code, error } = (await response.json()) as {
      links?: (string | { url: string })[]
      code?: string
      error?: string
    }
    return { code, error, links: links?.map((link) => new URL(typeof link === 'string' ? link : link.url).pathname) }
  }
  const members = ['/team', '/team/a', '/team/b']

  test('lists the links that the user of a session sees, without those that log out', async () => {
    expect(await map({})).toMatchObject({ links: ['/team', '/join'] })
    await inSession('/login', async (id) => {
      expect(await map({ sessionId: id })).toMatchObject({ links: members })
      expect(await cookieNames(id)).toEqual(['seen=team', 'sid=secret-sid'])
      expect(await valueOf(client, id, 'location.href')).toBe(at('/login'))
    })
  })

  test('reads with the cookies of the caller', async () => {
    expect(await map({ cookies: 'sid=secret-sid' })).toMatchObject({ links: members })
    expect(await map({ headers: { Cookie: 'sid=secret-sid' } })).toMatchObject({ links: members })
  })

  test('refuses a session that is unknown, or beside a profile', async () => {
    expect(await map({ session_id: 'absent' })).toMatchObject({ code: 'session_not_found' })
    await inSession('/', async (id) => {
      expect(await map({ session_id: id, profile: 'work' })).toMatchObject({
        code: 'invalid_request',
        error: 'profile cannot be combined with session_id',
      })
    })
  })
})

test('`bax map --session` reads with the session of the flag only', async () => {
  await inSession('/login', async (id) => {
    const run = (...flags: string[]) =>
      bax(['map', at('/team'), '--sitemap', 'skip', '--server', homes.baseUrl, ...flags], {
        env: { BAX_API_KEY: holder.key, BAX_SESSION: id },
      })
    expect((await run('-s', id)).stdout).toContain('/team/a')
    expect((await run()).stdout).toContain('/join')
    expect((await run('-s', '')).stderr).toContain('--session must not be empty')
  })
})

test.each<[Partial<Input<'scrape'>>, string]>([
  [{ profile: 'work' }, 'profile cannot be combined with session_id'],
  [{ proxy: 'http://127.0.0.1:1' }, 'proxy cannot be combined with session_id'],
  [{ actions: [{ type: 'click', selector: 'a' }] }, 'actions cannot be combined with session_id'],
  [{ formats: ['markdown', 'changeTracking'] }, 'the format changeTracking cannot be combined with session_id'],
])('refuses a session together with %j', async (input, message) => {
  await inSession('/', async (id) => {
    expect(await failureOf(scrape(id, '/', input))).toMatchObject({ code: 'invalid_request', message })
  })
})

test('refuses unknown and ended sessions, those of other keys, and browsers of users', async () => {
  expect(await failureOf(scrape('absent', '/'))).toMatchObject({ code: 'session_not_found' })
  expect(await failureOf(scrape('rly_absent', '/'))).toMatchObject({ code: 'relay_not_found' })
  let ended = ''
  await inSession('/', async (id) => {
    ended = id
    const other = await keyHolder(homes)
    expect(await failureOf(other.client.scrape({ url: at('/'), session_id: id }))).toMatchObject({
      code: 'session_not_found',
    })
  })
  expect(await failureOf(scrape(ended, '/'))).toMatchObject({ code: 'session_closed' })
})

test.each(['scrape', 'read'])('`bax %s --session` needs a running engine with the session', async (word) => {
  const folder = await mkdtemp(join(tmpdir(), 'bax-test-session-'))
  const missing = await bax([word, at('/'), '-s', 'shop', '--state-dir', folder])
  expect([missing.code, missing.stderr]).toEqual([expect.any(Number), expect.stringContaining('no session shop')])
  await rm(folder, { recursive: true })
  await inSession('/login', async (id) => {
    const { stdout } = await bax([word, at('/account'), '-s', id, '--server', homes.baseUrl], {
      env: { BAX_API_KEY: holder.key },
    })
    expect(stdout).toContain('Welcome, Ann\n')
    const refused = await bax([word, at('/'), '-s', id, '--profile', 'work', '--server', homes.baseUrl], {
      env: { BAX_API_KEY: holder.key },
    })
    expect(refused.stderr).toContain('--profile cannot be combined with --session\n')
  })
})
