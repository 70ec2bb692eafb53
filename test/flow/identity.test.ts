import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Input } from '../../src/client/calls.ts'
import { type Homes, isFleet, openHomes } from '../support/homes.ts'
import { bax } from '../support/cli.ts'
import { failureOf } from '../support/session-steps.ts'
import { openPrivateNet, type PrivateNet } from '../support/private-net.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
let net: PrivateNet
const logged: unknown[] = []

/** Requests with their host, as the site received them. */
const seen: IncomingMessage[] = []
const note = (request: IncomingMessage, response: ServerResponse, body: string, headers: object = {}) => {
  seen.push(request)
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers })
  response.end(`<!doctype html><title>Page</title><main>${body}</main>`)
}
const redirect = (response: ServerResponse, location: string, headers: object = {}) =>
  response.writeHead(302, { location, ...headers }).end()

const account = (request: IncomingMessage) => {
  const cookies = request.headers.cookie ?? ''
  return /token=secret-1/.test(cookies) ? 'Welcome back, Ann' : '<form><input type=password name=p></form>'
}

beforeAll(async () => {
  net = await openPrivateNet({
    '/': (request, response) => note(request, response, `<p>Hello</p>`),
    '/account': (request, response) => note(request, response, account(request)),
    '/rotate': (request, response) =>
      note(request, response, '<p>new</p>', { 'set-cookie': 'token=secret-2; HttpOnly; Path=/; Max-Age=900' }),
    '/script': (request, response) =>
      note(
        request,
        response,
        '<p id=t></p><script>document.cookie = "token=secret-3; path=/; max-age=900"; t.textContent = navigator.language + " " + Intl.DateTimeFormat().resolvedOptions().timeZone + " " + screen.width + " " + localStorage.getItem("theme")</script>',
      ),
    '/away': (request, response) => {
      seen.push(request)
      redirect(response, `http://other.open.test:${net.site.port}/`)
    },
    '/back': (request, response) => {
      seen.push(request)
      redirect(response, `http://deep.site.open.test:${net.site.port}/`)
    },
    '/in': (request, response) => {
      seen.push(request)
      redirect(response, '/login', { 'set-cookie': 'visit=1' })
    },
    '/login': (request, response) => note(request, response, 'Please log in'),
    '/denied': (_, response) =>
      void response.writeHead(403, { 'content-type': 'text/html' }).end('<header><input type=password></header>No'),
    '/soon': (request, response) =>
      note(
        request,
        response,
        '<meta http-equiv=refresh content="20; url=/login?next=/soon"><p>You will be sent on.</p>',
      ),
    '/app': (request, response) =>
      note(request, response, '<p>Hello</p><script>location.hash = "#/login?next=secret"</script>'),
  })
  homes = await openHomes({ ...net.config, ...(!isFleet && { log: (...line) => logged.push(line) }) })
})
afterAll(async () => {
  await homes.close()
  await net.close()
})
beforeEach(() => void seen.splice(0))

const at = (path: string) => `http://site.open.test:${net.site.port}${path}`
const scrape = async (path: string, input: Partial<Input<'scrape'>> = {}) =>
  homes.clients.http.scrape({ url: at(path), ...input })
const ways = ['http', 'browser'] as const

describe.each(ways)('a page read with render %s', (render) => {
  test('is requested with the headers, cookies, user agent and language of the caller', async () => {
    const headers = { 'X-Team': 'blue', Authorization: 'Bearer secret-header' }
    await scrape('/', { render, headers, cookies: 'a=1; b=2', user_agent: 'Reader/1.0 (test)', locale: 'de-AT' })
    expect(seen[0]!.headers).toMatchObject({
      'x-team': 'blue',
      authorization: 'Bearer secret-header',
      cookie: expect.stringMatching(/a=1; b=2|b=2; a=1/),
      'user-agent': 'Reader/1.0 (test)',
      'accept-language': 'de-AT,de;q=0.9',
    })
  })

  test('sends headers to the host and its subdomains only', async () => {
    const headers = { Authorization: 'Bearer secret-header' }
    await scrape('/back', { render, headers })
    await scrape('/away', { render, headers, cookies: 'a=1' })
    const sent = seen.map(({ headers: { host, authorization } }) => [host!.split(':')[0], authorization])
    expect(sent.filter(([host]) => host !== 'other.open.test').map(([, value]) => value)).toEqual(
      Array(3).fill('Bearer secret-header'),
    )
    expect(sent.filter(([host]) => host === 'other.open.test')).toEqual([['other.open.test', undefined]])
    expect(seen.find(({ headers: { host } }) => host!.startsWith('other'))!.headers.cookie).toBeUndefined()
  })

  test('uses a profile, and saves the cookies that the site has changed', async () => {
    const name = `rotated-${render}`
    await profileWith(name, 'token=secret-1')
    const { data } = await scrape('/account', { render, profile: name })
    expect(data).toMatchObject({ markdown: 'Welcome back, Ann\n' })
    await scrape('/rotate', { render, profile: name, save_profile: true })
    await scrape('/', { render, profile: name })
    expect(seen.at(-1)!.headers.cookie).toBe('token=secret-2')
    await scrape('/rotate', { render, profile: name })
  })

  test('reports a page that asks for a login', async () => {
    const cookies = 'token=expired'
    expect(await scrape('/account', { render, cookies })).toMatchObject({
      warning_code: 'login_required',
      warning: expect.stringContaining(at('/account')),
    })
    expect(await scrape('/in', { render, cookies })).toMatchObject({
      warning_code: 'login_required',
      warning: expect.stringContaining(at('/login')),
    })
    expect((await scrape('/login', { render })).warning_code).not.toBe('login_required')
    expect((await scrape('/account', { render, mobile: true, locale: 'de' })).warning_code).not.toBe('login_required')
    expect((await scrape('/account', { render, cookies: 'token=secret-1' })).warning_code).not.toBe('login_required')
  })

  test.each([
    ['answers with status 403 and a form', '/denied', '/denied'],
    ['leads to a login after a while', '/soon', '/login'],
  ])('reports a page that %s', async (_, path, login) => {
    expect(await scrape(path, { render, cookies: 'token=expired' })).toMatchObject({
      warning_code: 'login_required',
      warning: expect.stringContaining(`the page asks for a login: ${at(login)}`),
    })
  })

  test('names the URL of a login without its secrets', async () => {
    const url = at('/account?key=secret-key').replace('//', '//ann:secret-password@')
    const { warning } = await homes.clients.http.scrape({ url, render, cookies: 'a=1' })
    expect(warning).toContain(`the page asks for a login: ${at('/account')}`)
    expect(warning).not.toContain('secret-')
  })

  test('is neither stored for others nor taken from what is stored', async () => {
    const shared = await scrape('/account', { render, max_age: 60_000 })
    const own = await scrape('/account', { render, max_age: 60_000, cookies: 'token=secret-1' })
    const later = await scrape('/account', { render, max_age: 60_000 })
    expect(own.data!.markdown).toContain('Ann')
    expect([shared, later].map(({ data }) => data!.markdown?.includes('Ann'))).toEqual([false, false])
  })
})

test('reports a page whose scripts open the route of a login', async () => {
  expect(await scrape('/app', { render: 'browser', cookies: 'token=expired' })).toMatchObject({
    warning_code: 'login_required',
    warning: `the page asks for a login: ${at('/app#/login')}`,
  })
})

/** Saves a profile with cookies that a page has set. */
async function profileWith(name: string, cookie: string): Promise<void> {
  const { session_id: id } = await homes.clients.http.createSession({ headless: true, start_url: at('/') })
  const session_id = id!
  const script = `document.cookie = '${cookie}; path=/; max-age=900'; localStorage.setItem('theme', 'dark')`
  await homes.clients.http.runCommands({
    session_id,
    commands: [{ command: 'evaluate', data: { expression: script } }],
  })
  await homes.clients.http.saveProfile({ name, session_id })
  await homes.clients.http.closeSession({ session_id })
}

test('the browser has the language, time zone, screen and local storage of the identity', async () => {
  await profileWith('dark', 'token=secret-1')
  const { data } = await scrape('/script', {
    render: 'browser',
    profile: 'dark',
    locale: 'de-AT',
    timezone: 'Asia/Tokyo',
    mobile: true,
  })
  expect(data!.markdown).toBe('de-AT Asia/Tokyo 412 dark\n')
  expect(seen.at(-1)!.headers['user-agent']).toContain('Mobile')
})

test('a location sets languages and the time zone, unless they are given', async () => {
  const read = async (input: Partial<Input<'scrape'>>) => {
    const { data, warning } = await scrape('/script', { render: 'browser', ...input })
    return {
      text: data!.markdown!.split(' ').slice(0, 2).join(' '),
      accept: seen.at(-1)!.headers['accept-language'],
      warning,
    }
  }
  expect(await read({ location: { country: 'at' } })).toEqual({
    text: 'de-AT Europe/Vienna',
    accept: 'de-AT,de;q=0.9',
    warning: expect.stringContaining('not where requests leave from'),
  })
  const { text } = await read({ location: { country: 'AT' }, locale: 'fr-FR', timezone: 'Asia/Tokyo' })
  expect(text).toBe('fr-FR Asia/Tokyo')
  const several = await read({ location: { country: 'US', languages: ['es', 'en-GB'] } })
  expect(several).toMatchObject({ accept: 'es-US,es;q=0.9,en-GB;q=0.8,en;q=0.7' })
  expect(several.warning).toContain('not the time zone, since there are several')
  await scrape('/', { render: 'http', location: { languages: ['nl'] } })
  expect(seen.at(-1)!.headers['accept-language']).toBe('nl')
})

test('cookies that a script sets reach later fetches', async () => {
  await profileWith('scripted', 'token=secret-1')
  await scrape('/script', { render: 'browser', profile: 'scripted', save_profile: true })
  await scrape('/', { render: 'http', profile: 'scripted' })
  expect(seen.at(-1)!.headers.cookie).toBe('token=secret-3')
})

test.each([
  ['a list', [{ name: 'a', value: '1', domain: '.open.test' }]],
  ['a JSON file', JSON.stringify({ cookies: [{ name: 'a', value: '1', domain: 'site.open.test', httpOnly: true }] })],
  ['a Netscape file', '# Netscape HTTP Cookie File\n#HttpOnly_.open.test\tTRUE\t/\tFALSE\t0\ta\t1\n'],
  ['a curl command', `curl 'http://site.open.test/' -H 'Accept: */*' -b 'a=1'`],
  ['a curl command with a header', `curl "http://site.open.test/" -H "Cookie: a=1" --compressed`],
  ['a header', 'Cookie: a=1'],
])('reads cookies from %s', async (_, cookies) => {
  await scrape('/', { render: 'http', cookies })
  expect(seen[0]!.headers.cookie).toBe('a=1')
})

test.each<[Partial<Input<'scrape'>>, string]>([
  [{ headers: { Host: 'x' } }, 'headers.Host is set by the engine'],
  [{ headers: { 'content-length': '1' } }, 'headers.content-length is set by the engine'],
  [{ headers: { 'Proxy-Authorization': 'secret-header' } }, 'headers.Proxy-Authorization is set by the engine'],
  [{ headers: { 'X-A': 'secret-header\r\nHost: x' } }, 'headers.X-A must not contain control characters'],
  [{ cookies: 'secret-cookie' }, 'cookies must be name=value pairs'],
  [{ cookies: '[{"name": "secret-cookie"}]' }, 'cookies must each have a name and a value'],
  [{ save_profile: true }, 'save_profile needs profile'],
  [
    { cookies: 'secret-cookie=1', formats: ['markdown', 'changeTracking'] },
    'the format changeTracking cannot be combined with cookies',
  ],
  [
    { headers: { 'X-A': 'secret-header' }, formats: ['markdown', { type: 'changeTracking', modes: ['git-diff'] }] },
    'the format changeTracking cannot be combined with headers',
  ],
  [{ timezone: 'Mars/Phobos' }, 'timezone is not an IANA time zone'],
  [{ location: { country: 'Austria' } }, 'location.country must be a country code such as AT'],
  [{ location: { country: 'EU' } }, 'location.country is not the code of a country'],
])('rejects %j', async (input, message) => {
  const error = await failureOf(scrape('/', input))
  expect(error.message).toContain(message)
  expect(JSON.stringify(error.toBody())).not.toContain('secret-')
})

test('rejects an unknown profile', async () => {
  expect(await failureOf(scrape('/', { profile: 'absent' }))).toMatchObject({ code: 'profile_not_found' })
})

describe('bax scrape', () => {
  let folder: string
  let site: Site
  beforeAll(async () => {
    const echo = (request: IncomingMessage, response: ServerResponse) =>
      note(request, response, `<p>${request.headers['x-team']} ${request.headers.cookie}</p>`)
    ;[folder, site] = await Promise.all([mkdtemp(join(tmpdir(), 'bax-test-identity-')), serveSite({ '/': echo })])
    await writeFile(join(folder, 'jar.txt'), '127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t7\n')
  })
  afterAll(() => Promise.all([site.close(), rm(folder, { recursive: true })]))

  test.each([
    [['-H', 'X-Team: blue', '--cookie', 'a=1', '--cookie', 'b=2'], 'blue a=1; b=2\n'],
    [['--header', 'X-Team:red: 1, 2', '--cookies', 'jar.txt'], 'red: 1, 2 a=7\n'],
  ])('%j', async (flags, stdout) => {
    const argv = ['scrape', site.url, ...flags, '--state-dir', join(folder, 'state')]
    expect(await bax(argv, { cwd: folder })).toMatchObject({ code: 0, stdout })
  })

  test.each([
    [['-H', 'secret-header'], '--header must be written as "Name: value"'],
    [['--cookie', 'a=1', '--cookies', 'jar.txt'], '--cookie and --cookies exclude each other'],
    [['-H', 'Host: x'], '-H: Host is set by the engine'],
  ])('refuses %j', async (flags, message) => {
    const { code, stderr } = await bax(['scrape', site.url, ...flags, '--state-dir', folder], { cwd: folder })
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    expect(stderr).not.toContain('secret-')
  })
})

test('no secret is in the log or in files other than profiles', async () => {
  const { stateDir } = homes
  const names = (await readdir(stateDir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const files = names.filter(({ parentPath }) => !parentPath.includes('profiles'))
  const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')))
  expect([JSON.stringify(logged), ...texts].filter((text) => text.includes('secret-'))).toEqual([])
})
