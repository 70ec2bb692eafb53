import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type HomeName, homeNames, type Homes, isFleet, openHomes, usualHomes } from '../support/homes.ts'
import { follow } from '../../src/client/client.ts'
import { startForeignBrowser } from '../support/foreign-browser.ts'
import { noFullBrowser, testUnless } from '../support/needs.ts'
import { failureOf, open, valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'

interface Download {
  readonly type: string
  readonly data: { readonly path: string }
}

let homes: Homes
let site: Site

beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes(),
    serveSite({
      '/': '<title>Start</title><h1>Start</h1>',
      '/headers': (request, response) => response.end(JSON.stringify(request.headers)),
    }),
  ])
})
afterEach(async () => {
  const { sessions } = await homes.clients.embedded.listSessions({})
  await Promise.all(sessions.map(({ session_id }) => homes.clients.embedded.closeSession({ session_id })))
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

/** Returns how to create sessions through a location. */
function through(home: HomeName) {
  const client = () => homes.clients[home]
  const create = async (input: Parameters<typeof homes.clients.http.createSession>[0] = {}) => {
    const created = await client().createSession({ headless: true, ...input })
    return { ...created, id: created.session_id! }
  }
  return { client, create }
}

describe.each(homeNames)('creating a session (%s)', (home) => {
  const { client, create } = through(home)

  test('returns a ready session with a blank page of the default size', async () => {
    const created = await client().createSession({})
    expect(created).toMatchObject({ status: 'ready', name: null })
    const socket = `${homes.baseUrl.replace('http', 'ws')}/sessions/${created.session_id}/cdp`
    expect(created.cdp_url).toBe(home === 'http' ? socket : null)
    expect(created.live_view_url).toBe(home === 'http' ? `${homes.baseUrl}/live/${created.session_id}` : null)
    expect(created.session_id).toMatch(/^ses_[\w-]{20}$/)
    expect(created.frame_token).toMatch(/^ft_[\w-]{43}$/)
    const base = home === 'http' ? homes.baseUrl : ''
    expect(created.sse_url).toBe(`${base}/stream/sse?session_id=${created.session_id}`)
    expect(created).not.toHaveProperty('warning')
    expect(created).not.toHaveProperty('provision_id')
    const record = await client().getSession({ session_id: created.session_id! })
    expect(record).toMatchObject({
      status: 'ready',
      url: 'about:blank',
      title: '',
      headless: true,
      tabs: 1,
      viewport: { width: 1280, height: 720 },
      idle_timeout_secs: 300,
      timeout_secs: 3600,
      commands_run: 0,
      tags: {},
      ended_at: null,
      end_reason: null,
    })
    expect(Date.parse(record.expires_at) - Date.parse(record.created_at)).toBe(3_600_000)
  })

  test('finds a session by its requested_name', async () => {
    const { id, name } = await create({ requested_name: `named-${home}` })
    expect(name).toBe(`named-${home}`)
    expect((await client().getSession({ session_id: `named-${home}` })).session_id).toBe(id)
    const error = await failureOf(create({ requested_name: `named-${home}` }))
    expect(error).toMatchObject({ code: 'conflict', status: 409 })
    await client().closeSession({ session_id: `named-${home}` })
    const again = await create({ requested_name: `named-${home}` })
    expect(again.id).not.toBe(id)
  })

  test('rejects a start_url that is not a web URL', async () => {
    expect(await failureOf(create({ start_url: 'file:///etc/passwd' }))).toMatchObject({
      code: 'url_blocked',
      status: 403,
    })
  })

  test.each([
    ['locale', { locale: 'no such locale' }],
    ['timezone', { timezone: 'Mars/Olympus' }],
    ['timezone', { timezone: '+02:00' }],
    ['user_agent', { user_agent: 'a\r\nb: c' }],
    ['proxy.server', { proxy: { server: 'ftp://127.0.0.1' } }],
    ['save_profile', { save_profile: true }],
    ['cdp_url', { cdp_url: 'ftp://127.0.0.1' }],
    ['viewport.width', { viewport: { width: 0, height: 1 } }],
    ['timeout_secs', { timeout_secs: 86_401 }],
    ['idle_timeout_secs', { idle_timeout_secs: -1 }],
    ['profile_id', { profile_id: '' }],
  ])('rejects %s: %j before anything is opened', async (path, input) => {
    const error = await failureOf(create(input))
    expect(error).toMatchObject({ code: 'invalid_request', status: 400 })
    expect(error.details).toMatchObject([{ path }])
  })

  test('returns 404 for an unknown profile', async () => {
    const error = await failureOf(create({ profile_id: '3f1c1a52-5a0b-4b7e-9d7a-0d3b8e5a7c11' }))
    expect(error).toMatchObject({ code: 'profile_not_found', status: 404 })
  })
})

describe.each(usualHomes)('a created session (%s)', (home) => {
  const { client, create } = through(home)

  test('runs headless with a warning when a window is requested without a display', async () => {
    const { id, warning } = await create({ headless: false })
    expect(warning).toMatch(/no display/)
    expect((await client().getSession({ session_id: id })).headless).toBe(true)
  })

  test('opens start_url before it responds', async () => {
    const { id } = await create({ start_url: site.url })
    expect(await client().getSession({ session_id: id })).toMatchObject({ url: `${site.url}/`, title: 'Start' })
  })

  test('returns a session with a warning when start_url fails', async () => {
    const { id, status, warning } = await create({ start_url: 'http://127.0.0.1:2/' })
    expect(status).toBe('ready')
    expect(warning).toMatch(/start_url could not be opened/)
    expect(await valueOf(client(), id, '1 + 1')).toBe(2)
  })

  test('sends and reports user_agent', async () => {
    const { id } = await create({ user_agent: 'Probe/1.0', start_url: `${site.url}/headers` })
    const headers = JSON.parse((await valueOf(client(), id, 'document.body.innerText')) as string) as Record<
      string,
      string
    >
    expect(headers['user-agent']).toBe('Probe/1.0')
    expect(await valueOf(client(), id, 'navigator.userAgent')).toBe('Probe/1.0')
    expect((await client().getSession({ session_id: id })).user_agent).toBe('Probe/1.0')
  })

  test('use_random_user_agent applies to headers, client hints and scripts alike', async () => {
    const { id } = await create({ use_random_user_agent: true, start_url: `${site.url}/headers` })
    const headers = JSON.parse((await valueOf(client(), id, 'document.body.innerText')) as string) as Record<
      string,
      string
    >
    const seen = (await valueOf(
      client(),
      id,
      `({agent: navigator.userAgent, platform: navigator.platform, hints: navigator.userAgentData.toJSON()})`,
    )) as { agent: string; platform: string; hints: { platform: string; brands: { brand: string; version: string }[] } }
    expect(seen.agent).not.toContain('Headless')
    expect(headers['user-agent']).toBe(seen.agent)
    const [, major] = /Chrome\/(\d+)/.exec(seen.agent)!
    const product = seen.agent.includes('Edg/') ? 'Microsoft Edge' : 'Google Chrome'
    expect(seen.hints.brands).toContainEqual({ brand: product, version: major })
    expect(headers['sec-ch-ua']).toContain(`"${product}";v="${major}"`)
    expect(headers['sec-ch-ua-platform']).toBe(`"${seen.hints.platform}"`)
    const systems = { Windows: 'Win32', macOS: 'MacIntel', Linux: 'Linux x86_64', 'Chrome OS': 'Linux x86_64' }
    expect(seen.platform).toBe(systems[seen.hints.platform as keyof typeof systems])
    expect((await client().getSession({ session_id: id })).user_agent).toBe(seen.agent)
  })

  test('applies viewport, locale and timezone to pages', async () => {
    const { id } = await create({ viewport: { width: 800, height: 600 }, locale: 'de-DE', timezone: 'Asia/Tokyo' })
    const seen = `[innerWidth, innerHeight, navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone]`
    expect(await valueOf(client(), id, seen)).toEqual([800, 600, 'de-DE', 'Asia/Tokyo'])
    expect((await client().getSession({ session_id: id })).viewport).toEqual({ width: 800, height: 600 })
  })

  test('applies the viewport to new tabs', async () => {
    const { id } = await create({ viewport: { width: 640, height: 480 }, start_url: site.url })
    expect(await valueOf(client(), id, '[innerWidth, innerHeight]')).toEqual([640, 480])
    await valueOf(client(), id, 'void window.open("/")')
    await expect.poll(async () => (await client().getSession({ session_id: id })).tabs).toBe(2)
    await expect.poll(() => valueOf(client(), id, '[innerWidth, innerHeight]')).toEqual([640, 480])
  })

  test('stores tags', async () => {
    const { id } = await create({ tags: { job: 'nightly' } })
    expect((await client().getSession({ session_id: id })).tags).toEqual({ job: 'nightly' })
  })

  test('keep_alive disables the idle timeout', async () => {
    const { id } = await create({ keep_alive: true, idle_timeout_secs: 1 })
    expect((await client().getSession({ session_id: id })).idle_timeout_secs).toBe(0)
  })
})

describe.each(usualHomes)('a session behind a proxy (%s)', (home) => {
  let proxy: Server
  const proxyRequests: { url: string; authorization: string | undefined }[] = []
  beforeAll(async () => {
    proxy = createServer((request, response) => {
      const authorization = request.headers['proxy-authorization']
      if (!authorization) return response.writeHead(407, { 'proxy-authenticate': 'Basic realm="x"' }).end()
      proxyRequests.push({ url: request.url!, authorization })
      return response.setHeader('content-type', 'text/html').end('<title>Through the proxy</title>')
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    proxy.close()
    proxy.closeAllConnections()
  })

  test('uses the proxy with user name and password', async () => {
    const { port } = proxy.address() as AddressInfo
    const created = await homes.clients[home].createSession({
      proxy: { server: `http://127.0.0.1:${port}`, username: 'ann', password: 'secret' },
      start_url: 'http://site.invalid/page',
    })
    expect(created).not.toHaveProperty('warning')
    const record = await homes.clients[home].getSession({ session_id: created.session_id! })
    expect(record.title).toBe('Through the proxy')
    expect(proxyRequests).toContainEqual({
      url: 'http://site.invalid/page',
      authorization: `Basic ${Buffer.from('ann:secret').toString('base64')}`,
    })
  })
})

describe.each(usualHomes)('a session with cdp_url (%s)', (home) => {
  test('has its own context, and leaves the browser running when it ends', async () => {
    const client = homes.clients[home]
    const foreign = await startForeignBrowser()
    try {
      const created = await client.createSession({ cdp_url: foreign.url, start_url: site.url })
      expect(created).not.toHaveProperty('warning')
      const session_id = created.session_id!
      expect(await client.getSession({ session_id })).toMatchObject({
        title: 'Start',
        worker_id: isFleet ? expect.stringMatching(/^wrk_/) : 'remote',
      })
      await valueOf(client, session_id, 'document.cookie = "a=1"')
      // The list of the browser lags behind.
      await expect.poll(() => foreign.pages()).toContain(`${site.url}/`)
      await client.closeSession({ session_id })
      await expect.poll(() => foreign.pages()).not.toContain(`${site.url}/`)
      const port = await client.createSession({ cdp_url: new URL(foreign.url).port, start_url: site.url })
      expect(await valueOf(client, port.session_id!, 'document.cookie')).toBe('')
      await valueOf(
        client,
        port.session_id!,
        `Object.assign(document.createElement('a'), { href: 'data:,x', download: 'x.txt' }).click()`,
      )
      let path = ''
      const stream = { session_id: port.session_id!, replay: 'all' }
      for await (const { type, data } of follow(
        homes.transports[home],
        'GET /stream/sse',
        stream,
      ) as AsyncIterable<Download>) {
        if (type !== 'download.finished') continue
        expect(data).toMatchObject({ success: true, filename: 'x.txt' })
        path = data.path
        break
      }
      expect(await readFile(path, 'utf8')).toBe('x')
      await client.closeSession({ session_id: port.session_id! })
      await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' })
    } finally {
      await foreign.close()
    }
  })

  test('ends as worker_lost when the browser ends', async () => {
    const client = homes.clients[home]
    const foreign = await startForeignBrowser()
    const { session_id } = await client.createSession({ cdp_url: foreign.url })
    await foreign.close()
    await expect.poll(async () => (await client.getSession({ session_id: session_id! })).end_reason).toBe('worker_lost')
  })

  test('reports a URL where nothing answers', async () => {
    const error = await failureOf(homes.clients[home].createSession({ cdp_url: 'http://127.0.0.1:2' }))
    expect(error).toMatchObject({ code: 'browser_failed', status: 503 })
    expect(error.message).toContain('cdp_url')
  })
})

describe.each(usualHomes)('stealth (%s)', (home) => {
  testUnless(noFullBrowser)('disable_automation_detection hides automation from the page', async () => {
    const client = homes.clients[home]
    const { session_id } = await client.createSession({
      headless: true,
      disable_automation_detection: true,
      start_url: `${site.url}/headers`,
    })
    const headers = JSON.parse((await valueOf(client, session_id!, 'document.body.innerText')) as string) as object
    expect(JSON.stringify(headers)).not.toContain('Headless')
    expect(headers).toHaveProperty('accept-language')
    const seen = `({
      webdriver: navigator.webdriver,
      headless: [navigator.userAgent, JSON.stringify(navigator.userAgentData.brands)].join().includes('Headless'),
      chrome: 'chrome' in window,
      plugins: navigator.plugins.length > 0,
      pdf: navigator.pdfViewerEnabled,
      notifications: Notification.permission,
      languages: navigator.languages.length > 0,
    })`
    const ordinary = {
      webdriver: false,
      headless: false,
      chrome: true,
      plugins: true,
      pdf: true,
      notifications: 'default',
      languages: true,
    }
    expect(await valueOf(client, session_id!, seen)).toEqual(ordinary)
    await open(client, session_id!, site.url)
    expect(await valueOf(client, session_id!, seen)).toEqual(ordinary)
  })
})
