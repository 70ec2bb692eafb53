import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { chromium } from 'playwright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Homes, openHomes, usualHomes } from '../support/homes.ts'
import { openPrivateNet, type PrivateNet } from '../support/private-net.ts'
import { failureOf, open } from '../support/session-steps.ts'

let homes: Homes
let net: PrivateNet

const redirectToUrl = (to: () => string) => (_: unknown, response: import('node:http').ServerResponse) => {
  response.writeHead(302, { location: to() })
  response.end()
}

beforeAll(async () => {
  const secret = (path: string) => `http://x.private.test:${net.blocked.port}${path}`
  net = await openPrivateNet({
    '/': '<!doctype html><title>Home</title><p>Home, and nothing else.</p>',
    '/redirect': redirectToUrl(() => secret('/redirect')),
    // No name is resolved whose addresses would be checked.
    '/redirect-to-address': redirectToUrl(() => `http://127.0.0.3:${net.blocked.port}/`),
    '/file': redirectToUrl(() => 'file:///etc/passwd'),
    '/meta': (_, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(`<meta http-equiv=refresh content="0;url=${secret('/meta')}">`)
    },
    '/script': (_, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(`<p>Going</p><script>location.replace('${secret('/script')}')</script>`)
    },
    '/json/version/': (_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ webSocketDebuggerUrl: `ws://127.0.0.3:${net.blocked.port}/devtools/browser/x` }))
    },
  })
  homes = await openHomes({ ...net.config, writeAnywhere: false })
})
afterAll(async () => {
  await homes.close()
  await net.close()
})

const blocked = { code: 'url_blocked', message: 'URL blocked', status: 403 }

/** Spellings of blocked hosts. */
const hosts = [
  '127.0.0.3',
  '2130706435',
  '0x7f000003',
  '0177.0.0.3',
  '127.3',
  '127.0.0.3.',
  'site.open.test@127.0.0.3',
  '[::ffff:127.0.0.3]',
  '[::ffff:7f00:3]',
  '[::127.0.0.3]',
  '[64:ff9b::7f00:3]',
  '[2002:7f00:3::1]',
  'x.private.test',
  'X.PRIVATE.TEST.'.replace(/\.$/, ''),
  'mapped.test',
  'localhost',
  '0.0.0.0',
  '[::]',
  '[::1]',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '169.254.1.1',
  '[fd00::1]',
  '[fe80::1]',
  '169.254.169.254',
  '[fd00:ec2::254]',
  'metadata.google.internal',
  'metadata.google.internal.',
  'metadata.test',
]

const scrape = (url: string, render: 'http' | 'browser') =>
  homes.clients.embedded.scrape({ url, render, formats: ['markdown'] } as never)

describe.each(['http', 'browser'] as const)('a scrape (%s)', (render) => {
  test('of a blocked address is rejected in any spelling', async () => {
    const refused = await Promise.all(
      hosts.map(
        async (host) => [host, await failureOf(scrape(`http://${host}:${net.blocked.port}/direct`, render))] as const,
      ),
    )
    for (const [host, error] of refused) expect(error, host).toMatchObject(blocked)
    expect(net.blocked.contacts()).toBe(0)
  })

  test.each(['/redirect', '/redirect-to-address', '/meta', ...(render === 'browser' ? ['/script'] : [])])(
    'is rejected when it leads there (%s)',
    async (path) => {
      expect(await failureOf(scrape(net.url + path, render))).toMatchObject(blocked)
      expect(net.blocked.contacts()).toBe(0)
    },
  )

  test('of a URL that is not HTTP is rejected, requested directly or by redirect', async () => {
    for (const url of [
      'file:///etc/passwd',
      'chrome://version',
      'view-source:http://site.open.test',
      'ftp://site.open.test/a',
      `${net.url}/file`,
    ]) {
      expect(await failureOf(scrape(url, render)), url).toMatchObject(blocked)
    }
  })

  test('of a host with allowed and blocked addresses uses the allowed one', async () => {
    const { success } = await scrape(`http://both.test:${net.site.port}/`, render)
    expect(success).toBe(true)
    expect(net.blocked.contacts()).toBe(0)
  })
})

describe.each(usualHomes)('a session (%s)', (home) => {
  const create = (input: Record<string, unknown>) => homes.clients[home].createSession(input as never)

  test('is not created with a blocked URL, browser or proxy', async () => {
    const { port } = net.blocked
    for (const input of [
      { start_url: `http://127.0.0.3:${port}/` },
      { start_url: `http://x.private.test:${port}/` },
      { start_url: 'file:///etc/passwd' },
      { start_url: 'about:version' },
      { cdp_url: `http://127.0.0.3:${port}` },
      { cdp_url: `ws://x.private.test:${port}/devtools/browser/x` },
      // The port is allowed, but the browser URL it returns is not.
      { cdp_url: net.url },
      { proxy: { server: `http://127.0.0.3:${port}` } },
      { proxy: { server: `socks5://x.private.test:${port}` } },
    ]) {
      expect(await failureOf(create(input)), JSON.stringify(input)).toMatchObject(blocked)
    }
    expect(net.blocked.contacts()).toBe(0)
  })
})

test('navigate_to reports blocked URLs, requested directly or by redirect', async () => {
  const client = homes.clients.http
  const { session_id: id } = await client.createSession({ headless: true })
  const { port } = net.blocked
  const addresses = [
    ...hosts.map((host) => `http://${host}:${port}/`),
    `${net.url}/redirect`,
    `${net.url}/redirect-to-address`,
    'file:///etc/passwd',
    'chrome://version',
    'about:version',
    'view-source:http://site.open.test/',
    'ftp://site.open.test/',
  ]
  for (const address of addresses) {
    expect(await open(client, id!, address), address).toMatchObject({
      success: false,
      error: 'URL blocked',
      code: 'url_blocked',
    })
  }
  expect(await open(client, id!, net.url)).toMatchObject({
    success: true,
    results: [{ data: { url: `${net.url}/`, status_code: 200 } }],
  })
  expect(net.blocked.contacts()).toBe(0)
})

describe('CDP on a session', () => {
  const forbidden = [
    ['Page.navigate', { url: 'file:///etc/passwd' }],
    ['Page.navigate', { url: 'view-source:http://site.open.test/' }],
    ['Page.navigate', { url: ' ChRoMe://version' }],
    ['Page.navigate', { url: 'http://127.0.0.3/' }],
    ['Page.navigate', { url: 'http://169.254.169.254/latest/' }],
    ['Target.createTarget', { url: 'file:///etc/passwd' }],
    ['Target.createTarget', { url: 'about:version' }],
    [
      'Network.loadNetworkResource',
      { url: 'file:///etc/passwd', options: { disableCache: true, includeCredentials: false } },
    ],
  ] as const

  test('rejects URLs that navigations may not open, and methods that take file paths', async () => {
    const client = homes.clients.http
    const { session_id: id } = await client.createSession({ headless: true })
    const cdp = (method: string, params: object) => client.cdp({ session_id: id!, method, params: params as never })
    for (const [method, params] of forbidden)
      expect(await failureOf(cdp(method, params)), params.url).toMatchObject(blocked)
    for (const [method, params] of [
      ['DOM.setFileInputFiles', { files: ['/etc/passwd'], nodeId: 1 }],
      ['Page.setDownloadBehavior', { behavior: 'allow', downloadPath: '/tmp' }],
      [
        'Input.dispatchDragEvent',
        { type: 'drop', x: 1, y: 1, data: { items: [], files: ['/etc/passwd'], dragOperationsMask: 1 } },
      ],
    ] as const) {
      expect(await failureOf(cdp(method, params)), method).toMatchObject({ code: 'method_denied', status: 403 })
    }
    expect(await cdp('Page.navigate', { url: net.url })).toMatchObject({ success: true })
  })

  test('rejects them over its websocket, too', async () => {
    const created = await homes.clients.http.createSession({ headless: true })
    const browser = await chromium.connectOverCDP(`${created.cdp_url}?token=${created.frame_token}`)
    const [page] = browser.contexts().flatMap((context) => context.pages())
    await expect(page!.goto('file:///etc/passwd')).rejects.toThrow('URL blocked')
    await expect(page!.goto(`http://x.private.test:${net.blocked.port}/`)).rejects.toThrow('net::ERR_')
    // The browser's error page follows a moment later.
    await page!.waitForURL('chrome-error://chromewebdata/')
    await page!.goto(net.url)
    expect(await page!.title()).toBe('Home')
    await browser.close()
    expect(net.blocked.contacts()).toBe(0)
  })
})

describe('a proxy of the session', () => {
  let proxy: Server
  const proxyRequests: string[] = []
  beforeAll(async () => {
    proxy = createServer((request, response) => {
      proxyRequests.push(request.url!)
      response.setHeader('content-type', 'text/html').end('<title>By proxy</title>')
    })
    proxy.on('connect', (request, socket) => {
      proxyRequests.push(request.url!)
      const target = connect(net.site.port, '127.0.0.2', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        target.pipe(socket).pipe(target)
      })
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.2', resolve))
  })
  afterAll(() => {
    proxy.close()
    proxy.closeAllConnections()
  })

  test('receives requests for allowed hosts only, and its bypass list does not allow others', async () => {
    const client = homes.clients.http
    const { port } = proxy.address() as AddressInfo
    const { session_id: id } = await client.createSession({
      headless: true,
      proxy: { server: `http://127.0.0.2:${port}`, bypass: 'direct.open.test, .private.test' },
    })
    const to = (host: string, at: number) => open(client, id!, `http://${host}:${at}/`)
    expect(await to('other.open.test', net.site.port)).toMatchObject({ success: true })
    // The proxy resolves names that are unknown locally.
    expect(await to('far.example', net.site.port)).toMatchObject({ success: true })
    expect(proxyRequests).toEqual([`http://other.open.test:${net.site.port}/`, `http://far.example:${net.site.port}/`])
    expect(await to('direct.open.test', net.site.port)).toMatchObject({ success: true })
    for (const host of ['127.0.0.3', 'x.private.test', 'metadata.google.internal', '169.254.169.254', 'localhost']) {
      expect(await to(host, net.blocked.port), host).toMatchObject({ success: false, code: 'url_blocked' })
      expect(await open(client, id!, `https://${host}:${net.blocked.port}/`), host).toMatchObject({
        code: 'url_blocked',
      })
    }
    expect(proxyRequests).toHaveLength(2)
    expect(net.blocked.contacts()).toBe(0)
  })
})
