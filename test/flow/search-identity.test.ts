/** Flags of `bax search` for the reader of the pages of its results. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bax as run } from '../support/cli.ts'
import { type ForwardProxy, serveProxy } from '../support/forward-proxy.ts'
import { freePort } from '../support/ports.ts'
import { type SearchServer, serveSearch } from '../support/search-server.ts'
import { serveSite, type Site } from '../support/site.ts'

let [web, site, forward, folder]: [SearchServer, Site, ForwardProxy, string] = [] as never
/** URL of the only result; only the proxy knows its name. */
let result: string

beforeAll(async () => {
  ;[web, site, forward, folder] = await Promise.all([
    serveSearch(),
    serveSite({
      '/reader': ({ headers }, response) =>
        void response
          .setHeader('content-type', 'text/html')
          .end(`<title>Reader</title><main><p>${headers['user-agent']} reads ${headers['accept-language']}</p></main>`),
    }),
    serveProxy({ username: 'ann', password: 'secret-proxy' }),
    mkdtemp(join(tmpdir(), 'bax-search-identity-')),
  ])
  result = `http://shop.test:${new URL(site.url).port}/reader`
  web.setResults([{ url: result, title: 'Reader', snippet: 'Who reads' }])
})
afterAll(async () => {
  await Promise.all([web, site, forward].map((opened) => opened?.close()))
  await rm(folder, { recursive: true, force: true })
})

const bax = (...flags: string[]) =>
  run(['search', 'reader', ...flags], { cwd: folder, env: { BAX_STATE_DIR: folder, ...web.env('searxng') } })

test('reads the pages of results as the reader in its flags, through a working proxy', async () => {
  const proxies = [`http://127.0.0.1:${await freePort()}`, forward.url.replace('//', '//ann:secret-proxy@')]
  const flags = [...proxies.flatMap((proxy) => ['--proxy', proxy]), '--user-agent', 'Reader/1.0', '--locale', 'de-AT']
  const { code, stdout, stderr } = await bax('--formats', 'markdown', '--json', ...flags)
  expect([code, JSON.parse(stdout)]).toMatchObject([
    0,
    { data: [{ content: { markdown: 'Reader/1.0 reads de-AT,de;q=0.9\n', metadata: { proxy: forward.url } } }] },
  ])
  expect(forward.passed).toEqual([`GET ${result}`])
  expect(stdout + stderr).not.toContain('secret-proxy')
})

test('reads the pages of results as a phone with --mobile', async () => {
  const { stdout } = await bax(
    '--formats',
    'markdown',
    '--mobile',
    '--proxy',
    forward.url.replace('//', '//ann:secret-proxy@'),
  )
  expect(stdout).toMatch(/Mobile.* Safari/)
})

test.each([
  ['--proxy', 'http://127.0.0.1:1'],
  ['--locale', 'de-AT'],
])('warns that %s has no effect, if no pages are read', async (...flags) => {
  const { code, stderr } = await bax(...flags)
  expect([code, stderr]).toEqual([0, expect.stringMatching(/has no effect without (?:formats|--formats)/)])
})

test.each([['-H', 'X-A: b'], ['--cookie', 'a=1'], ['--save-profile']])(
  'has no flag %s, because results are on any host',
  async (...flags) => {
    expect(await bax(...flags)).toMatchObject({ code: 2, stderr: expect.stringContaining(flags[0]!) })
  },
)
