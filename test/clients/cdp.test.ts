/** Playwright's connectOverCDP and Puppeteer's connect, on sessions and on browsers of the relay. */
import { chromium } from 'playwright'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type ForeignBrowser, startForeignBrowser } from '../support/foreign-browser.ts'
import { loadPuppeteer, type Puppeteer } from '../support/puppeteer.ts'
import { connectBrowser, type ConnectedBrowser } from '../support/relay.ts'
import { type Served, serveBax, servedWithinMs } from '../support/served.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let served: Served
let site: Site
let foreign: ForeignBrowser
let connected: ConnectedBrowser
let puppeteer: Puppeteer

beforeAll(async () => {
  ;[site, foreign, puppeteer] = await Promise.all([
    serveSite({ '/': '<!doctype html><title>Home</title>', '/other': '<!doctype html><title>Other</title>' }),
    startForeignBrowser(),
    loadPuppeteer(),
  ])
  served = await serveBax()
  const { token } = (await served.request('POST', '/relay/tokens', {})) as { token: string }
  connected = await connectBrowser({ browser: foreign.url, engine: served.url, token })
}, servedWithinMs)
afterAll(async () => {
  await connected.stop()
  await foreign.close()
  await served.close()
  await site.close()
})

interface Endpoint {
  /** URL as the API returns it. */
  readonly cdpUrl: string
  /** Token that grants access. */
  readonly token: string
  readonly isAlive: () => Promise<boolean>
  readonly close: () => Promise<unknown>
}

const endpoints: Record<string, () => Promise<Endpoint>> = {
  'a session': async () => {
    const made = (await served.request('POST', '/sessions', { headless: true, start_url: `${site.url}/` })) as Record<
      string,
      string
    >
    const path = `/sessions/${made['session_id']}`
    return {
      cdpUrl: made['cdp_url']!,
      token: made['frame_token']!,
      isAlive: async () => (await served.request('GET', path))['status'] === 'ready',
      close: () => served.request('DELETE', path),
    }
  },
  'a browser of the relay': async () => {
    const path = `/relay/sessions/${connected.id}`
    const address = new URL(((await served.request('GET', path)) as { cdp_url: string }).cdp_url)
    const token = address.searchParams.get('token')!
    address.search = ''
    return {
      cdpUrl: address.href,
      token,
      isAlive: async () => (await served.request('GET', path))['status'] === 'connected',
      close: async () => {},
    }
  },
}

/** Ways to connect: the credentials, and the URL. */
const ways: Record<string, (endpoint: Endpoint) => { address: string; headers?: Record<string, string> }> = {
  'the token in the address': ({ cdpUrl, token }) => ({ address: `${cdpUrl}?token=${token}` }),
  'the token in a header': ({ cdpUrl, token }) => ({ address: cdpUrl, headers: { authorization: `Bearer ${token}` } }),
  'the key in a header': ({ cdpUrl }) => ({ address: cdpUrl, headers: { 'x-api-key': served.key } }),
  'the key as a bearer': ({ cdpUrl }) => ({ address: cdpUrl, headers: { authorization: `Bearer ${served.key}` } }),
}

/** HTTP URL from which clients get the websocket URL, if supported. */
const asHttp = (address: string) => address.replace(/^ws/, 'http')

interface Seen {
  readonly title: string
  readonly sum: unknown
  readonly isPicture: boolean
}

async function withPlaywright(address: string, headers: Record<string, string> = {}): Promise<Seen> {
  const browser = await chromium.connectOverCDP(address, { headers })
  const page = await browser.contexts()[0]!.newPage()
  await page.goto(`${site.url}/other`)
  const [title, sum, screenshot] = [await page.title(), await page.evaluate('20 + 22'), await page.screenshot()]
  await page.close()
  await browser.close()
  return { title, sum, isPicture: screenshot.subarray(1, 4).toString() === 'PNG' }
}

async function withPuppeteer(
  endpoint: { browserWSEndpoint: string } | { browserURL: string },
  headers: Record<string, string> = {},
): Promise<Seen> {
  const browser = await puppeteer.connect({ ...endpoint, headers, defaultViewport: null })
  const page = await browser.newPage()
  await page.goto(`${site.url}/other`)
  const [title, sum, screenshot] = [await page.title(), await page.evaluate('20 + 22'), await page.screenshot()]
  await page.close()
  await browser.disconnect()
  return { title, sum, isPicture: Buffer.from(screenshot.subarray(1, 4)).toString() === 'PNG' }
}

const expected: Seen = { title: 'Other', sum: 42, isPicture: true }

describe.each(Object.keys(endpoints))('%s', (kind) => {
  let endpoint: Endpoint
  beforeAll(async () => {
    endpoint = await endpoints[kind]!()
  })
  afterAll(() => endpoint.close())

  test.each(Object.keys(ways))('can be driven by Playwright, over ws:// and http://, with %s', async (way) => {
    const { address, headers } = ways[way]!(endpoint)
    expect(await withPlaywright(address, headers)).toEqual(expected)
    expect(await withPlaywright(asHttp(address), headers)).toEqual(expected)
    expect(await endpoint.isAlive()).toBe(true)
  })

  test.each(Object.keys(ways))('can be driven by Puppeteer with %s', async (way) => {
    const { address, headers } = ways[way]!(endpoint)
    expect(await withPuppeteer({ browserWSEndpoint: address }, headers)).toEqual(expected)
    expect(await endpoint.isAlive()).toBe(true)
  })

  test('lists its websocket and its pages like Chrome', async () => {
    const { address } = ways['the token in the address']!(endpoint)
    const at = (path: string) => asHttp(address).replace('/cdp', `/cdp${path}`)
    const version = (await (await fetch(at('/json/version'))).json()) as Record<string, string>
    expect(version).toMatchObject({
      Browser: expect.stringContaining('Chrome/'),
      'Protocol-Version': '1.3',
      'User-Agent': expect.stringContaining('Mozilla/5.0'),
      webSocketDebuggerUrl: address,
    })
    const pages = (await (await fetch(at('/json/list'))).json()) as Record<string, string>[]
    expect(pages).toContainEqual({
      id: expect.any(String),
      type: 'page',
      title: expect.any(String),
      url: expect.any(String),
    })
    const refused = await fetch(at('/json/version').replace(endpoint.token, 'wrong'))
    expect(refused.status).toBe(401)
  })

  test('rejects clients without or with wrong credentials', async () => {
    for (const address of [endpoint.cdpUrl, `${endpoint.cdpUrl}?token=ft_wrong`]) {
      await expect(withPlaywright(address)).rejects.toThrow(/401/)
      await expect(withPlaywright(asHttp(address))).rejects.toThrow(/401/)
    }
    await expect(withPlaywright(`${endpoint.cdpUrl}?token=${served.key}`)).rejects.toThrow(/401/)
  })
})

describe("Puppeteer's browserURL, which has no path and no headers", () => {
  test('leads to the only session of a server without keys', async () => {
    const state = await served.built.stateDir()
    const flags = ['--port', '0', '--allow-private', '127.0.0.1']
    const server = served.built.start(['serve', ...flags], { env: { BAX_STATE_DIR: state } })
    onTestFinished(async () => {
      server.child.kill('SIGTERM')
      await server.ended
    })
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(await server.waitForStderr('bax is listening on http://'))![0]
    const make = async () => {
      const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"headless":true}' }
      return ((await (await fetch(`${url}/sessions`, options)).json()) as { session_id: string }).session_id
    }
    await expect(withPuppeteer({ browserURL: url })).rejects.toThrow('Failed to fetch browser webSocket URL')
    const id = await make()
    expect(await withPuppeteer({ browserURL: url })).toEqual(expected)
    expect(await withPuppeteer({ browserURL: url })).toEqual(expected)
    const ticket = ((await (await fetch(`${url}/json/version`)).json()) as { webSocketDebuggerUrl: string })
      .webSocketDebuggerUrl
    expect(ticket).toMatch(new RegExp(`/sessions/${id}/cdp\\?token=ct_`))
    expect(await withPlaywright(ticket)).toEqual(expected)
    await expect(withPlaywright(ticket)).rejects.toThrow(/401/)
    await make()
    expect(await (await fetch(`${url}/json/version`)).json()).toMatchObject({ code: 'conflict' })
  })

  test('is rejected if a key is required', async () => {
    await expect(withPuppeteer({ browserURL: served.url })).rejects.toThrow('Failed to fetch browser webSocket URL')
    expect((await fetch(`${served.url}/json/version`)).status).toBe(401)
  })
})

test('a disconnecting client leaves the pages unchanged', async () => {
  const endpoint = await endpoints['a session']!()
  const browser = await chromium.connectOverCDP(`${endpoint.cdpUrl}?token=${endpoint.token}`)
  await browser.contexts()[0]!.pages()[0]!.goto(`${site.url}/other`)
  await browser.close()
  const [id] = /ses_[\w-]+/.exec(endpoint.cdpUrl)!
  await waitUntil(async () => (await served.request('GET', `/sessions/${id}`))['title'] === 'Other')
  await endpoint.close()
})
