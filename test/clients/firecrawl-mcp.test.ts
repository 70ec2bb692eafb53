/** Firecrawl's MCP server, started like agents do, with a server that requires a key. */
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packageFolder, packageModule } from '../support/packages.ts'
import { type SearchServer, serveSearch } from '../support/search-server.ts'
import { type Served, serveBax, servedWithinMs } from '../support/served.ts'
import { serveSite, type Site } from '../support/site.ts'
import { article } from '../support/web.ts'

/** The used part of an MCP client. */
interface McpClient {
  connect(transport: unknown): Promise<void>
  listTools(): Promise<{ tools: { name: string }[] }>
  callTool(call: {
    name: string
    arguments: Record<string, unknown>
  }): Promise<{ isError?: boolean; content: { text: string }[] }>
  close(): Promise<void>
}
interface ClientModule {
  readonly Client: new (facts: { name: string; version: string }) => McpClient
}
interface TransportModule {
  readonly StdioClientTransport: new (options: Record<string, unknown>) => unknown
}

let served: Served
let site: Site
let engines: SearchServer
/** A URL on a closed port. */
let closed: string
let client: McpClient

beforeAll(async () => {
  ;[site, engines] = await Promise.all([
    serveSite({
      '/': '<!doctype html><title>Home</title><main><h1>Home</h1><a href="/a">A</a> <a href="/article">Deltas</a></main>',
      '/a': '<!doctype html><title>A</title><h1>A</h1>',
      '/article': article,
    }),
    serveSearch(),
  ])
  const gone = await serveSite({})
  closed = gone.url
  await gone.close()
  served = await serveBax(engines.env('searxng'))
  const sdk = ['@modelcontextprotocol/sdk', '1.32.2'] as const
  const { Client } = await packageModule<ClientModule>(...sdk, 'dist/esm/client/index.js')
  const { StdioClientTransport } = await packageModule<TransportModule>(...sdk, 'dist/esm/client/stdio.js')
  client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [fileURLToPath(new URL('dist/index.js', await packageFolder('firecrawl-mcp', '3.26.0')))],
      env: { PATH: process.env['PATH'], FIRECRAWL_API_URL: served.url, FIRECRAWL_API_KEY: served.key },
      stderr: 'ignore',
    }),
  )
}, servedWithinMs)
afterAll(async () => {
  await client.close()
  await served.close()
  await engines.close()
  await site.close()
})

/** Returns the result of a tool as JSON. */
async function call(name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { content, isError } = await client.callTool({ name, arguments: input })
  if (isError) throw new Error(content[0]!.text)
  return JSON.parse(content[0]!.text) as Record<string, unknown>
}

test('lists its tools', async () => {
  const { tools } = await client.listTools()
  const names = tools.map(({ name }) => name)
  for (const name of ['scrape', 'map', 'search', 'crawl', 'check_crawl_status'])
    expect(names).toContain(`firecrawl_${name}`)
})

test('scrape returns the page', async () => {
  expect(await call('firecrawl_scrape', { url: `${site.url}/article`, formats: ['markdown', 'links'] })).toMatchObject({
    markdown: expect.stringContaining('# How deltas grow'),
    links: expect.arrayContaining([`${site.url}/about`]),
    metadata: { statusCode: 200, sourceURL: `${site.url}/article` },
  })
  const schema = { type: 'object', properties: { author: { type: 'string' } } }
  expect(
    await call('firecrawl_scrape', { url: `${site.url}/article`, formats: ['json'], jsonOptions: { schema } }),
  ).toMatchObject({ json: { author: 'Ada Rivers' } })
  await expect(call('firecrawl_scrape', { url: closed })).rejects.toThrow('connection refused')
})

test('map lists the site', async () => {
  const { links } = (await call('firecrawl_map', { url: site.url, search: 'article' })) as { links: unknown }
  expect(links).toEqual([{ url: `${site.url}/article` }])
})

test('crawl returns the pages, and its status again by ID', async () => {
  const done = await call('firecrawl_crawl', { url: site.url, limit: 2, scrapeOptions: { formats: ['markdown'] } })
  expect(done).toMatchObject({ status: 'completed', completed: 2 })
  const again = await call('firecrawl_check_crawl_status', { id: done['id'] })
  expect(again).toEqual(done)
})

test('search returns results', async () => {
  engines.setResults([{ url: `${site.url}/article`, title: 'Deltas', snippet: 'How they grow' }])
  const found = await call('firecrawl_search', { query: 'deltas', limit: 2, scrapeOptions: { formats: ['markdown'] } })
  expect(found).toMatchObject({
    success: true,
    data: { web: [{ url: `${site.url}/article`, title: 'Deltas', markdown: expect.stringContaining('deltas') }] },
  })
})
