import { readdir, readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer, Input } from '../../src/client/calls.ts'
import { type Homes, isFleet, openHomes } from '../support/homes.ts'
import { failureOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

type Crawled = Extract<Answer<'crawl'>, { data: unknown }>

const logouts = [
  '/logout',
  '/user/log-out.php',
  '/index?do=logout&sectok=1',
  '/wp-login.php?action=sign_out',
  '/abmelden',
  '/salir',
  '/session/end',
  '/users/log/out',
  '/d%C3%A9connexion',
  '/wiki/Special:UserLogout',
  '/wiki.php?title=Spezial:Abmelden&returnto=Main_Page',
]
const notLogouts = [
  '/blog/how-to-logout-of-everything',
  '/index?do=login-history',
  '/wiki/Help:How_to_log_out',
  '/log/outages',
]

let homes: Homes
let site: Site
let other: Site
const logged: unknown[] = []
const seen: IncomingMessage[] = []
/** Sessions that the site knows: each visit of `/rotate` begins another one, and a logout ends all. */
const sessions = new Set<string>()

const isMember = ({ headers }: IncomingMessage) => sessions.has(/session=([^;]+)/.exec(headers.cookie ?? '')?.[1] ?? '')

function member(body: string) {
  return (request: IncomingMessage, response: ServerResponse) => {
    seen.push(request)
    response.setHeader('content-type', 'text/html; charset=utf-8')
    if (isMember(request)) return response.end(`<!doctype html><title>Member</title><main>${body}</main>`)
    response.writeHead(302, { location: '/login' }).end()
  }
}

const list = (paths: readonly string[]) =>
  paths.map((path) => `<p>Some text about this link, which is long enough. <a href="${path}">${path}</a></p>`).join('')

beforeAll(async () => {
  const end = (_: IncomingMessage, response: ServerResponse) => {
    sessions.clear()
    response.end('<!doctype html><p>Goodbye')
  }
  const rotate = (request: IncomingMessage, response: ServerResponse) => {
    const next = `secret-${sessions.size}`
    if (isMember(request)) response.setHeader('set-cookie', `session=${next}; Path=/; Max-Age=900`)
    member('<p>Rotated</p>')(request, response)
    sessions.add(next)
  }
  other = await serveSite(
    { '/': (request, response) => (seen.push(request), response.end('<p>Elsewhere')) },
    '127.0.0.5',
  )
  site = await serveSite({
    '/': member(list(['/a', '/b', '/rotate', ...logouts, ...notLogouts, `${other.url}/`])),
    '/a': member(list(['/c', '/d'])),
    '/b': member('<p>Page b</p>'),
    '/c': member('<p>Page c</p>'),
    '/d': member('<p>Page d</p>'),
    '/rotate': rotate,
    '/login': '<!doctype html><title>Log in</title><form method=post><input name=u><input type=password name=p></form>',
    ...Object.fromEntries(logouts.map((path) => [new URL(path, 'http://x').pathname, end])),
    '/blog/how-to-logout-of-everything': member('<p>A guide</p>'),
    '/wiki/Help:How_to_log_out': member('<p>Another guide</p>'),
    '/log/outages': member('<p>Outages</p>'),
    '/index': (request, response) =>
      (request.url!.includes('do=logout') ? end : member('<p>History</p>'))(request, response),
  })
  homes = await openHomes({ allowPrivate: ['127.0.0.0/8'], ...(!isFleet && { log: (...line) => logged.push(line) }) })
})
afterAll(() => Promise.all([homes?.close(), site?.close(), other?.close()]))

function begin() {
  sessions.clear()
  sessions.add('secret-start')
}

async function crawl(input: Partial<Input<'crawl'>>): Promise<Crawled> {
  begin()
  seen.splice(0)
  return (await homes.clients.http.crawl({ url: site.url, ...input })) as Crawled
}

const paths = ({ data }: Crawled) => data.map(({ metadata }) => new URL(metadata.url!).pathname).toSorted()
const expected = [
  '/',
  '/a',
  '/b',
  '/blog/how-to-logout-of-everything',
  '/c',
  '/d',
  '/index',
  '/log/outages',
  '/rotate',
  '/wiki/Help:How_to_log_out',
]

/** Returns the texts of all files of the engine, except for profiles. */
async function storedTexts(): Promise<string[]> {
  const entries = await readdir(homes.stateDir, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('profiles'))
  return Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')))
}

describe.each(['http', 'browser'] as const)('a crawl with render %s', (render) => {
  test('stays logged in, and skips links that log out', async () => {
    const answer = await crawl({ render, cookies: 'session=secret-start' })
    expect(paths(answer)).toEqual(expected)
    expect(answer.data.filter(({ warning_code }) => warning_code === 'login_required')).toEqual([])
    const skipped = answer.skipped.filter(({ reason }) => reason === 'logout').map(({ url }) => url)
    expect(skipped).toEqual(logouts.map((path) => new URL(path, site.url).href))
    expect(sessions.size).toBe(2)
  })

  test('reports pages that ask for a login', async () => {
    const { data } = await crawl({ render, cookies: 'session=old', limit: 2 })
    expect(data).toMatchObject([{ warning_code: 'login_required', warning: expect.stringContaining('/login') }])
  })
})

test('follows links that log out on request, and without an identity', async () => {
  await crawl({ render: 'http', cookies: 'session=secret-start', follow_logout: true })
  expect(sessions.size).toBe(0)
  const { skipped } = await crawl({ render: 'http' })
  expect(skipped.filter(({ reason }) => reason === 'logout')).toEqual([])
})

test('sends headers and cookies to the host of the start page only', async () => {
  const headers = { Authorization: 'Bearer secret-header' }
  await crawl({ render: 'http', cookies: 'session=secret-start', headers, allow_external_links: true })
  const elsewhere = seen.filter(({ headers: { host } }) => host === new URL(other.url).host)
  expect(elsewhere.map(({ headers: { authorization, cookie } }) => [authorization, cookie])).toEqual([
    [undefined, undefined],
  ])
  const own = seen.filter(({ headers: { host, authorization } }) => host === new URL(site.url).host && !authorization)
  expect(own.map(({ url }) => url)).toEqual([])
})

test('saves the cookies that the site has changed to the profile', async () => {
  await crawl({ render: 'http', limit: 1 })
  const { session_id } = await homes.clients.http.createSession({ headless: true, start_url: `${site.url}/login` })
  const expression = `document.cookie = 'session=secret-start; path=/; max-age=900'`
  await homes.clients.http.runCommands({
    session_id: session_id!,
    commands: [{ command: 'evaluate', data: { expression } }],
  })
  await homes.clients.http.saveProfile({ name: 'member', session_id: session_id! })
  expect(paths(await crawl({ render: 'http', profile: 'member', save_profile: true }))).toEqual(expected)
  await homes.clients.http.scrape({ url: `${site.url}/b`, profile: 'member' })
  expect(seen.at(-1)!.headers.cookie).toBe('session=secret-1')
})

test('continues with the identity after an interruption', async () => {
  begin()
  const { id } = await homes.clients.http.crawl({
    url: site.url,
    render: 'http',
    cookies: 'session=secret-start',
    async: true,
  })
  await homes.clients.http.cancelCrawl({ id })
  const state = await homes.clients.http.getCrawl({ id })
  if (state.status === 'cancelled') await homes.clients.http.resumeCrawl({ id })
  await waitUntil(async () => (await homes.clients.http.getCrawl({ id })).status === 'completed')
  const { data } = await homes.clients.http.getCrawl({ id, limit: 100 })
  expect(data.filter(({ warning_code }) => warning_code === 'login_required')).toEqual([])
})

test.each([{ formats: ['markdown', 'changeTracking'] as const }, { since: 'earlier' }])(
  'is not compared with pages of others: %j',
  async ({ formats, since }) => {
    const { id } = await crawl({ render: 'http', limit: 1 })
    const options = { url: site.url, ...(formats && { formats: [...formats] }), ...(since && { since: id }) }
    const error = await failureOf(homes.clients.http.crawl({ ...options, cookies: 'session=secret-start' }))
    expect(error).toMatchObject({
      code: 'invalid_request',
      message: `${since ? 'since' : 'the format changeTracking'} cannot be combined with cookies`,
    })
  },
)

test('a crawl without an identity is not compared with one that was logged in', async () => {
  const { id } = await crawl({ render: 'http', limit: 1, cookies: 'session=secret-start' })
  expect(await failureOf(homes.clients.http.crawl({ url: site.url, render: 'http', since: id }))).toMatchObject({
    code: 'invalid_request',
    message: `since: the crawl ${id} was read with credentials`,
  })
  const german = await crawl({ render: 'http', limit: 1, locale: 'de' })
  expect(await crawl({ render: 'http', limit: 1, locale: 'de', since: german.id })).toMatchObject({ success: true })
})

test('options in scrape_options replace only those that they name', async () => {
  const scrape_options = { render: 'http' as const, only_main_content: false }
  await crawl({ limit: 1, cookies: 'session=secret-start', mobile: true, formats: ['links'], scrape_options })
  expect(seen[0]!.headers['user-agent']).toContain('Mobile')
})

test('maps, batches and extractions read with the identity', async () => {
  begin()
  const { links } = await homes.clients.http.map({ url: site.url, cookies: 'session=secret-start' })
  expect(links).toContain(`${site.url}/d`)
  const urls = [`${site.url}/c`, `${site.url}/d`]
  const { id } = await homes.clients.http.batchScrape({ urls, cookies: 'session=secret-start' })
  await waitUntil(async () => (await homes.clients.http.getBatch({ id })).status === 'completed')
  const { data } = await homes.clients.http.getBatch({ id })
  expect(data.map(({ markdown }) => markdown)).toEqual(['Page c\n', 'Page d\n'])
  const { id: extraction } = await homes.clients.http.extract({
    urls,
    prompt: 'title',
    scrape_options: { cookies: 'session=secret-start' },
  })
  await waitUntil(async () => (await homes.clients.http.getExtract({ id: extraction })).status === 'completed')
  expect((await homes.clients.http.getExtract({ id: extraction })).warning ?? '').not.toContain('login')
})

test('no secret is in events, usage, the log or stored files', async () => {
  const { id } = await crawl({ render: 'auto', cookies: 'session=secret-start', headers: { 'X-Key': 'secret-header' } })
  const { client } = { client: homes.clients.http }
  const answers = [await client.getCrawl({ id }), await client.listCrawls({}), await client.activeCrawls({})]
  const texts = [...answers, logged].map((value) => JSON.stringify(value))
  expect([...texts, ...(await storedTexts())].filter((text) => text.includes('secret-'))).toEqual([])
})
