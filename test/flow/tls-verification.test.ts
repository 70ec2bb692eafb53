/** Reads of sites whose certificates are not trusted: refused, unless the request accepts any certificate. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { Input } from '../../src/client/calls.ts'
import { noOpenssl } from '../support/certificates.ts'
import { bax } from '../support/cli.ts'
import { type ForwardProxy, serveProxy } from '../support/forward-proxy.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { connectMcp } from '../support/mcp.ts'
import { type SearchServer, serveSearch } from '../support/search-server.ts'
import { testUnless } from '../support/needs.ts'
import { failureOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'
import { untrustedServer } from '../support/web.ts'

type Server = Awaited<ReturnType<typeof untrustedServer>>

const accepting = { skip_tls_verification: true } as const
const ways = ['http', 'browser'] as const

const page = (request: IncomingMessage, response: ServerResponse) => {
  const { url } = request
  if (url === '/robots.txt') return void response.writeHead(404).end()
  if (url === '/word.js') return void response.end('document.querySelector("p").textContent += " and a word"')
  response.writeHead(200, { 'content-type': 'text/html' })
  response.end(`<!doctype html><title>Delta</title><main><p>Page ${url}</p><a href="/next">Next</a></main>`)
}

let [homes, strict, site, web]: [Homes, Homes, Site, SearchServer] = [] as never
let servers: Readonly<Record<'self-signed' | 'expired' | 'of another host', Server>>
let url: string
let proxy: ForwardProxy

const run = testUnless(noOpenssl)

beforeAll(async () => {
  if (noOpenssl !== null) return
  const [selfSigned, expired, other] = await Promise.all([
    untrustedServer(page),
    untrustedServer(page, { days: -1 }),
    untrustedServer(page, { host: 'other.test' }),
  ])
  servers = { 'self-signed': selfSigned, expired, 'of another host': other }
  url = selfSigned.url
  site = await serveSite({
    '/to': (_, response) => void response.writeHead(302, { location: url }).end(),
    '/with-script': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(`<!doctype html><title>A</title><main><p>A page</p></main><script src="${url}word.js"></script>`)
    },
  })
  web = await serveSearch()
  proxy = await serveProxy()
  web.setResults([{ url, title: 'Delta', snippet: 'Page' }])
  const search = web.config('searxng')
  ;[homes, strict] = await Promise.all([openHomes({ search }), openHomes({ search, verifyTls: true })])
})
afterAll(async () => {
  await Promise.all([homes, strict].map((one) => one?.close()))
  await Promise.all([site, web, proxy, ...Object.values(servers ?? {})].map((one) => one?.close()))
})

const read = (address: string, input: Partial<Input<'scrape'>> = {}) =>
  homes.clients.http.scrape({ url: address, ...input })

describe.each(ways)('render %s', (render) => {
  for (const kind of ['self-signed', 'expired', 'of another host'] as const)
    run(`a certificate that is ${kind} is accepted by request`, async () => {
      const server = servers[kind]
      const refused = await read(server.url, { render })
      expect(refused).toMatchObject({ success: false, code: 'tls_error' })
      expect(refused).toHaveProperty('hint', expect.stringContaining('"skip_tls_verification"'))
      const accepted = await read(server.url, { render, ...accepting })
      expect(accepted).toMatchObject({ success: true, data: { markdown: expect.stringContaining('Page /') as string } })
    })

  run('is accepted after a redirect, too', async () => {
    expect(await read(`${site.url}/to`, { render })).toMatchObject({ code: 'tls_error' })
    expect(await read(`${site.url}/to`, { render, ...accepting })).toMatchObject({ success: true })
  })

  run('is accepted through a proxy, which knows the name of the site', async () => {
    const address = url.replace('127.0.0.1', 'delta.test')
    const proxied = { render, proxy: proxy.url }
    expect(await read(address, proxied)).toMatchObject({ success: false, code: 'tls_error' })
    const { data } = await read(address, { ...proxied, ...accepting })
    expect(data).toMatchObject({
      markdown: expect.stringContaining('Page /') as string,
      metadata: { proxy: proxy.url },
    })
    expect(proxy.passed).toContain(`CONNECT ${new URL(address).host}`)
  })

  run('other reads at the same time, and later ones, verify it', async () => {
    const reads = Array.from({ length: 6 }, (_, at) => read(url, { render, skip_tls_verification: at % 2 === 0 }))
    const answers = await Promise.all(reads)
    expect(answers.map(({ code }) => code ?? 'read')).toEqual([
      'read',
      'tls_error',
      'read',
      'tls_error',
      'read',
      'tls_error',
    ])
  })

  run('the answer is not stored for reads that verify it', async () => {
    expect(await read(url, { render, max_age: 600_000, ...accepting })).toMatchObject({ success: true })
    expect(await read(url, { render, max_age: 600_000 })).toMatchObject({ code: 'tls_error' })
  })
})

run('scripts of a page come from such a site only if it is accepted', async () => {
  const markdown = async (input: Partial<Input<'scrape'>>) =>
    (await read(`${site.url}/with-script`, { render: 'browser', ...input })).data?.markdown
  expect(await markdown({})).toBe('A page\n')
  expect(await markdown(accepting)).toBe('A page and a word\n')
})

run('a crawl reads the site, also after an interruption', async () => {
  const { http } = homes.clients
  expect(await http.crawl({ url })).toMatchObject({ success: false, code: 'tls_error' })
  const { id } = await http.crawl({ url, ...accepting, async: true })
  await http.cancelCrawl({ id })
  const { status } = await http.getCrawl({ id })
  if (status === 'cancelled') await http.resumeCrawl({ id })
  await waitUntil(async () => (await http.getCrawl({ id })).status === 'completed')
  const { data } = await http.getCrawl({ id })
  expect(data.map(({ markdown }) => markdown)).toEqual([
    expect.stringContaining('Page /'),
    expect.stringContaining('Page /next'),
  ])
})

run('a crawl that verifies is not compared with one that does not', async () => {
  const { http } = homes.clients
  const { id } = await http.crawl({ url, limit: 1, ...accepting })
  expect(await http.crawl({ url, limit: 1, since: id, ...accepting })).toMatchObject({ success: true })
  expect(await failureOf(http.crawl({ url, limit: 1, since: id }))).toMatchObject({
    code: 'invalid_request',
    message: `since: the crawl ${id} had another value of skip_tls_verification`,
  })
})

/** Calls of operations with the option as it is written for each of them. */
const calls: Readonly<Record<string, (own: Homes, accepts: boolean) => Promise<unknown>>> = {
  map: ({ clients }, accepts) => clients.http.map({ url, skip_tls_verification: accepts }),
  scrapeV2: ({ clients }, accepts) => clients.http.scrapeV2({ url, skip_tls_verification: accepts }),
  mapV2: ({ clients }, accepts) => clients.http.mapV2({ url, skip_tls_verification: accepts }),
  sendRequest: ({ clients }, accepts) => clients.http.sendRequest({ url, skip_tls_verification: accepts }),
  batch: ({ clients }, accepts) =>
    listed(
      clients.http.batchScrape({ urls: [url], skip_tls_verification: accepts }),
      clients.http.getBatch,
      clients.http.getBatchErrors,
    ),
  extract: ({ clients }, accepts) => {
    const scrape_options = { skip_tls_verification: accepts }
    return listed(clients.http.extract({ urls: [url], prompt: 'title', scrape_options }), clients.http.getExtract)
  },
  search: async ({ clients }, accepts) => {
    const formats = ['markdown' as const]
    const { data } = await clients.http.search({ query: 'delta', formats, skip_tls_verification: accepts })
    return data[0]!.content
  },
}

async function listed(
  started: Promise<{ readonly id: string }>,
  get: (input: { id: string }) => Promise<{ readonly status: string }>,
  answer: (input: { id: string }) => Promise<unknown> = get,
): Promise<unknown> {
  const { id } = await started
  await waitUntil(async () => !/processing|scraping/.test((await get({ id })).status))
  return answer({ id })
}

for (const [name, ask] of Object.entries(calls))
  run(`${name} accepts any certificate by request, and where that is allowed`, async () => {
    const answer = async (own: Homes, accepts: boolean) =>
      JSON.stringify(await ask(own, accepts).catch((error: unknown) => String(error)))
    expect(await answer(homes, true)).not.toMatch(/certificate|tls_error/)
    expect(await answer(homes, false)).toMatch(/certificate|tls_error/)
    expect(await answer(strict, true)).toMatch(/skip_?tls_?verification is not allowed: verify_tls is set/i)
    expect(await answer(strict, false)).not.toContain('verify_tls')
  })

run('reads with a session accept it, and pages of the session do not', async () => {
  const { http } = homes.clients
  const { session_id } = await http.createSession({ headless: true })
  const id = session_id!
  try {
    for (const render of ways)
      expect(await read(url, { session_id: id, render, ...accepting })).toMatchObject({ success: true })
    expect(await http.sendRequest({ url, session_id: id, ...accepting })).toMatchObject({ status: 200 })
    expect(await http.sendRequest({ url, session_id: id })).toMatchObject({ success: false, code: 'tls_error' })
    const commands = [{ command: 'navigate_to' as const, data: { url } }]
    expect(await http.runCommands({ session_id: id, commands })).toMatchObject({ results: [{ code: 'tls_error' }] })
  } finally {
    await http.closeSession({ session_id: id })
  }
})

run('a session that accepts any certificate does so in its pages, and in reads and requests with it', async () => {
  const { http } = homes.clients
  const { session_id, warning } = await http.createSession({ headless: true, start_url: url, ...accepting })
  const id = session_id!
  try {
    expect(warning).toBeUndefined()
    expect(await http.getSession({ session_id: id })).toMatchObject({ title: 'Delta', skip_tls_verification: true })
    const commands = [
      { command: 'click' as const, data: { selector: 'text=Next' } },
      { command: 'evaluate' as const, data: { expression: `fetch('/api').then(({ status }) => status)` } },
    ]
    expect(await http.runCommands({ session_id: id, commands })).toMatchObject({
      success: true,
      results: [{}, { data: { result: { value: 200 } } }],
    })
    for (const render of ways) expect(await read(url, { session_id: id, render })).toMatchObject({ success: true })
    expect(await http.sendRequest({ url, session_id: id })).toMatchObject({ status: 200 })
    expect(await http.map({ url, session_id: id })).toMatchObject({ success: true })
    const { script } = await http.getSessionScript({ session_id: id })
    expect(script).toContain('session:\n  skip_tls_verification: true\n')
    const { script: test } = await http.getSessionScript({ session_id: id, format: 'playwright' })
    expect(test).toContain('ignoreHTTPSErrors: true')
  } finally {
    await http.closeSession({ session_id: id })
  }
  expect(await failureOf(strict.clients.http.createSession({ headless: true, ...accepting }))).toMatchObject({
    code: 'invalid_request',
    details: [{ path: 'skip_tls_verification' }],
  })
})

const howSessionsAccept = 'create the session with "skip_tls_verification" (--insecure)'

run('a page that a session refuses says how to create one that accepts it', async () => {
  const { http } = homes.clients
  const commands = [{ command: 'navigate_to' as const, data: { url } }]
  expect(await http.runCommands({ commands })).toMatchObject({
    results: [{ code: 'tls_error', hint: expect.stringContaining(howSessionsAccept) as string }],
  })
  const { session_id, warning } = await http.createSession({ headless: true, start_url: url })
  await http.closeSession({ session_id: session_id! })
  expect(warning).toMatch(/^start_url could not be opened: .*ERR_CERT_/)
  expect(warning).toContain(howSessionsAccept)
})

describe('browser sessions of agents', () => {
  const refused = [true, expect.stringContaining(howSessionsAccept)]
  const opened = [false, expect.stringContaining('Delta')]

  for (const flags of [[], ['--insecure']])
    run(`over bax mcp ${flags.join()}`, async () => {
      const mcp = await connectMcp(flags, {}, ['--server', homes.baseUrl])
      try {
        const { isError = false, text } = await mcp.call('browser_open', { url })
        expect([isError, text]).toEqual(flags.length > 0 ? opened : refused)
      } finally {
        await mcp.close()
      }
    })

  run('read with the field of their tools', async () => {
    const mcp = await connectMcp([], {}, ['--server', homes.baseUrl])
    try {
      for (const tool of ['web_scrape', 'web_map', 'web_crawl']) {
        expect((await mcp.call(tool, { url })).text).toContain('hint: set "skip_tls_verification" to accept any')
        const misplaced = await mcp.call(tool, { url, ...accepting })
        expect(misplaced.text).toContain('did you mean "identity.skip_tls_verification"?')
        expect((await mcp.call(tool, { url, identity: accepting })).isError ?? false).toBe(false)
      }
    } finally {
      await mcp.close()
    }
  })
})

/** Requests with the option as callers write it, and its name in errors. */
const written = [
  ['/v1/scrape', { skip_tls_verification: true }, 'skip_tls_verification'],
  ['/v2/scrape', { skipTlsVerification: true }, 'skipTlsVerification'],
  ['/v2/crawl', { scrapeOptions: { skipTlsVerification: true } }, 'scrapeOptions.skipTlsVerification'],
  ['/request', { skipTlsVerification: true }, 'skipTlsVerification'],
] as const

describe('an engine that verifies certificates', () => {
  for (const [path, fields, name] of written)
    run(`${path} names ${name} as it was written`, async () => {
      const response = await fetch(`${strict.baseUrl}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ url, ...fields }),
      })
      const error = `${name} is not allowed: verify_tls is set for the engine`
      expect([response.status, await response.json()]).toEqual([
        400,
        expect.objectContaining({ code: 'invalid_request', error }),
      ])
    })

  run('does not advise to accept any', async () => {
    expect(await strict.clients.http.scrape({ url })).not.toHaveProperty('hint')
  })
})

run('--insecure accepts it, and errors name the flag', async () => {
  const of = ({ baseUrl }: Homes, ...words: string[]) => bax([...words, '--server', baseUrl])
  for (const words of [
    ['scrape', url],
    ['read', url],
    ['map', url],
    ['crawl', url],
    ['request', url, '--profile', 'none'],
    ['open', url, '-s', 'unverified'],
  ]) {
    if (words[0] !== 'request') expect(await of(homes, ...words, '--insecure')).toMatchObject({ code: 0 })
    const { code, stderr } = await of(strict, ...words, '--insecure')
    expect([code, stderr]).toEqual([2, expect.stringContaining('error: --insecure is not allowed: verify_tls is set')])
  }
  const { stderr } = await of(homes, 'scrape', url)
  expect(stderr).toContain('hint: set "skip_tls_verification" (--insecure)')
})
