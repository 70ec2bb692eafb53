/** `/mcp` of `bax serve`, and `bax mcp`, through version 2 of the official client, with the revision 2026-07-28. */
import {
  type CallToolResult,
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { buildBax, type BuiltBax, processEnv } from '../support/cli.ts'
import { request, type RunningServer, serve, stop } from '../support/server.ts'
import { serveSite, type Site } from '../support/site.ts'

const revision = '2026-07-28'

let built: BuiltBax
let server: RunningServer
let site: Site
let key: string
let otherKey: string

beforeAll(async () => {
  built = await buildBax()
  site = await serveSite({
    '/': '<!doctype html><title>Home</title><h1>Home</h1><a href="/a">A</a>',
    '/hangs': () => {},
    '/a': '<!doctype html><title>A</title><h1>A page about tea</h1>',
  })
  const stateDir = await built.stateDir()
  const makeKey = async () =>
    (await built.run(['key', 'create', 'agent'], { env: { BAX_STATE_DIR: stateDir } })).stdout.trim()
  key = await makeKey()
  otherKey = await makeKey()
  server = await serve(built, [], { stateDir })
})
afterAll(async () => {
  if (server) expect(await stop(server)).toBe(0)
  await site?.close()
  await built?.close()
})

const options: ClientOptions = { versionNegotiation: { mode: { pin: revision } } }

async function connect(query = '', more: ClientOptions = {}, as = key): Promise<Client> {
  const url = new URL(`${server.url}/mcp${query}`)
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers: { 'x-api-key': as } } })
  const client = new Client({ name: 'test', version: '1' }, { ...options, ...more })
  await client.connect(transport)
  return client
}

const textOf = ({ content }: CallToolResult) => content.map((one) => (one.type === 'text' ? one.text : '')).join('\n')

async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: args })
  return { ...result, text: textOf(result) }
}

const handleIn = (text: string) => /^(?:session|shell): (\S+)$/m.exec(text)?.[1]

/** Sends a message as no client of the SDK would. */
const post = (message: Record<string, unknown>, headers: Record<string, string> = {}) =>
  request(
    server.url,
    'POST',
    '/mcp',
    { jsonrpc: '2.0', id: 1, ...message },
    {
      accept: 'application/json, text/event-stream',
      'x-api-key': key,
      'mcp-protocol-version': revision,
      'mcp-method': String(message['method']),
      ...headers,
    },
  )

const envelope = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientCapabilities': {},
}

const sessions = async () => {
  const { body } = await request(server.url, 'GET', '/sessions', undefined, { 'x-api-key': key })
  return (body.sessions as { session_id: string; status: string }[]).filter(({ status }) => status === 'ready')
}

describe('requests', () => {
  test('discover the revisions, capabilities and instructions', async () => {
    const { body, status, headers } = await post({ method: 'server/discover', params: { _meta: envelope } })
    expect(status).toBe(200)
    expect(headers.get('mcp-session-id')).toBeNull()
    expect(body.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [revision],
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions: expect.stringContaining('pass it as session'),
      ttlMs: 300_000,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'bax' } },
    })
  })

  test('list the tools in the same order, for clients to keep', async () => {
    const list = async () => (await post({ method: 'tools/list', params: { _meta: envelope } })).body.result
    const first = await list()
    expect(first).toMatchObject({ resultType: 'complete', ttlMs: 300_000, cacheScope: 'private' })
    expect(await list()).toEqual(first)
    const tools = first.tools as { name: string; inputSchema: { required?: string[]; properties: object } }[]
    const find = (name: string) => tools.find((tool) => tool.name === name)!.inputSchema
    expect(find('browser_open').required).toEqual(['url'])
    expect(find('browser_act').required).toEqual(['commands', 'session'])
    expect(find('browser_observe').required).toEqual(['session'])
    expect(find('web_map').required).toEqual(['url'])
  })

  test('ignore a session ID of the protocol', async () => {
    const { status } = await post(
      { method: 'tools/list', params: { _meta: envelope } },
      { 'mcp-session-id': 'unknown' },
    )
    expect(status).toBe(200)
  })

  test('without the headers of the transport are refused', async () => {
    const message = { method: 'tools/list', params: { _meta: envelope } }
    expect(await post(message, { 'mcp-method': 'tools/call' })).toMatchObject({
      status: 400,
      body: { error: { code: -32_020 } },
    })
    expect(await post({ ...message, params: {} })).toMatchObject({ status: 400, body: { error: { code: -32_602 } } })
  })

  test('with options that are none are refused', async () => {
    await expect(connect('?tools=browsr')).rejects.toThrow()
  })

  test('may send null for absent parameters', async () => {
    const params = { name: 'browser_observe', arguments: null, _meta: envelope }
    const { status, body } = await post({ method: 'tools/call', params }, { 'mcp-name': 'browser_observe' })
    expect(status).toBe(200)
    expect(body.result).toMatchObject({ isError: true, resultType: 'complete' })
  })
})

/** Starts `bax mcp` on the engine of a folder. */
async function connectProcess(stateDir: string): Promise<Client> {
  const env = { ...processEnv, BAX_STATE_DIR: stateDir }
  const client = new Client({ name: 'test', version: '1' }, options)
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [built.program, 'mcp'], env }))
  return client
}

/** Clients over both transports. */
const clients = { '/mcp': () => connect(), 'bax mcp': async () => connectProcess(await built.stateDir()) }

describe.each(Object.entries(clients))('a client of %s', (_, connected) => {
  let client: Client
  beforeAll(async () => {
    client = await connected()
  })
  afterAll(() => client?.close())

  test('speaks the revision', () => {
    expect(client.getProtocolEra()).toBe('modern')
    expect(client.getServerVersion()).toMatchObject({ name: 'bax' })
  })

  test('passes the session that browser_open returned', async () => {
    const opened = await call(client, 'browser_open', { url: site.url })
    const session = handleIn(opened.text)!
    expect(session).toMatch(/^ses_/)
    expect(opened.text).toContain('heading "Home"')
    const acted = await call(client, 'browser_act', { commands: ['click a'], session })
    expect(acted.text).toContain('A page about tea')
    expect(handleIn(acted.text)).toBeUndefined()
    const again = await call(client, 'browser_open', { url: site.url, session })
    expect(handleIn(again.text)).toBeUndefined()
    const other = handleIn((await call(client, 'browser_open', { url: site.url })).text)!
    expect(other).not.toBe(session)
    for (const one of [session, other])
      expect((await call(client, 'browser_session', { action: 'close', session: one })).text).toBe('closed')
    expect((await call(client, 'browser_observe', { session })).isError).toBe(true)
  })

  test.each([
    ['browser_observe', {}, 'no session is given [session_not_found]'],
    [
      'browser_act',
      { commands: ['get title'], session: 'default' },
      'there is no session "default" [session_not_found]',
    ],
    ['browser_open', { url: 'about:blank', session: 'second' }, 'there is no session "second" [session_not_found]'],
    ['browser_session', { action: 'close' }, 'no session is given [session_not_found]'],
    ['shell_exec', { command: 'true', shell: 'mine' }, 'there is no shell "mine" [shell_session_not_found]'],
  ])('%s needs the ID of one: %j', async (name, args, message) => {
    const { isError, text } = await call(client, name, args)
    expect(isError).toBe(true)
    expect(text).toContain(message)
    expect(text).toMatch(/hint: pass the (session|shell) that \w+ has returned/)
  })

  test('gets what a session made with the call, or as a resource', async () => {
    const session = handleIn((await call(client, 'browser_open', { url: site.url })).text)!
    const { content } = await call(client, 'browser_screenshot', { session })
    expect(content).toContainEqual(expect.objectContaining({ type: 'image', mimeType: 'image/jpeg' }))
    const printed = await call(client, 'browser_act', { session, commands: ['pdf'] })
    const resource = printed.content.find(({ type }) => type === 'resource' || type === 'resource_link')!
    const content64 = async () => {
      if (resource.type === 'resource') return (resource.resource as { blob: string }).blob
      const read = await client.readResource({ uri: (resource as { uri: string }).uri })
      return (read.contents[0] as { blob: string }).blob
    }
    expect(Buffer.from(await content64(), 'base64').toString('latin1')).toMatch(/^%PDF/)
    await call(client, 'browser_session', { action: 'close', session })
  })

  test('gets progress of its crawls', async () => {
    const seen: unknown[] = []
    const request = { name: 'web_crawl', arguments: { url: site.url, find: 'tea' } }
    const result = await client.callTool(request, { onprogress: (progress) => void seen.push(progress) })
    expect(textOf(result)).toContain('completed, 2 pages')
    expect(seen).not.toEqual([])
  })

  test('reads prompts and the forms of resources', async () => {
    expect((await client.listPrompts()).prompts).toHaveLength(3)
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(3)
    expect(
      (await client.getPrompt({ name: 'use_application', arguments: { url: 'u', task: 't' } })).messages,
    ).toHaveLength(1)
  })
})

describe('a crawl of a client that knows tasks', () => {
  const _meta = {
    ...envelope,
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  }
  const crawl = async (args: Record<string, unknown>) => {
    const message = { method: 'tools/call', params: { name: 'web_crawl', arguments: args, _meta } }
    return (await post(message, { 'mcp-name': 'web_crawl' })).body.result
  }
  const ask = async (method: string, taskId: string) =>
    (await post({ method, params: { taskId, _meta } }, { 'mcp-name': taskId })).body

  test('is a task, whose result is that of the call', async () => {
    const discovered = await post({ method: 'server/discover', params: { _meta } })
    expect(discovered.body.result.capabilities.extensions).toEqual({ 'io.modelcontextprotocol/tasks': {} })
    const task = await crawl({ url: site.url, find: 'tea', exclude_paths: ['/hangs'] })
    expect(task).toMatchObject({
      resultType: 'task',
      taskId: expect.stringMatching(/^crl_/),
      status: expect.stringMatching(/^(working|completed)$/),
      createdAt: expect.any(String),
      ttlMs: expect.any(Number),
      pollIntervalMs: 1000,
    })
    await expect.poll(async () => (await ask('tasks/get', task.taskId)).result.status).toBe('completed')
    const { result } = await ask('tasks/get', task.taskId)
    expect(result).toMatchObject({ resultType: 'complete', taskId: task.taskId })
    expect(result.result.structuredContent).toMatchObject({ status: 'completed', pages: [{ url: `${site.url}/a` }] })
    expect(JSON.stringify(result.result.content)).toContain('A page about tea')
    expect((await ask('tasks/update', task.taskId)).result).toMatchObject({ resultType: 'complete' })
  })

  test('is cancelled', async () => {
    const task = await crawl({ url: `${site.url}/hangs` })
    expect((await ask('tasks/get', task.taskId)).result).toMatchObject({ status: 'working' })
    expect((await ask('tasks/cancel', task.taskId)).result).toMatchObject({ resultType: 'complete' })
    await expect.poll(async () => (await ask('tasks/get', task.taskId)).result.status).toBe('cancelled')
  })

  test('is none for invalid arguments, unknown tasks and earlier crawls', async () => {
    expect(await crawl({ url: site.url, limt: 1 })).toMatchObject({ resultType: 'complete', isError: true })
    expect(await crawl({})).toMatchObject({ resultType: 'complete', isError: true })
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
      for (const id of ['crl_none', 'crl_none.!', ''])
        expect((await ask(method, id)).error, `${method} ${id}`).toMatchObject({ code: -32_602 })
  })
})

test('nothing of a key is found by the client of another one, also by its IDs', async () => {
  const [owner, stranger] = await Promise.all([connect(), connect('', {}, otherKey)])
  const session = handleIn((await call(owner, 'browser_open', { url: site.url })).text)!
  const asked = await call(owner, 'browser_handoff', { session, reason: 'log in' })
  const handoff_id = /hnd_\S+/.exec(asked.text)![0]
  const own = handleIn((await call(stranger, 'browser_open', { url: site.url })).text)!
  for (const [name, args] of [
    ['browser_observe', { session }],
    ['browser_act', { session, commands: ['webmcp list'] }],
    ['browser_handoff', { session, reason: 'mine' }],
    ['browser_handoff', { session, handoff_id }],
    ['browser_session', { session, action: 'close' }],
  ] as const) {
    const { isError, text } = await call(stranger, name, args)
    expect({ name, isError }).toEqual({ name, isError: true })
    expect(text).toContain('[session_not_found]')
  }
  const guessed = await call(stranger, 'browser_handoff', { session: own, handoff_id })
  expect(guessed).toMatchObject({ isError: true, text: expect.stringContaining('[handoff_not_found]') })
  for (const file of ['report.pdf', 'x'])
    await expect(stranger.readResource({ uri: `bax://file/${session}/${file}` })).rejects.toThrow('session')
  expect(JSON.stringify(await stranger.listResources())).not.toContain(session)
  expect((await call(owner, 'browser_observe', { session })).isError).not.toBe(true)
  await call(owner, 'browser_session', { action: 'close', session })
  await call(stranger, 'browser_session', { action: 'close', session: own })
})

test('a session has the limits of the client that uses it', async () => {
  const [free, limited] = await Promise.all([connect(), connect(`?allowed_domains=127.0.0.1`)])
  const session = handleIn((await call(free, 'browser_open', { url: site.url })).text)!
  const refused = await call(limited, 'browser_observe', { session })
  expect(refused.text).toContain(`session ${session} was not opened here, so that its domains are not limited`)
  const own = handleIn((await call(limited, 'browser_open', { url: site.url })).text)!
  expect((await call(limited, 'browser_observe', { session: own })).text).toContain('Home')
  for (const one of [session, own]) await call(free, 'browser_session', { action: 'close', session: one })
})

test('a session is not left behind by a call that is cancelled', async () => {
  const client = await connect()
  const cancelled = new AbortController()
  const request = { name: 'browser_open', arguments: { url: `${site.url}/hangs` } }
  const failed = expect(client.callTool(request, { signal: cancelled.signal })).rejects.toThrow()
  await expect.poll(() => site.requests).toContain('/hangs')
  cancelled.abort()
  await failed
  await expect.poll(sessions).toEqual([])
})

test('sessions that have ended do not count for the client of bax mcp', async () => {
  const stateDir = await built.stateDir()
  const env = { BAX_STATE_DIR: stateDir }
  const client = await connectProcess(stateDir)
  const open = () => call(client, 'browser_open', { url: site.url })
  const first = handleIn((await open()).text)!
  const { stdout } = await built.run(['session', 'show', first, '--json'], { env })
  expect(JSON.parse(stdout)).toMatchObject({ idle_timeout_secs: limits.mcp.handleIdleSecs })
  for (let at = 1; at < limits.mcp.held; at += 1) {
    const session = handleIn((await open()).text)!
    expect((await built.run(['session', 'close', session], { env })).code).toBe(0)
  }
  await expect.poll(async () => handleIn((await open()).text)).toMatch(/^ses_/)
  await client.close()
})

test('the trace of a call is in the log of what it did', async () => {
  const trace = '0af7651916cd43dd8448eb211c80319c'
  const client = await connect()
  const _meta = { traceparent: `00-${trace}-b7ad6b7169203331-01`, tracestate: 'vendor=1' }
  await client.callTool({ name: 'web_scrape', arguments: { url: site.url }, _meta })
  expect(await server.waitForLog(({ trace_id }) => trace_id === trace)).toMatchObject({
    operation: 'scrape',
    status: 200,
  })
})
