/** Proxies of the environment: all requests of an engine go through them, after the egress rule. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readProxies } from '../../src/core/config/proxy-settings.ts'
import type { Client } from '../support/client.ts'
import { Counter } from '../../src/core/access/quota.ts'
import { Failures } from '../../src/engine/egress/failures.ts'
import { HostResolver } from '../../src/engine/egress/host-resolver.ts'
import { Policy } from '../../src/engine/egress/policy.ts'
import { openProxy } from '../../src/engine/egress/proxy.ts'
import { createCa, noOpenssl } from '../support/certificates.ts'
import { bax, type BuiltBax, buildBax } from '../support/cli.ts'
import { serveModel } from '../support/fake-model.ts'
import { type ForwardProxy, serveProxy } from '../support/forward-proxy.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { testUnless } from '../support/needs.ts'
import { freePort } from '../support/ports.ts'
import { serveSearch } from '../support/search-server.ts'
import { failureOf, open, valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { receiveWebhooks } from '../support/webhooks.ts'
import { waitUntil } from '../support/wait.ts'

const login = { username: 'ann', password: 'geheim' }
/** Only the proxies know the names of the sites. */
const lookup = async (host: string) => {
  if (host === 'inside.test') return [{ address: '10.1.2.3', family: 4 }]
  throw Object.assign(new Error(`no address of ${host}`), { code: 'ENOTFOUND' })
}

let [site, proxy, guarded]: [Site, ForwardProxy, ForwardProxy] = [] as never
let port = ''
beforeAll(async () => {
  const page =
    '<!doctype html><title>Shop</title><main><h1>Shop</h1><p>Boxes and crates of all sizes.</p><a href="/b">B</a></main>'
  ;[site, proxy, guarded] = await Promise.all([
    serveSite({ '/': page, '/b': page, '/robots.txt': 'User-agent: *\nAllow: /' }),
    serveProxy(),
    serveProxy(login),
  ])
  port = new URL(site.url).port
})
beforeEach(() => {
  proxy.passed.length = 0
  guarded.passed.length = 0
})
afterAll(() => Promise.all([site.close(), proxy.close(), guarded.close()]))

/** Opens an engine with variables, and closes it after the work. */
async function withProxies(
  env: Record<string, string>,
  work: (client: Client, homes: Homes) => Promise<void>,
  more = {},
) {
  const homes = await openHomes({ proxies: readProxies(env), lookup, ...more } as never)
  try {
    await work(homes.clients.http, homes)
  } finally {
    await homes.close()
  }
}

const withLogin = (url: string, { username, password } = login) => url.replace('//', `//${username}:${password}@`)

describe('requests of an engine go through the proxy:', () => {
  test('fetches, robots.txt and crawls', async () => {
    await withProxies({ HTTP_PROXY: proxy.url }, async (client) => {
      const answer = await client.scrape({ url: `http://shop.test:${port}/`, render: 'http' } as never)
      expect(answer.data?.markdown).toContain('Boxes and crates')
      const { id } = await client.crawl({ url: `http://shop.test:${port}/`, render: 'http' } as never)
      await waitUntil(async () => (await client.getCrawl({ id })).status === 'completed')
      for (const path of ['/', '/robots.txt', '/b'])
        expect(proxy.passed).toContain(`GET http://shop.test:${port}${path}`)
    })
  })

  test('pages of sessions and rendered pages', async () => {
    await withProxies({ http_proxy: withLogin(guarded.url) }, async (client) => {
      const { session_id: id } = await client.createSession({})
      await open(client, id!, `http://shop.test:${port}/`)
      expect(await valueOf(client, id!, 'document.title')).toBe('Shop')
      const answer = await client.scrape({ url: `http://store.test:${port}/`, render: 'browser' } as never)
      expect(answer.data?.markdown).toContain('Boxes and crates')
      expect(guarded.passed).toEqual(
        expect.arrayContaining([`GET http://shop.test:${port}/`, `GET http://store.test:${port}/`]),
      )
    })
  })

  test('of SOCKS, too, which resolves the names', async () => {
    const resolved: string[] = []
    const policy = new Policy({ privateAllowed: true, opened: [] })
    const names = new HostResolver(policy, async (host) => {
      resolved.push(host)
      return [{ address: '127.0.0.1', family: 4 }]
    })
    const socks = await openProxy({ policy, names, failures: new Failures(), connections: new Counter() })
    await withProxies({ ALL_PROXY: socks.url.replace('socks5', 'socks5h') }, async (client) => {
      for (const render of ['http', 'browser']) {
        const answer = await client.scrape({ url: `http://${render}.test:${port}/`, render } as never)
        expect(answer.data?.markdown).toContain('Boxes and crates')
      }
    })
    expect(resolved).toEqual(['http.test', 'browser.test'])
    await socks.close()
  })

  test('search providers, language models and webhooks', async () => {
    const [search, model, hooks] = await Promise.all([serveSearch(), serveModel(), receiveWebhooks()])
    const named = (url: string) => url.replace('127.0.0.1', 'service.test')
    search.setResults([{ url: 'https://example.com/', title: 'Example', snippet: 'An example' }])
    model.reply({ content: '{"name":"Boxes"}' })
    const config = JSON.parse(JSON.stringify(search.config('brave')).replaceAll('127.0.0.1', 'service.test'))
    const more = { search: config, model: { ...model.config, url: named(model.config.url) } }
    await withProxies(
      { ALL_PROXY: withLogin(guarded.url) },
      async (client) => {
        expect((await client.search({ query: 'boxes' } as never)).data).toHaveLength(1)
        const formats = [
          { type: 'json', prompt: 'the name', schema: { type: 'object', properties: { name: { type: 'string' } } } },
        ]
        const answer = await client.scrape({ url: `http://shop.test:${port}/`, render: 'http', formats } as never)
        expect(answer.data).toMatchObject({ json: { name: 'Boxes' } })
        const webhook = { ...hooks.webhook, url: named(hooks.webhook.url) }
        await client.crawl({ url: `http://shop.test:${port}/`, render: 'http', webhook } as never)
        await waitUntil(() => hooks.received.some(({ type }) => type.includes('completed')))
        const hosts = (word: string) =>
          guarded.passed.filter((line) => line.includes('service.test') && line.includes(word))
        expect(hosts('/brave/')).toHaveLength(1)
        expect(hosts('/v1/chat/completions').length).toBeGreaterThan(0)
        expect(hosts(new URL(hooks.webhook.url).port).length).toBeGreaterThan(0)
      },
      more,
    )
    await Promise.all([search.close(), model.close(), hooks.close()])
  })

  test('except for hosts in NO_PROXY and on this machine', async () => {
    await withProxies({ ALL_PROXY: proxy.url, NO_PROXY: 'direct.test' }, async (client) => {
      const { data } = await client.scrape({ url: `${site.url}/`, render: 'http' } as never)
      expect(data?.metadata.title).toBe('Shop')
      const failed = await client.scrape({ url: `http://direct.test:${port}/`, render: 'http' } as never)
      expect(failed).toMatchObject({ success: false, code: 'dns_failed' })
      const { session_id: id } = await client.createSession({})
      await open(client, id!, site.url)
      expect(await valueOf(client, id!, 'document.title')).toBe('Shop')
      expect(proxy.passed).toEqual([])
    })
  })
})

test('the rule of a server decides first: a private target is blocked, and the proxy sees nothing', async () => {
  await withProxies({ ALL_PROXY: proxy.url }, async (client) => {
    for (const render of ['http', 'browser'])
      for (const host of ['10.1.2.3', 'inside.test', '169.254.169.254', 'metadata.google.internal'])
        expect(await failureOf(client.scrape({ url: `http://${host}/`, render } as never))).toMatchObject({
          code: 'url_blocked',
        })
    expect(proxy.passed).toEqual([])
  })
})

describe('a proxy that fails is an error that names it without its password:', () => {
  const failures = async (url: string, target: string) => {
    const errors: unknown[] = []
    await withProxies({ ALL_PROXY: url }, async (client) => {
      for (const render of ['http', 'browser']) errors.push(await client.scrape({ url: target, render } as never))
    })
    return errors
  }

  test.each(['http', 'https'])('it does not listen, for %s', async (scheme) => {
    const dead = `127.0.0.1:${await freePort()}`
    const errors = await failures(`http://ann:geheim@${dead}`, `${scheme}://shop.test:${port}/`)
    const error = `the proxy http://${dead} of ALL_PROXY refused the connection`
    for (const answer of errors) expect(answer).toMatchObject({ success: false, code: 'proxy_failed', error })
    expect(JSON.stringify(errors)).not.toContain('geheim')
  })

  test('it cannot be resolved', async () => {
    const errors = await failures('http://typo.invalid:3128', `http://shop.test:${port}/`)
    const error = 'the proxy http://typo.invalid:3128 of ALL_PROXY could not be resolved'
    for (const answer of errors) expect(answer).toMatchObject({ success: false, code: 'proxy_failed', error })
  })

  test.each(['http', 'https'])('it rejects the password, for %s', async (scheme) => {
    const errors = await failures(
      withLogin(guarded.url, { username: 'ann', password: 'falsch' }),
      `${scheme}://shop.test:${port}/`,
    )
    const error = `the proxy ${guarded.url} of ALL_PROXY rejected the user name or the password`
    for (const answer of errors) expect(answer).toMatchObject({ success: false, code: 'proxy_failed', error })
    expect(JSON.stringify(errors)).not.toContain('falsch')
  })
})

describe('commands', () => {
  let built: BuiltBax
  let folder: string
  beforeAll(async () => {
    built = await buildBax()
    folder = await mkdtemp(join(tmpdir(), 'bax-proxies-'))
  })
  afterAll(async () => {
    await built.close()
    await rm(folder, { recursive: true })
  })

  testUnless(noOpenssl)('reach https through a tunnel, and ignore proxies with --no-proxy', async () => {
    const ca = createCa(folder)
    const { cert, key } = ca.issue('site', 'DNS:secure.test,IP:127.0.0.1')
    const secure = createServer({ cert, key }, (_, response) => response.end('a page through a tunnel'))
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve))
    const own = `127.0.0.1:${(secure.address() as AddressInfo).port}`
    const env = {
      BAX_STATE_DIR: await built.stateDir(),
      NODE_EXTRA_CA_CERTS: ca.file,
      NO_PROXY: '<-loopback>',
      HTTPS_PROXY: withLogin(guarded.url),
    }
    const scrape = (...flags: string[]) =>
      built.run(['scrape', `https://${own}/`, '--render', 'http', ...flags], { env })
    expect(await scrape()).toMatchObject({ code: 0, stdout: expect.stringContaining('a page through a tunnel') })
    expect(guarded.passed).toEqual([`CONNECT ${own}`])
    expect(await scrape('--no-proxy')).toMatchObject({ code: 0, stdout: expect.stringContaining('through a tunnel') })
    expect(guarded.passed).toHaveLength(1)
    await new Promise((resolve) => secure.close(resolve))
  })

  test('replace an engine that was started with other proxies, unless it has sessions', async () => {
    const stateDir = await built.stateDir()
    const run = (argv: string[], env = {}) => built.run(argv, { env: { BAX_STATE_DIR: stateDir, ...env } })
    const withProxy = { HTTP_PROXY: proxy.url, NO_PROXY: '<-loopback>' }
    expect(await run(['open', site.url])).toMatchObject({ code: 0 })
    const refused = await run(['open', site.url], withProxy)
    expect(refused).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('was started without proxies and holds 1 session'),
    })
    expect(await run(['close', '--all'])).toMatchObject({ code: 0 })
    expect(await run(['open', site.url], withProxy)).toMatchObject({ code: 0 })
    expect(proxy.passed).toContain(`GET ${site.url}/`)
  })

  test('do not end an engine that they run in', async () => {
    const env = { BAX_STATE_DIR: await built.stateDir(), HTTP_PROXY: proxy.url, NO_PROXY: '<-loopback>' }
    const run = (...argv: string[]) => built.run(argv, { env, launched: true })
    expect(await run('open', site.url, '--no-proxy')).toMatchObject({ code: 0 })
    expect(await run('close', '--all')).toMatchObject({ code: 0 })
    expect(await run('open', site.url)).toMatchObject({ code: 0 })
    expect(proxy.passed).toContain(`GET ${site.url}/`)
  })

  test('`bax doctor` shows the proxies without their passwords', async () => {
    const found = async (env: Record<string, string>, ...flags: string[]) => {
      const { stdout } = await bax(['doctor', '--json', ...flags], {
        env: { BAX_STATE_DIR: join(folder, 's'), ...env },
      })
      const { checks } = JSON.parse(stdout) as { checks: { name: string; found: string }[] }
      return checks.find(({ name }) => name === 'proxies')?.found
    }
    const env = { HTTP_PROXY: 'http://ann:geheim@proxy.test:3128', no_proxy: 'a.test,10.0.0.0/8' }
    expect(await found(env)).toBe(
      'http through http://proxy.test:3128 (HTTP_PROXY), https directly, except a.test,10.0.0.0/8',
    )
    expect(await found(env, '--no-proxy')).toBe('ignored (--no-proxy or BAX_NO_PROXY)')
    expect(await found({})).toBe('none in the environment')
  })
})
