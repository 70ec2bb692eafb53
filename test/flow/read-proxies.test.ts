/** Proxies of reads: one, or a list that takes turns and leaves out failing ones. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Answer, Input } from '../../src/client/calls.ts'
import { bax } from '../support/cli.ts'
import { type ForwardProxy, serveProxy } from '../support/forward-proxy.ts'
import { type Homes, isFleet, openHomes } from '../support/homes.ts'
import { freePort } from '../support/ports.ts'
import { failureOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

type Crawled = Extract<Answer<'crawl'>, { data: unknown }>

const login = { username: 'ann', password: 'secret-proxy' }

let homes: Homes
let [site, first, second, guarded]: [Site, ForwardProxy, ForwardProxy, ForwardProxy] = [] as never
/** URLs of proxies where nothing listens. */
let dead: string[] = []
const logged: unknown[] = []
beforeAll(async () => {
  const paths = ['/a', '/b', '/c']
  const links = paths.map((path) => `<p>A link with some text. <a href="${path}">${path}</a></p>`).join('')
  const page = (text: string) => `<!doctype html><title>Page</title><main><p>${text}</p></main>`
  ;[site, first, second, guarded] = await Promise.all([
    serveSite({ '/': page(links), ...Object.fromEntries(paths.map((path) => [path, page(`This is page ${path}`)])) }),
    serveProxy(),
    serveProxy(),
    serveProxy(login),
  ])
  dead = await Promise.all([freePort(), freePort()]).then((ports) => ports.map((port) => `http://127.0.0.1:${port}`))
  homes = await openHomes(isFleet ? {} : { log: (...line) => logged.push(line) })
})
beforeEach(() => [first, second, guarded].forEach(({ passed }) => void passed.splice(0)))
afterAll(() => Promise.all([homes, site, first, second, guarded].map((opened) => opened?.close())))

// Only proxies know this name.
const at = (path: string) => `http://shop.test:${new URL(site.url).port}${path}`
const scrape = (path: string, input: Partial<Input<'scrape'>>) => homes.clients.http.scrape({ url: at(path), ...input })
const withLogin = ({ url }: ForwardProxy) => url.replace('//', `//${login.username}:${login.password}@`)

const ways = ['http', 'browser'] as const
describe.each(ways)('a page read with render %s', (render) => {
  test.each([
    ['a URL', () => withLogin(guarded)],
    ['an object', () => ({ server: guarded.url, ...login })],
  ])('goes through a proxy that is %s, and reports it without its password', async (_, proxy) => {
    const { data } = await scrape('/a', { render, proxy: proxy() })
    expect(data).toMatchObject({ markdown: 'This is page /a\n', metadata: { proxy: guarded.url } })
    expect(guarded.passed.some((line) => line.endsWith(new URL(at('/a')).pathname))).toBe(true)
  })

  test('leaves out failing proxies of a list, and reports them', async () => {
    const wrong = guarded.url.replace('//', '//ann:secret-wrong@')
    // Later requests with the same list begin with another proxy.
    const unreachable = dead[ways.indexOf(render)]!
    const { data, warning } = await scrape('/a', { render, proxy: [unreachable, wrong, first.url] })
    expect(data).toMatchObject({ markdown: 'This is page /a\n', metadata: { proxy: first.url } })
    expect(warning).toContain(`the proxy ${unreachable} refused the connection`)
    expect(warning).toContain(`the proxy ${guarded.url} rejected the user name or the password`)
    expect(warning).not.toContain('secret-')
  })

  test('fails if all proxies of a list fail, and names them', async () => {
    const answer = await scrape('/a', { render, proxy: dead })
    expect(answer).toMatchObject({ success: false, code: 'proxy_failed' })
    expect(answer.error).toMatch(/^all 2 proxies failed: the proxy /)
    for (const url of dead) expect(answer.error).toContain(`the proxy ${url} refused the connection`)
  })

  test('fails with the error of its only proxy, and is not read without it', async () => {
    expect(await homes.clients.http.scrape({ url: `${site.url}/a`, render, proxy: dead[0]! })).toMatchObject({
      success: false,
      code: 'proxy_failed',
      error: `the proxy ${dead[0]} refused the connection`,
    })
  })
})

test('pages of one list take turns, also those of several requests', async () => {
  const proxy = [first.url, second.url]
  for (const path of ['/a', '/b', '/c', '/a']) await scrape(path, { render: 'http', proxy })
  const numbers = [first.passed.length, second.passed.length]
  // Each worker of a fleet takes turns, so that 3 and 1 are possible.
  if (isFleet) expect([numbers[0]! + numbers[1]!, Math.min(...numbers) > 0]).toEqual([4, true])
  else expect(numbers).toEqual([2, 2])
})

test('hosts in the bypass list are read directly', async () => {
  const input = { render: 'http', proxy: { server: dead[0]!, bypass: '127.0.0.1' } } as const
  const { data } = await homes.clients.http.scrape({ url: `${site.url}/a`, ...input })
  expect(data!.markdown).toBe('This is page /a\n')
  expect(data!.metadata).not.toHaveProperty('proxy')
})

describe('crawls, maps and batches', () => {
  test('a crawl uses all working proxies, and stores none of their passwords', async () => {
    const answer = (await homes.clients.http.crawl({
      url: at('/'),
      proxy: [dead[0]!, first.url, withLogin(guarded)],
    })) as Crawled
    const found = answer.data.map(({ metadata }) => new URL(metadata.url!).pathname).toSorted()
    expect(found).toEqual(['/', '/a', '/b', '/c'])
    const pages = [...first.passed, ...guarded.passed].filter((line) => /\/[abc]?$/.test(line))
    expect(new Set(pages).size).toBe(4)
    // Each worker of a fleet takes turns, and logs what it leaves out.
    if (!isFleet) {
      expect(first.passed.length).toBeGreaterThan(0)
      expect(guarded.passed.length).toBeGreaterThan(0)
      expect(answer.warning).toContain(`the proxy ${dead[0]} refused the connection`)
    }
    const names = await readdir(homes.stateDir, { recursive: true, withFileTypes: true })
    const files = names.filter((entry) => entry.isFile())
    const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')))
    expect([...texts, JSON.stringify(logged)].filter((text) => text.includes('secret-'))).toEqual([])
  })

  test('a crawl whose proxies all fail reports why', async () => {
    const answer = (await homes.clients.http.crawl({ url: at('/'), proxy: dead })) as Crawled
    expect(answer.errors).toMatchObject([
      { code: 'proxy_failed', error: expect.stringContaining('all 2 proxies failed') },
    ])
  })

  test('a map and a batch go through the proxies', async () => {
    const { links } = await homes.clients.http.map({ url: at('/'), proxy: first.url })
    expect(links).toContain(at('/a'))
    const started = await homes.clients.http.batchScrape({ urls: [at('/a'), at('/b')], proxy: [dead[0]!, second.url] })
    await waitUntil(async () => (await homes.clients.http.getBatch({ id: started.id })).status === 'completed')
    expect(new Set(second.passed).size).toBe(2)
  })
})

test.each<[Input<'scrape'>['proxy'], string]>([
  ['ftp://ann:secret-1@proxy.test', 'proxy is not an http, https, socks4 or socks5 URL'],
  [['http://127.0.0.1:1', 'ftp://ann:secret-1@proxy.test'], 'proxy[1] is not an http, https, socks4 or socks5 URL'],
  [{ server: 'ftp://ann:secret-1@proxy.test' }, 'proxy.server is not an http, https, socks4 or socks5 URL'],
  [[], 'proxy must not be empty'],
])('refuses %j', async (proxy, message) => {
  const error = await failureOf(scrape('/a', { proxy }))
  expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(message) })
  expect(JSON.stringify(error.toBody())).not.toContain('secret-')
})

test('refuses a proxy in a private network', async () => {
  expect(await failureOf(scrape('/a', { proxy: ['http://10.0.0.1:3128', first.url] }))).toMatchObject({
    code: 'url_blocked',
    message: 'the proxy http://10.0.0.1:3128 is blocked',
  })
})

test('the kinds of Firecrawl are no proxies, and reported where they promise more', async () => {
  const read = (proxy: 'auto' | 'basic' | 'stealth') => homes.clients.http.scrape({ url: `${site.url}/a`, proxy })
  expect((await read('basic')).warning).toBeUndefined()
  expect((await read('auto')).warning).toBeUndefined()
  expect((await read('stealth')).warning).toContain('proxy "stealth" is not available')
})

test('`--proxy` may be repeated', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bax-test-proxies-'))
  const flags = ['--proxy', dead[0]!, '--proxy', withLogin(guarded), '--embedded', '--state-dir', folder]
  const { code, stdout } = await bax(['scrape', at('/a'), '--json', ...flags])
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { data: { metadata: { proxy: guarded.url } } }])
  expect(stdout).not.toContain('secret-')
  const map = await bax(['map', at('/'), ...flags])
  expect([map.code, map.stdout]).toEqual([0, expect.stringContaining(at('/a'))])
  const resumed = await bax(['crawl', '--resume', 'crl_x', '--proxy', dead[0]!])
  expect([resumed.code, resumed.stderr]).toEqual([2, expect.stringContaining('--proxy cannot be combined with')])
  await rm(folder, { recursive: true })
})
