import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { call } from '../../src/client/client.ts'
import { isByPages, searchProviderNames } from '../../src/core/config/search-providers.ts'
import type { SearchAnswer } from '../../src/core/shapes/search.ts'
import { startForeignBrowser } from '../support/foreign-browser.ts'
import { type HomeName, type Homes, openHomes, usualHomes } from '../support/homes.ts'
import { type Hit, type SearchServer, serveSearch } from '../support/search-server.ts'
import { type Site, serveSite } from '../support/site.ts'
import { article, pdfOf, respondWith } from '../support/web.ts'

let web: SearchServer
let site: Site
let homes: Homes
const openAnswers: { end(): unknown }[] = []

beforeAll(async () => {
  ;[web, site] = await Promise.all([serveSearch(), serveSite(pages)])
  homes = await openHomes({ search: web.config('searxng', 'brave', 'duckduckgo') })
})
afterEach(() => {
  web.reset()
  site.requests.length = 0
  for (const answer of openAnswers.splice(0)) answer.end()
})
afterAll(async () => {
  await homes.close()
  await Promise.all([web.close(), site.close()])
})

const pages: Parameters<typeof serveSite>[0] = {
  '/deltas': article,
  '/scripted':
    '<!doctype html><title>Scripted</title><div id="root"></div><script>document.getElementById("root").innerHTML = "<main><h1>Made by a script</h1><p>Rivers of code.</p></main>"</script>',
  '/missing': respondWith('text/html', '<title>Gone</title><h1>No such page</h1>', {}, 404),
  '/film': respondWith('video/mp4', Buffer.from([0, 0, 0, 24])),
  '/paper.pdf': respondWith('application/pdf', pdfOf(['Sediment of the delta'])),
  '/slow': (_, response) => void openAnswers.push(response),
  '/who': (request, response) => {
    const { cookie = 'nobody', 'user-agent': agent, 'accept-language': language } = request.headers
    response
      .setHeader('content-type', 'text/html')
      .end(
        `<title>Who</title><main><h1>Seen</h1><p>cookie ${cookie}</p><p>agent ${agent}</p><p>language ${language}</p></main>`,
      )
  },
  '/data.json': respondWith('application/json', '{"river": "Nile"}'),
  '/away': respondWith('text/html', '', { location: '/deltas' }, 302),
  '/crash': '<!doctype html><title>Popup</title><script>open("/who")</script><p>Opens another.</p>',
  '/loading': '<!doctype html><title>Loading</title><p>Before</p><script src="/slow"></script>',
  '/hang':
    '<!doctype html><title>Hang</title><p>Before</p><script>addEventListener("load", () => setTimeout(() => { for (;;); }))</script>',
}

/** Makes the providers return pages of the site. */
function setResults(...paths: string[]): string[] {
  const urls = paths.map((path) => (path.startsWith('http') ? path : `${site.url}${path}`))
  web.setResults(urls.map((url, at): Hit => ({ url, title: `Page ${at}`, snippet: `Snippet ${at}` })))
  return urls
}

describe.each(usualHomes)('search through %s', (home: HomeName) => {
  const search = (input: Record<string, unknown> = {}) =>
    homes.clients[home].search({ query: 'deltas', ...input } as never)

  test.each(['POST /v1/search', 'POST /search'])('%s returns results without their pages', async (http) => {
    const [url] = setResults('/deltas', '/film')
    const answer = await call(homes.transports[home], http, { query: 'deltas', limit: 1 })
    expect(answer).toEqual({
      success: true,
      data: [{ url, title: 'Page 0', description: 'Snippet 0', position: 1 }],
      provider: 'searxng',
    })
    expect(site.requests).toEqual([])
  })

  test('scrapes every result, in the order of the results', async () => {
    const urls = setResults('/scripted', '/deltas', '/paper.pdf', '/away')
    const { data, warning } = await search({ formats: ['markdown', 'links'] })
    expect(data.map(({ url, position }) => [position, url])).toEqual(urls.map((url, at) => [at + 1, url]))
    const [scripted, deltas, paper, away] = data.map(({ content }) => content!)
    expect(scripted!.markdown).toContain('# Made by a script')
    expect(deltas!.markdown).toContain('# How deltas grow')
    expect(deltas!.links!.map(({ text }) => text)).toContain('sediment')
    expect(deltas!.metadata).toMatchObject({ sourceURL: urls[1], status_code: 200, title: 'How deltas grow' })
    expect(paper!.markdown).toContain('Sediment of the delta')
    expect(away!.metadata).toMatchObject({ sourceURL: urls[3], url: urls[1] })
    expect(warning).toBeUndefined()
  })

  test('keeps results whose pages cannot be scraped', async () => {
    const urls = setResults('/film', '/deltas', '/missing', 'http://127.0.0.1:1/')
    const { success, data } = await search({ formats: ['markdown'] })
    expect(success).toBe(true)
    expect(data.map(({ url }) => url)).toEqual(urls)
    const contents = data.map(({ content }) => content!)
    expect(contents[0]).toEqual({
      metadata: { sourceURL: urls[0], code: 'unsupported_content_type', error: expect.any(String) },
    })
    expect(contents[1]!.metadata).not.toHaveProperty('error')
    expect(contents[2]).toMatchObject({
      markdown: expect.stringContaining('No such page'),
      metadata: { sourceURL: urls[2], status_code: 404, error: 'Not Found', code: 'navigation_failed' },
    })
    expect(contents[3]!.metadata).toMatchObject({
      sourceURL: urls[3],
      error: expect.any(String),
      code: expect.stringMatching(/^(url_blocked|connection_failed)$/),
    })
  })

  test('uses the next provider when one fails, with a warning', async () => {
    const [url] = setResults('/deltas')
    web.setModes('searxng', 'down')
    const answer = await search()
    expect(answer).toMatchObject({ provider: 'brave', data: [{ url }] })
    expect(answer.warning).toMatch(/^searxng failed: /)
    web.setModes('brave', 'rejects')
    expect(await search()).toMatchObject({ provider: 'duckduckgo', data: [{ url }] })
  })

  test('does not ask other providers when nothing is found', async () => {
    web.setModes('searxng', 'empty')
    expect(await search({ formats: ['markdown'] })).toEqual({ success: true, data: [], provider: 'searxng' })
    expect(web.requests.map(({ provider }) => provider)).toEqual(['searxng'])
  })

  test('returns 503 with all failures when every provider fails', async () => {
    web.setModes('searxng', 'not json')
    web.setModes('brave', 'busy')
    web.setModes('duckduckgo', 'rejects')
    await expect(search()).rejects.toMatchObject({
      code: 'search_unavailable',
      status: 503,
      exit: 3,
      message: expect.stringContaining('brave: its rate limit is reached'),
      details: [
        { provider: 'searxng', code: 'provider_failed', error: expect.any(String) },
        { provider: 'brave', code: 'rate_limited', error: expect.any(String) },
        { provider: 'duckduckgo', code: 'provider_blocked', error: expect.any(String) },
      ],
    })
  })

  test('scrapes in tabs of a session with its cookies, and leaves the session unchanged', async () => {
    const client = homes.clients[home]
    const { session_id = '' } = await client.createSession({
      user_agent: 'delta-reader/1',
      start_url: `${site.url}/deltas`,
    })
    await client.runCommands({
      session_id,
      commands: [{ command: 'set_cookie', data: { name: 'user', value: 'ann', domain: '127.0.0.1' } }],
    })
    const urls = setResults('/who', '/film', '/paper.pdf', '/crash', '/data.json', '/away', '/missing')
    const { data } = await search({ formats: ['markdown', 'rawHtml'], session_id, limit: 10 })
    expect(data.map(({ url }) => url)).toEqual(urls)
    const [who, film, paper, popup, river, away, missing] = data.map(({ content }) => content!)
    expect(who!.markdown).toContain('cookie user=ann')
    expect(who!.markdown).toContain('agent delta-reader/1')
    expect(who!.rawHtml).toContain('<title>Who</title>')
    expect(film!.metadata).toMatchObject({ code: 'unsupported_content_type' })
    expect(paper!.markdown).toContain('Sediment of the delta')
    expect(popup!.markdown).toContain('Opens another')
    expect(river!.markdown).toContain('"river": "Nile"')
    expect(away!.metadata).toMatchObject({
      url: `${site.url}/deltas`,
      redirects: [{ url: `${site.url}/away`, status: 302 }],
    })
    expect(missing!.metadata).toMatchObject({ status_code: 404, error: 'Not Found', code: 'navigation_failed' })
    const session = await client.getSession({ session_id })
    expect(session).toMatchObject({ tabs: 1, url: `${site.url}/deltas` })
    const { results } = await client.runCommands({ session_id, commands: [{ command: 'get_title' }] })
    expect(results[0]).toMatchObject({ data: { result: { value: 'How deltas grow' } } })
    await client.closeSession({ session_id })
  })

  test('reads results in the languages of a location, as Firecrawl does', async () => {
    setResults('/who')
    const { data } = await search({ scrapeOptions: { formats: ['markdown'], location: { country: 'AT' } } })
    expect(data[0]!.content!.markdown).toContain('language de-AT')
  })

  test('keeps an identity beside scrape_options that have none', async () => {
    setResults('/who')
    const seen = async (agents: object) => {
      const { data } = await search({ user_agent: 'Reader/1.0', scrape_options: { formats: ['markdown'], ...agents } })
      return data[0]!.content!.markdown
    }
    expect(await seen({})).toContain('agent Reader/1.0')
    expect(await seen({ user_agent: 'Reader/2.0' })).toContain('agent Reader/2.0')
  })

  test('rejects an identity for a session, which has its own', async () => {
    const own = search({ session_id: 'ses_nobody', formats: ['markdown'], locale: 'de-AT' })
    await expect(own).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'session_id cannot be combined with locale',
    })
  })

  test('rejects an unknown or closed session before any request', async () => {
    await expect(search({ session_id: 'ses_nobody' })).rejects.toMatchObject({ code: 'session_not_found', status: 404 })
    const { session_id = '' } = await homes.clients[home].createSession({})
    await homes.clients[home].closeSession({ session_id })
    await expect(search({ session_id, formats: ['markdown'] })).rejects.toMatchObject({
      code: 'session_closed',
    })
    expect(web.requests).toEqual([])
  })
})

describe('search', () => {
  const search = (input: Record<string, unknown>) =>
    homes.clients.embedded.search({ query: 'deltas', ...input } as never)

  test('accepts the requests of Firecrawl’s clients', async () => {
    setResults('/deltas')
    const body = {
      query: 'deltas',
      scrapeOptions: {
        formats: ['markdown', { type: 'json', schema: { type: 'object', properties: { title: { type: 'string' } } } }],
        onlyMainContent: false,
      },
    }
    const { data } = (await call(homes.transports.embedded, 'POST /v1/search', body, { strict: true })) as SearchAnswer
    expect(data[0]!.content!.markdown).toContain('All rights reserved')
    expect(data[0]!.content!.json).toHaveProperty('title')
  })

  test('passes scrape options on', async () => {
    setResults('/deltas')
    const whole = await search({ formats: ['markdown'], only_main_content: false })
    expect(whole.data[0]!.content!.markdown).toContain('All rights reserved')
    const { data } = await search({
      formats: ['json'],
      json_options: { schema: { type: 'object', properties: { title: { type: 'string' } } } },
    })
    expect(data[0]!.content!.json).toEqual({ title: 'How deltas grow' })
    const shot = await search({ formats: ['screenshot'] })
    expect(Buffer.from(shot.data[0]!.content!.screenshot!, 'base64').subarray(1, 4).toString()).toBe('PNG')
  })

  test('rejects invalid scrape options before any request', async () => {
    await expect(search({ formats: ['screenshot'], render: 'http' })).rejects.toMatchObject({ code: 'invalid_request' })
    expect(web.requests).toEqual([])
  })

  test('reports a provider that is not configured', async () => {
    await expect(search({ provider: 'serper' })).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'serper is not set up in this engine',
      hint: 'set BAX_SERPER_KEY where the engine is started',
    })
  })

  test('ends at its timeout, and reports unfinished pages', async () => {
    const urls = setResults('/deltas', '/slow')
    const { data } = await search({ formats: ['markdown'], timeout: 8000 })
    expect(data[0]!.content!.markdown).toContain('# How deltas grow')
    expect(data[1]!.content).toEqual({ metadata: { sourceURL: urls[1], code: 'timeout', error: expect.any(String) } })
  })

  test('is cancelled when its caller disconnects', async () => {
    web.setModes('searxng', 'silent')
    const controller = new AbortController()
    const searching = homes.clients.http.search({ query: 'deltas' }, { signal: controller.signal })
    await expect.poll(() => web.requests.length).toBe(1)
    controller.abort()
    await expect(searching).rejects.toThrow()
    expect(web.requests.map(({ provider }) => provider)).toEqual(['searxng'])
  })

  test('takes screenshots and branding in tabs of a session, and reads pages that hang', async () => {
    const client = homes.clients.embedded
    const { session_id = '' } = await client.createSession({})
    setResults('/deltas', '/hang')
    const { data } = await search({ session_id, formats: ['screenshot', 'branding', 'markdown'] })
    expect(Buffer.from(data[0]!.content!.screenshot!, 'base64').subarray(1, 4).toString()).toBe('PNG')
    expect(data[0]!.content!.branding).toMatchObject({ brandName: 'River News' })
    expect(data[1]!.content).toMatchObject({ markdown: 'Before\n', metadata: { status_code: 200 } })
    expect(await client.getSession({ session_id })).toMatchObject({ tabs: 1, url: 'about:blank' })
    await client.closeSession({ session_id })
  })

  test("keeps the session's own tab when a page crashes", async () => {
    const browser = await startForeignBrowser()
    const client = homes.clients.embedded
    const { session_id = '' } = await client.createSession({ cdp_url: browser.url, start_url: `${site.url}/deltas` })
    const urls = setResults('/loading')
    const searching = search({ session_id, formats: ['markdown'] })
    await expect.poll(() => openAnswers.length).toBe(1)
    expect(await client.getSession({ session_id })).toMatchObject({ tabs: 1, url: `${site.url}/deltas` })
    await browser.crash('/loading')
    const { data } = await searching
    expect(data[0]!.content!.metadata).toMatchObject({ sourceURL: urls[0], code: 'page_crashed' })
    const { results } = await client.runCommands({ session_id, commands: [{ command: 'get_title' }] })
    expect(results[0]).toMatchObject({ data: { result: { value: 'How deltas grow' } } })
    await client.closeSession({ session_id })
    await browser.close()
  })

  test('waits for a busy session until its timeout', async () => {
    const client = homes.clients.embedded
    const { session_id = '' } = await client.createSession({ start_url: `${site.url}/deltas` })
    const [url] = setResults('/deltas')
    const controller = new AbortController()
    const fetching = { command: 'evaluate', data: { expression: 'fetch("/slow")' } } as const
    const busy = homes.clients.http.runCommands({ session_id, commands: [fetching] }, { signal: controller.signal })
    busy.catch(() => {})
    await expect.poll(() => openAnswers.length).toBe(1)
    const { data } = await search({ session_id, formats: ['markdown'], timeout: 8000 })
    expect(data).toMatchObject([
      {
        url,
        content: {
          metadata: { sourceURL: url, code: 'timeout', error: expect.stringContaining('the search timed out') },
        },
      },
    ])
    controller.abort()
    await client.closeSession({ session_id })
  })

  test('reports every page when the session ends meanwhile', async () => {
    const client = homes.clients.embedded
    const { session_id = '' } = await client.createSession({})
    const urls = setResults('/slow', '/slow?2')
    const searching = search({ session_id, formats: ['markdown'] })
    await expect.poll(() => openAnswers.length).toBe(2)
    await client.closeSession({ session_id })
    const { success, data } = await searching
    expect(success).toBe(true)
    expect(data.map(({ content }) => content!.metadata)).toEqual(
      urls.map((sourceURL) => ({ sourceURL, code: 'session_closed', error: expect.stringContaining('it was closed') })),
    )
  })

  test('without a configuration uses the result pages', async () => {
    const bare = await openHomes({ browser: '/nonexistent/browser' })
    try {
      await expect(bare.clients.embedded.search({ query: 'deltas' })).rejects.toMatchObject({
        code: 'search_unavailable',
        hint: expect.stringContaining('BAX_SEARXNG_URL'),
        details: searchProviderNames.filter(isByPages).map((provider) => ({ provider })),
      })
    } finally {
      await bare.close()
    }
  })
})
