import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isByPages, searchNeeds, type SearchProviderName } from '../../src/core/config/search-providers.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import {
  type Hit,
  type ServerMode,
  searchProviderNames,
  type SearchServer,
  serveSearch,
} from '../support/search-server.ts'

/** More than two pages of results for every provider. */
const hits: Hit[] = Array.from({ length: 24 }, (_, at) => ({
  url: `https://delta${at}.example/about?a=1&b=${at}#top`,
  title: `How <b>deltas</b> grow & why it's ${at}`,
  snippet: `Rivers carry <b>sand</b> & silt; part ${at} of "many".`,
}))

let web: SearchServer
let homes: Homes

beforeAll(async () => {
  web = await serveSearch()
  web.setResults(hits)
  homes = await openHomes({ search: web.config(...searchProviderNames) })
})
afterEach(() => web.reset())
afterAll(async () => {
  await homes.close()
  await web.close()
})

const search = (provider: SearchProviderName, input: Record<string, unknown> = {}) =>
  homes.clients.embedded.search({ query: 'river deltas', provider, ...input } as never)
const apis = searchProviderNames.filter((name) => !isByPages(name))
const pages = searchProviderNames.filter(isByPages)
const withKey = searchProviderNames.filter((name) => searchNeeds(name).includes('key'))
const lastAsked = () => web.requests.at(-1)!

describe.each(searchProviderNames)('%s', (provider) => {
  test('returns direct URLs, texts without markup, and positions from 1', async () => {
    const answer = await search(provider, { limit: 5 })
    expect(answer).toMatchObject({ success: true, provider })
    expect(answer).not.toHaveProperty('warning')
    expect(answer.data.map(({ url, position }) => [position, url])).toEqual(
      hits.slice(0, 5).map(({ url }, at) => [at + 1, url]),
    )
    for (const [at, { title, description }] of answer.data.entries()) {
      expect(title).toBe(`How deltas grow & why it's ${at}`)
      expect(description.replace('... ', '')).toBe(`Rivers carry sand & silt; part ${at} of "many".`)
    }
    expect(web.requests.filter((asked) => asked.provider !== provider)).toEqual([])
  })

  test('returns the requested number of results, from several pages if needed', async () => {
    expect((await search(provider, { limit: 1 })).data).toHaveLength(1)
    const { data } = await search(provider, { limit: 20 })
    expect(data.map(({ url }) => url)).toEqual(hits.slice(0, 20).map(({ url }) => url))
    expect(data.at(-1)!.position).toBe(20)
  })

  test('returns an empty list if nothing is found', async () => {
    web.setModes(provider, 'empty')
    expect(await search(provider)).toEqual({ success: true, data: [], provider })
  })

  test('receives the query unchanged', async () => {
    const query = `c++ "template<T>" && <std> ümlaut`
    await search(provider, { query: `  ${query} ` })
    const { query: words, body } = lastAsked()
    expect([...words.values(), ...Object.values(JSON.parse(body || '{}') as object)]).toContain(query)
  })

  test.each<[ServerMode, string, RegExp]>([
    ['down', 'connection_failed', /./],
    ['busy', 'rate_limited', /./],
    ['silent', 'timeout', /the search timed out/],
  ])('%s: returns an error instead of an empty list', async (mode, code, error) => {
    web.setModes(provider, mode)
    // It rejects requests without a reason.
    const known = mode === 'busy' && provider === 'duckduckgo' ? 'provider_blocked' : code
    await expect(search(provider, { timeout: mode === 'silent' ? 500 : 60_000 })).rejects.toMatchObject({
      code: 'search_unavailable',
      status: 503,
      details: [{ provider, code: known, error: expect.stringMatching(error) }],
    })
  })

  test('keeps earlier results when a later page fails', async () => {
    web.setModes(provider, 'ok', 'busy')
    const { data, warning } = await search(provider, { limit: 20 })
    expect(data.length).toBeGreaterThan(0)
    // Some return 20 results at once.
    if (data.length < 20) expect(warning).toMatch(new RegExp(`^${provider} returned only ${data.length} results: `))
  })
})

describe.each(apis)('%s, a JSON API', (provider) => {
  test.each<[ServerMode, RegExp]>([
    ['not json', /its response is not a JSON object/],
    ['unknown format', /its response has an unknown format/],
    ['cut off', /./],
    ['redirects', /it redirects \(status 302\)/],
  ])('%s: returns an error instead of an empty list', async (mode, error) => {
    web.setModes(provider, mode)
    await expect(search(provider)).rejects.toMatchObject({
      code: 'search_unavailable',
      details: [{ provider, error: expect.stringMatching(error) }],
    })
  })
})

describe('API keys', () => {
  const keyOf = (provider: SearchProviderName) => web.config(provider).providers![provider]!.key

  test.each(withKey)('%s: reports a rejected key without showing it', async (provider) => {
    web.setModes(provider, 'rejects')
    const thrown = await search(provider).catch((error: unknown) => error)
    expect(thrown).toMatchObject({
      details: [{ provider, code: 'unauthorized', error: expect.stringMatching(/^it rejected the key/) }],
    })
    expect(JSON.stringify((thrown as { toBody(): unknown }).toBody())).not.toContain(keyOf(provider))
  })

  test.each(withKey)('%s: reports an exhausted quota without showing the key', async (provider) => {
    web.setModes(provider, 'quota used up')
    const thrown = await search(provider).catch((error: unknown) => error)
    expect(thrown).toMatchObject({ details: [{ provider, code: 'rate_limited' }] })
    expect(JSON.stringify((thrown as { toBody(): unknown }).toBody())).not.toContain(keyOf(provider))
  })
})

describe('searxng', () => {
  test('without the JSON format fails with a hint', async () => {
    web.setModes('searxng', 'rejects')
    await expect(search('searxng')).rejects.toMatchObject({
      details: [{ provider: 'searxng', code: 'provider_failed', error: expect.stringContaining('search.formats') }],
    })
  })

  test('reports failures of its own engines as an error', async () => {
    web.setModes('searxng', 'quota used up')
    await expect(search('searxng')).rejects.toMatchObject({
      details: [
        { provider: 'searxng', error: 'its engines did not respond: google: Suspended: CAPTCHA, brave: timeout' },
      ],
    })
  })
})

describe('result pages', () => {
  test.each(pages)('%s: reports a challenge as a blocked provider, not as an empty list', async (provider) => {
    web.setModes(provider, 'rejects')
    await expect(search(provider)).rejects.toMatchObject({
      code: 'search_unavailable',
      hint: expect.stringContaining('BAX_SEARXNG_URL'),
      details: [{ provider, code: 'provider_blocked', error: expect.stringContaining('detected automation') }],
    })
  })

  test.each(pages)('%s: reports an unknown page format as an error', async (provider) => {
    web.setModes(provider, 'not json')
    await expect(search(provider)).rejects.toMatchObject({ details: [{ provider, code: 'provider_failed' }] })
  })

  test('accepts results about captchas', async () => {
    web.setResults([
      {
        url: 'https://captcha.example/',
        title: 'One last step: please solve the challenge below',
        snippet: 'Unfortunately, bots use DuckDuckGo too.',
      },
    ])
    for (const provider of pages) expect((await search(provider)).data).toHaveLength(1)
    web.setResults(hits)
  })

  test("reads DuckDuckGo's lite page, too", async () => {
    const { duckduckgo } = web.config('duckduckgo').providers!
    const url = duckduckgo!.url!.replace('/html/', '/lite/')
    const other = await openHomes({ search: { order: ['duckduckgo'], providers: { duckduckgo: { url } } } })
    try {
      const { data } = await other.clients.embedded.search({ query: 'deltas', limit: 12 })
      expect(data.map(({ url }) => url)).toEqual(hits.slice(0, 12).map(({ url }) => url))
      expect(data[0]).toMatchObject({
        title: "How deltas grow & why it's 0",
        description: 'Rivers carry sand & silt; part 0 of "many".',
      })
    } finally {
      await other.close()
    }
  })

  test('rejects queries above the limit of DuckDuckGo', async () => {
    await expect(search('duckduckgo', { query: 'x'.repeat(600) })).rejects.toMatchObject({
      details: [{ error: 'it accepts queries of at most 499 characters' }],
    })
    expect(web.requests).toEqual([])
  })
})

describe('language, country and period', () => {
  const filters = { lang: 'de', country: 'at', tbs: 'qdr:w' }
  test.each<[SearchProviderName, Record<string, string>]>([
    ['searxng', { language: 'de-AT', time_range: 'week' }],
    ['brave', { search_lang: 'de', country: 'AT', freshness: 'pw' }],
    ['google', { hl: 'de', lr: 'lang_de', gl: 'at', dateRestrict: 'w1' }],
    ['duckduckgo', { kl: 'at-de', df: 'w' }],
    ['bing', { mkt: 'de-AT', setlang: 'de', filters: 'ex1:"ez2"' }],
  ])('%s receives its own parameters', async (provider, words) => {
    await search(provider, filters)
    expect(Object.fromEntries(lastAsked().query)).toMatchObject(words)
  })

  test('serper receives its own parameters', async () => {
    await search('serper', filters)
    expect(JSON.parse(lastAsked().body)).toMatchObject({ hl: 'de', gl: 'at', tbs: 'qdr:w' })
  })

  test('unsupported filters cause a warning', async () => {
    expect((await search('searxng', { tbs: 'qdr:h' })).warning).toBe(
      'searxng cannot filter by hour: these are results of the last day',
    )
    expect((await search('duckduckgo', { lang: 'de' })).warning).toBe(
      'duckduckgo does not support this region: these are results of all regions',
    )
    expect((await search('serper', { tbs: 'qdr:h' })).warning).toBeUndefined()
  })

  test.each([
    ['lang', 'german'],
    ['country', 'Austria'],
    ['tbs', 'qdr:x'],
    ['limit', 21],
    ['limit', 0],
    ['query', '   '],
    ['provider', 'altavista'],
    ['formats', ['pdf']],
  ])('%s %j is rejected', async (field, value) => {
    await expect(search('searxng', { [field]: value })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(field),
    })
    expect(web.requests).toEqual([])
  })
})
