/** `/mcp` of a gateway: its calls run on the workers. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  Client as StatelessClient,
  StreamableHTTPClientTransport as StatelessTransport,
} from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startFleet, type TestFleet } from '../../support/fleet.ts'
import { callTool } from '../../support/mcp.ts'
import { titled } from '../../support/needs.ts'
import { noRedis } from '../../support/redis.ts'
import { serveSite, type Site } from '../../support/site.ts'

describe.skipIf(noRedis)(titled('MCP behind a gateway with two workers', noRedis), () => {
  let fleet: TestFleet
  let site: Site
  beforeAll(async () => {
    ;[fleet, site] = await Promise.all([
      startFleet(),
      serveSite({
        '/': '<!doctype html><title>Home</title><h1>Home</h1><a href="/a">A</a>',
        '/a': '<title>A</title><p>A page about tea.',
      }),
    ])
  })
  afterAll(async () => {
    await fleet?.close()
    await site?.close()
  })

  async function connect() {
    const transport = new StreamableHTTPClientTransport(new URL(`${fleet.gateway.url}/mcp`))
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(transport as Parameters<Client['connect']>[0])
    return { client, transport }
  }

  const sessions = async () => {
    const statuses = await Promise.all(fleet.workers.map(({ engine }) => engine.status()))
    return statuses.map((status) => status.sessions)
  }

  test('each client has its session on a worker, which ends with it', async () => {
    const clients = await Promise.all([connect(), connect()])
    const texts = await Promise.all(clients.map(({ client }) => callTool(client, 'browser_open', { url: site.url })))
    for (const { text } of texts) expect(text).toContain('heading "Home"')
    expect(await sessions()).toEqual([1, 1])
    const [one, two] = clients.map(({ client }) => client)
    expect((await callTool(one!, 'browser_act', { commands: ['click a'] })).text).toContain('tea')
    expect((await callTool(two!, 'browser_observe', {})).text).toContain('Home')
    for (const { transport } of clients) await transport.terminateSession()
    await expect.poll(sessions).toEqual([0, 0])
  })

  test('two gateways answer the requests of one client in turn', async () => {
    const other = await fleet.addGateway()
    const gateways = [fleet.gateway.url, other.url]
    const answered: string[] = []
    const alternately = (url: string | URL, init?: RequestInit) => {
      const gateway = gateways[answered.length % gateways.length]!
      answered.push(gateway)
      return fetch(`${gateway}${new URL(url).pathname}`, init)
    }
    const client = new StatelessClient(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    await client.connect(new StatelessTransport(new URL(`${fleet.gateway.url}/mcp`), { fetch: alternately }))
    const call = async (name: string, args: Record<string, unknown>) =>
      JSON.stringify((await client.callTool({ name, arguments: args })).content)
    const opened = await call('browser_open', { url: site.url })
    const session = /session: (ses_[\w-]+)/.exec(opened)![1]!
    expect(await call('browser_act', { commands: ['click a'], session })).toContain('tea')
    expect(await call('browser_observe', { session })).toContain('tea')
    const crawled = await call('web_crawl', { url: site.url })
    const id = /crawl (crl_[\w-]+)/.exec(crawled)![1]!
    expect(await call('web_crawl', { id, find: 'tea' })).toContain('A page about tea.')
    expect(await call('browser_session', { action: 'close', session })).toContain('closed')
    expect(await sessions()).toEqual([0, 0])
    expect(answered.length).toBeGreaterThanOrEqual(7)
    await client.close()
    await other.stop()
  })

  test('crawls run with their progress', async () => {
    const { client, transport } = await connect()
    const { text } = await callTool(client, 'web_crawl', { url: site.url, find: 'tea' })
    expect(text).toContain('completed, 2 pages')
    expect(text).toContain('A page about tea.')
    await transport.terminateSession()
  })
})
