/** `/mcp` of `bax serve` through the client of the official SDK. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildBax, type BuiltBax } from '../support/cli.ts'
import { callTool } from '../support/mcp.ts'
import { request, type RunningServer, serve, stop } from '../support/server.ts'
import { serveSite, type Site } from '../support/site.ts'

let built: BuiltBax
let server: RunningServer
let site: Site
/** Keys by their scopes. */
const keys: Record<string, string> = {}

beforeAll(async () => {
  built = await buildBax()
  site = await serveSite({ '/': '<!doctype html><title>Home</title><h1>Home</h1><p>Welcome to the home page.</p>' })
  const stateDir = await built.stateDir()
  const env = { BAX_STATE_DIR: stateDir }
  for (const scopes of ['admin', 'browser,scrape', 'scrape']) {
    const { stdout } = await built.run(['key', 'create', scopes.replace(',', '-'), '--scopes', scopes], { env })
    keys[scopes] = stdout.trim()
  }
  server = await serve(built, [], { stateDir })
})

afterAll(async () => {
  if (server) expect(await stop(server)).toBe(0)
  await site?.close()
  await built?.close()
})

interface Connected {
  readonly client: Client
  readonly transport: StreamableHTTPClientTransport
}

/** Connects a client with a key. */
async function connect(key: string | undefined, query = ''): Promise<Connected> {
  const requestInit = { headers: { ...(key !== undefined && { 'x-api-key': key }) } }
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp${query}`), { requestInit })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport as Parameters<Client['connect']>[0])
  return { client, transport }
}

const names = async ({ client }: Connected) => (await client.listTools()).tools.map(({ name }) => name)

/** Returns the live sessions of the server. */
const sessions = async () => {
  const { body } = await request(server.url, 'GET', '/sessions', undefined, { 'x-api-key': keys['admin']! })
  return (body.sessions as { session_id: string; status: string }[]).filter(({ status }) => status === 'ready')
}

describe('keys and scopes', () => {
  test('a key is required', async () => {
    await expect(connect(undefined)).rejects.toThrow()
    await expect(connect('bax_wrong')).rejects.toThrow()
  })

  test('tools that the key may not use are not listed', async () => {
    const browser = await connect(keys['browser,scrape'])
    const listed = await names(browser)
    expect(listed).toContain('browser_act')
    expect(listed).toContain('web_crawl')
    // Scripts need files of the client's machine; the others need other scopes.
    for (const name of ['browser_script', 'shell_exec', 'relay']) expect(listed).not.toContain(name)
    const scraping = await connect(keys['scrape'])
    expect(await names(scraping)).toEqual(['web_scrape', 'web_crawl', 'web_map', 'web_search'])
    await Promise.all([browser.transport.terminateSession(), scraping.transport.terminateSession()])
  })

  test('a session belongs to its key', async () => {
    const { transport } = await connect(keys['browser,scrape'])
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const headers = { 'mcp-session-id': transport.sessionId!, accept: 'application/json, text/event-stream' }
    const answer = await request(server.url, 'POST', '/mcp', body, { ...headers, 'x-api-key': keys['scrape']! })
    expect(answer.status).toBe(404)
    await transport.terminateSession()
  })
})

test('sessions that the API created are used and closed by their IDs, with the limits of the client', async () => {
  const create = async (more = {}) => {
    const input = { start_url: site.url, ...more }
    const { body } = await request(server.url, 'POST', '/sessions', input, { 'x-api-key': keys['admin']! })
    return body.session_id as string
  }
  const free = await connect(keys['admin'])
  const limited = await connect(keys['admin'], '?allowed_domains=127.0.0.1')
  const [session, equal] = [await create(), await create({ allowed_domains: ['127.0.0.1'] })]
  for (const action of ['show', 'close'])
    expect((await callTool(limited.client, 'browser_session', { session, action })).text).toBe(
      `session ${session} was not opened here, so that its domains are not limited [unsupported]\nhint: open the page with browser_open`,
    )
  for (const [{ client }, one] of [
    [free, session],
    [limited, equal],
  ] as const) {
    expect((await callTool(client, 'browser_observe', { session: one })).text).toContain('Welcome')
    expect((await callTool(client, 'browser_session', { session: one, action: 'close' })).text).toBe('closed')
    expect((await callTool(client, 'browser_observe', { session: one })).text).toContain(
      `[session_closed]\nhint: open the page again with browser_open, without "${one}"`,
    )
  }
  expect(await sessions()).toEqual([])
  await Promise.all([free.transport.terminateSession(), limited.transport.terminateSession()])
})

describe('requests', () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }
  const accept = { accept: 'application/json, text/event-stream' }

  test('from web pages are refused', async () => {
    const headers = { ...accept, 'x-api-key': keys['admin']!, origin: 'https://evil.example' }
    const { status, body } = await request(server.url, 'POST', '/mcp', initialize, headers)
    expect(status).toBe(403)
    expect(body).toMatchObject({ code: 'bad_origin' })
  })

  test.each([
    ['?tools=browsr', '--tools must be'],
    ['?colour=red', 'is not an option of /mcp'],
  ])('with %s are refused', async (query, message) => {
    const headers = { ...accept, 'x-api-key': keys['admin']! }
    const { status, body } = await request(server.url, 'POST', `/mcp${query}`, initialize, headers)
    expect(status).toBe(400)
    expect(body.error).toContain(message)
  })

  test.each([null, 0, true, '', 'text', [], [null], {}])('that are no messages are refused: %j', async (message) => {
    for (const revision of ['2025-11-25', '2026-07-28']) {
      const headers = { ...accept, 'x-api-key': keys['admin']!, 'mcp-protocol-version': revision }
      const { status, body } = await request(server.url, 'POST', '/mcp', message, headers)
      expect(status).toBe(400)
      expect(body).toMatchObject({ jsonrpc: '2.0', error: { code: -32_600 } })
    }
  })

  test('for an unknown session are answered with 404, so that clients start again', async () => {
    const headers = { ...accept, 'x-api-key': keys['admin']!, 'mcp-session-id': 'unknown' }
    expect((await request(server.url, 'POST', '/mcp', { ...initialize, method: 'ping' }, headers)).status).toBe(404)
    expect((await request(server.url, 'PUT', '/mcp', {}, headers)).status).toBe(405)
  })

  test('with a body beyond the limit are refused', async () => {
    const headers = { ...accept, 'x-api-key': keys['admin']! }
    const body = { ...initialize, params: { ...initialize.params, padding: 'x'.repeat(5 * 1024 * 1024) } }
    expect((await request(server.url, 'POST', '/mcp', body, headers)).status).toBe(413)
  })
})

describe('a client', () => {
  test('uses pages, which end with its session', async () => {
    const connected = await connect(keys['browser,scrape'], '?content_boundaries=false')
    const { text } = await callTool(connected.client, 'browser_open', { url: site.url })
    expect(text).toMatch(/^url: http/)
    expect(text).toContain('heading "Home"')
    expect(await sessions()).toHaveLength(1)
    await connected.transport.terminateSession()
    await expect.poll(sessions).toEqual([])
  })

  test('may limit itself to hosts and to reading', async () => {
    const connected = await connect(keys['browser,scrape'], '?allowed_domains=example.com&read_only=true')
    expect(await names(connected)).not.toContain('browser_act')
    expect((await callTool(connected.client, 'web_scrape', { url: site.url })).text).toContain('url_blocked')
    await connected.transport.terminateSession()
  })

  test('may accept any certificate in its sessions', async () => {
    const connected = await connect(keys['browser,scrape'], '?insecure=true')
    await callTool(connected.client, 'browser_open', { url: site.url })
    expect(await sessions()).toMatchObject([{ skip_tls_verification: true }])
    await connected.transport.terminateSession()
    await expect.poll(sessions).toEqual([])
  })

  test('may send null for absent arguments', async () => {
    const { transport, client } = await connect(keys['browser,scrape'])
    const headers = { 'mcp-session-id': transport.sessionId!, accept: 'application/json, text/event-stream' }
    const params = { name: 'browser_observe', arguments: null }
    const message = { jsonrpc: '2.0', id: 'null', method: 'tools/call', params }
    const { status, body } = await request(server.url, 'POST', '/mcp', message, {
      ...headers,
      'x-api-key': keys['browser,scrape']!,
    })
    expect(status).toBe(200)
    expect(body).toContain('no page is open')
    await client.close()
  })

  test('resumes a response whose stream was cut', async () => {
    const { transport, client } = await connect(keys['browser,scrape'])
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'x-api-key': keys['browser,scrape']!,
      'mcp-session-id': transport.sessionId!,
      'mcp-protocol-version': '2025-11-25',
    }
    const params = { name: 'web_scrape', arguments: { url: site.url } }
    const cut = new AbortController()
    const message = { jsonrpc: '2.0', id: 'cut', method: 'tools/call', params }
    const response = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers,
      body: JSON.stringify(message),
      signal: cut.signal,
    })
    const reader = response.body!.getReader()
    const first = new TextDecoder().decode((await reader.read()).value)
    const id = /^id: (\S+)/m.exec(first)![1]!
    cut.abort()
    const resumed = await fetch(`${server.url}/mcp`, { headers: { ...headers, 'last-event-id': id } })
    const chunks = resumed.body!.getReader()
    let text = ''
    while (!text.includes('Welcome to the home page')) {
      const { value, done } = await chunks.read()
      if (done) break
      text += new TextDecoder().decode(value)
    }
    expect(text).toContain('"id":"cut"')
    await chunks.cancel()
    await client.close()
  })

  test('loses its session with its key', async () => {
    // Through the server: the keys of a gateway are not in its state folder.
    const env = { BAX_SERVER: server.url, BAX_API_KEY: keys['admin']! }
    const key = (await built.run(['key', 'create', 'short', '--scopes', 'browser'], { env })).stdout.trim()
    const { client } = await connect(key)
    await callTool(client, 'browser_open', { url: site.url })
    expect((await built.run(['key', 'revoke', 'short'], { env })).code).toBe(0)
    await expect(client.listTools()).rejects.toThrow()
    await expect.poll(sessions).toEqual([])
    await client.close()
  })
})
