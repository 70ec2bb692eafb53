import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { linkPage, pathOf } from '../support/crawl.ts'
import { type HomeName, type Homes, openHomes, usualHomes } from '../support/homes.ts'
import { freePort } from '../support/ports.ts'
import { serveSite, type Site } from '../support/site.ts'
import { redirectTo } from '../support/web.ts'

let homes: Homes
let site: Site

beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite({
    '/robots.txt': (_, response) => void response.end('User-agent: *\nDisallow: /closed'),
    '/sitemap.xml': (request, response) => {
      const urls = ['/orphan', '/a', '/caf%C3%A9'].map(
        (path) => `<url><loc>http://${request.headers.host}${path}</loc></url>`,
      )
      response.setHeader('content-type', 'application/xml').end(`<urlset>${urls.join('')}</urlset>`)
    },
    '/': linkPage('Home', ['/a', '/b', '/closed', 'https://else.example/']),
    '/a': linkPage('A', ['/a/1', '/a/2', '/']),
    '/b': linkPage('B', ['/b/1']),
    '/b/1': linkPage('B1', ['/b/1/deep']),
    '/orphan': linkPage('Orphan', ['/orphan/child']),
    '/caf%C3%A9': linkPage('Café'),
    '/broken': linkPage('Broken', ['/loop', '/a']),
    '/loop': (_, response) => void response.writeHead(302, { location: '/loop' }).end(),
    '/moved': linkPage('Moved', ['/moved/1', '/moved/2', '/moved/3']),
    '/moved/1': redirectTo('/moved/to#one'),
    '/moved/2': redirectTo('/moved/to#two'),
    '/moved/3': redirectTo('/moved/to#/three'),
    '/moved/to': linkPage('To', ['/moved/to#four']),
    '/held': linkPage('Held', ['/held/1', '/held/2']),
    '/held/1': () => {},
    '/held/2': () => {},
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

const map = (input: Record<string, unknown> = {}, home: HomeName = 'http') =>
  homes.clients[home].map({ url: site.url, ...input } as never)
const paths = ({ links }: { links: string[] }) => links.map(pathOf)

describe.each(usualHomes)('a map through %s', (home: HomeName) => {
  test('lists the URLs of a site from links and sitemaps, breadth-first', async () => {
    const answer = await map({}, home)
    expect(answer).toMatchObject({ success: true, total: 9, duration_ms: expect.any(Number) })
    expect(paths(answer)).toEqual(['/', '/a', '/b', '/orphan', '/caf%C3%A9', '/a/1', '/a/2', '/b/1', '/orphan/child'])
  })
})

test('targets of redirects are listed once and without fragments, unless these are paths', async () => {
  expect(paths(await map({ url: `${site.url}/moved`, sitemap: 'skip' }))).toEqual([
    '/moved',
    '/moved/to',
    '/moved/to#/three',
  ])
})

test('pages at the maximum depth are listed but not requested', async () => {
  const before = site.requests.length
  const answer = await map({ max_depth: 1, sitemap: 'skip' })
  expect(paths(answer)).toEqual(['/', '/a', '/b'])
  expect(site.requests.slice(before)).toEqual(expect.not.arrayContaining(['/a', '/b', '/sitemap.xml']))
})

test('sitemaps can be skipped, or used alone', async () => {
  expect(paths(await map({ sitemap: 'skip' }))).not.toContain('/orphan')
  expect(paths(await map({ sitemap: 'only' }))).toEqual(['/', '/orphan', '/a', '/caf%C3%A9'])
})

test('search matches decoded URLs', async () => {
  expect(paths(await map({ search: 'Café' }))).toEqual(['/caf%C3%A9'])
  expect(paths(await map({ search: '/b/', limit: 1 }))).toEqual(['/b/1'])
})

test('ends at its limit without loading unneeded pages', async () => {
  const before = site.requests.length
  expect(paths(await map({ limit: 3, sitemap: 'skip' }))).toEqual(['/', '/a', '/b'])
  expect(site.requests.slice(before)).not.toContain('/a')
})

test('URLs disallowed by robots.txt are not listed, except with ignore_robots', async () => {
  expect(paths(await map())).not.toContain('/closed')
  expect(paths(await map({ ignore_robots: true }))).toContain('/closed')
})

test('a timeout lists the URLs found so far', async () => {
  const answer = await map({ url: `${site.url}/held`, timeout_secs: 5, sitemap: 'skip', max_depth: 3 })
  expect(paths(answer)).toEqual(['/held', '/held/1', '/held/2'])
  expect(answer).toMatchObject({ success: true, warning: expect.stringContaining('not all pages were read') })
})

test('URLs that cannot be loaded are counted', async () => {
  const answer = await map({ url: `${site.url}/broken`, sitemap: 'skip' })
  expect(paths(answer)).not.toContain('/loop')
  expect(answer).toMatchObject({ success: true, warning: 'URLs that could not be loaded are not listed: 1' })
})

test('a start page that answers with an error is a warning', async () => {
  const url = `${site.url}/missing`
  const warning = `${url}: the page answered 404 Not Found`
  expect(await map({ url, sitemap: 'skip' })).toMatchObject({ success: true, warning })
  expect(await map({ url })).toMatchObject({ success: true, warning })
})

test('a start page that cannot be loaded is a failure with its reason', async () => {
  expect(await map({ url: `http://127.0.0.1:${await freePort()}/` })).toMatchObject({
    success: false,
    links: [],
    code: 'connection_failed',
  })
})

test('leaves nothing on disk', async () => {
  await map()
  expect(await readdir(join(homes.stateDir, 'crawls'))).toEqual([])
})

describe('llms.txt', () => {
  let listed: Site

  beforeAll(async () => {
    const text =
      (type: string, body: string): Parameters<typeof serveSite>[0][string] =>
      (_, response) =>
        void response.setHeader('content-type', type).end(body)
    listed = await serveSite({
      '/robots.txt': text('text/plain', 'User-agent: *\nDisallow: /closed'),
      '/llms.txt': text(
        'text/plain',
        '# Site\n\n> All about deltas\n\n## Guide\n\n- **New:** [Start](/start): How to \u001b[31mbegin\u0007\n- [A](a.md): The page *A*\n- [Whole](/llms-full.txt)\n- [Closed](/closed/x)\n\n## Optional\n\n- [Elsewhere](https://else.example/)\n- [API](/api/llms.txt)\n',
      ),
      '/api/llms.txt': text('text/markdown', '# API\n\n- [Call](call): Calls it\n'),
      '/': linkPage('Home', ['/a']),
      '/a': linkPage('A', ['/deep']),
      '/start': linkPage('Start'),
      '/api/call': linkPage('Call'),
    })
  })
  afterAll(() => listed?.close())

  const mapOf = (input: Record<string, unknown> = {}) => map({ url: listed.url, ...input })

  test('adds its links after those of the start page, and describes them', async () => {
    const answer = await mapOf()
    expect(paths(answer)).toEqual(['/', '/a', '/start', '/api/call', '/deep'])
    const [, a, start, call] = answer.links
    expect(answer.described).toEqual([
      { url: start, title: 'Start', description: 'How to \u001b[31mbegin\u0007', section: 'Guide' },
      { url: a, title: 'A', description: 'The page A', section: 'Guide' },
      { url: call, title: 'Call', description: 'Calls it' },
    ])
  })

  test('is printed with --descriptions', async () => {
    const { stdout } = await bax(['map', listed.url, '--descriptions', '--state-dir', homes.stateDir, '--embedded'])
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      `${listed.url}/`,
      `${listed.url}/a\tA: The page A`,
      `${listed.url}/start\tStart: How to begin`,
    ])
  })

  test('that is very long is read up to a limit, which is reported', async () => {
    const text = 'ü'.repeat(1000)
    const lines = Array.from({ length: 500 }, (_, at) => `- [Page ${at}](/page/${at}): ${text}\n`).join('')
    const long = await serveSite({
      '/': linkPage('Home'),
      '/llms.txt': (_, response) => void response.setHeader('content-type', 'text/plain').end(lines),
    })
    try {
      const answer = await map({ url: long.url, llms: 'only', limit: 1000 })
      expect(answer.warning).toBe(`only the first 384 KB of ${long.url}/llms.txt were read`)
      const last = answer.described!.at(-1)!
      expect(last).toMatchObject({ title: `Page ${answer.described!.length - 1}`, description: text })
    } finally {
      await long.close()
    }
  })

  test('can be used alone, or skipped', async () => {
    const only = await mapOf({ llms: 'only' })
    expect(paths(only)).toEqual(['/', '/start', '/a.md', '/api/call'])
    const before = listed.requests.length
    expect(paths(await mapOf({ llms: 'skip' }))).toEqual(['/', '/a', '/deep'])
    expect(paths(await mapOf({ sitemap: 'only' }))).toEqual(['/'])
    expect(listed.requests.slice(before)).not.toContain('/llms.txt')
  })

  test('a site without one is reported only if it is used alone', async () => {
    expect(await map({ url: `${site.url}/a`, llms: 'only' })).toMatchObject({
      total: 1,
      warning: 'no llms.txt lists any URL',
    })
    expect((await map()).described).toBeUndefined()
  })
})
