/** The JSON APIs of SearXNG, Brave, Serper and Google's Custom Search: routes, checks, responses and errors. */
import type { IncomingMessage } from 'node:http'
import type { SearchAccess } from '../../src/core/config/search-providers.ts'

/** A page that the search engines return. Texts may have `<b>` around words, like the marked matches of engines. */
export interface Hit {
  readonly url: string
  readonly title: string
  readonly snippet: string
}

export interface Answer {
  readonly status?: number
  readonly type?: string
  readonly body: string
}

/** A request that an engine received. */
export interface EngineRequest {
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** How an engine responds. */
export type ResponseMode = 'ok' | 'empty' | 'rejects' | 'busy' | 'quota used up'

export interface Engine {
  /** Path of the URL in its settings. */
  readonly path?: string
  /** Its settings, besides the URL. */
  readonly access?: Pick<SearchAccess, 'key' | 'cx'>
  /** Returns undefined for unknown routes. */
  answer(request: EngineRequest, hits: readonly Hit[], mode: ResponseMode): Answer | undefined
}

export const keys = {
  brave: 'BSA-test-key-0123456789',
  serper: 'serper-test-key-0123456789',
  google: 'AIza-test-key-0123456789',
  cx: '017576662512468239146:omuauf_lfve',
}

const json = (value: unknown, status = 200): Answer => ({
  status,
  type: 'application/json',
  body: JSON.stringify(value),
})

const plain = (text: string): string => text.replaceAll(/<\/?b>/g, '')
const marked = (text: string): string => text.replaceAll('&', '&amp;').replaceAll(/<(\/?)b>/g, '<$1strong>')

export const searxng: Engine = {
  answer({ path, query }, hits, mode) {
    if (path !== '/search') return undefined
    const forbidden = (status: number, title: string) => ({
      status,
      type: 'text/html; charset=utf-8',
      body: `<!doctype html>\n<html lang=en>\n<title>${status} ${title}</title>\n<h1>${title}</h1>\n`,
    })
    // Response of an instance whose settings do not list the format.
    if (mode === 'rejects' || query.get('format') !== 'json') return forbidden(403, 'Forbidden')
    if (mode === 'busy') return forbidden(429, 'Too Many Requests')
    const page = Number(query.get('pageno') ?? 1)
    const shown = mode === 'ok' ? hits.slice((page - 1) * 10, page * 10) : []
    return json({
      query: query.get('q'),
      number_of_results: 0,
      results: shown.map(({ url, title, snippet }, at) => ({
        url,
        title: plain(title),
        content: plain(snippet),
        publishedDate: null,
        thumbnail: null,
        engine: 'google',
        template: 'default.html',
        parsed_url: [new URL(url).protocol.slice(0, -1), new URL(url).host, new URL(url).pathname, '', '', ''],
        img_src: '',
        priority: '',
        engines: ['google', 'brave'],
        positions: [at + 1],
        score: 2 / (at + 1),
        category: 'general',
      })),
      answers: [],
      corrections: [],
      infoboxes: [],
      suggestions: [],
      // Engines that timed out or rejected the request; the status is still 200.
      unresponsive_engines:
        mode === 'quota used up'
          ? [
              ['google', 'Suspended: CAPTCHA'],
              ['brave', 'timeout'],
            ]
          : [],
    })
  },
}

const braveError = (status: number, code: string, detail: string, component: string): Answer =>
  json(
    {
      type: 'ErrorResponse',
      error: { id: '5d832250-9396-4f6e-b84a-2a1fe524cd7d', status, code, detail, meta: { component } },
      time: 1_763_712_000,
    },
    status,
  )

export const brave: Engine = {
  access: { key: keys.brave },
  answer({ path, query, headers }, hits, mode) {
    if (path !== '/res/v1/web/search') return undefined
    const invalid = braveError(
      422,
      'SUBSCRIPTION_TOKEN_INVALID',
      'The provided subscription token is invalid.',
      'authentication',
    )
    if (mode === 'rejects' || headers['x-subscription-token'] !== keys.brave) return invalid
    if (mode === 'busy') return braveError(429, 'RATE_LIMITED', 'Request rate limit exceeded for plan.', 'rate_limiter')
    if (mode === 'quota used up')
      return braveError(402, 'QUOTA_EXCEEDED', `Quota of ${keys.brave} is used up.`, 'billing')
    const [count, offset] = [Number(query.get('count') ?? 20), Number(query.get('offset') ?? 0)]
    if (count > 20 || offset > 9)
      return braveError(422, 'VALIDATION', 'Unable to validate request parameter(s)', 'validation')
    const shown = mode === 'ok' ? hits.slice(offset * count, (offset + 1) * count) : []
    return json({
      query: {
        original: query.get('q'),
        show_strict_warning: false,
        is_navigational: false,
        country: (query.get('country') ?? 'us').toLowerCase(),
        bad_results: false,
        more_results_available: mode === 'ok' && hits.length > (offset + 1) * count,
      },
      mixed: { type: 'mixed', main: shown.map((_, index) => ({ type: 'web', index, all: false })), top: [], side: [] },
      type: 'search',
      // The section is missing without results.
      ...(shown.length > 0 && { web: { type: 'search', results: shown.map(braveResult), family_friendly: true } }),
    })
  },
}

const braveResult = ({ url, title, snippet }: Hit) => ({
  title: marked(title),
  url,
  is_source_local: false,
  is_source_both: false,
  description: marked(snippet),
  page_age: '2026-08-01T08:00:00',
  profile: { name: new URL(url).host, url, long_name: new URL(url).host, img: 'https://imgs.search.brave.com/x' },
  language: 'en',
  family_friendly: true,
  type: 'search_result',
  subtype: 'generic',
  meta_url: { scheme: 'https', netloc: new URL(url).host, hostname: new URL(url).hostname, favicon: '', path: '' },
  age: 'August 1, 2026',
})

export const serper: Engine = {
  access: { key: keys.serper },
  answer({ path, headers, body }, hits, mode) {
    if (path !== '/search') return undefined
    if (mode === 'rejects' || headers['x-api-key'] !== keys.serper)
      return json({ message: 'Unauthorized.', statusCode: 403 }, 403)
    if (mode === 'busy') return json({ message: 'Too many requests', statusCode: 429 }, 429)
    if (mode === 'quota used up') return json({ message: 'Not enough credits', statusCode: 400 }, 400)
    const { q, num = 10, page = 1, ...rest } = JSON.parse(body) as { q: string; num?: number; page?: number }
    const shown = mode === 'ok' ? hits.slice((page - 1) * num, page * num) : []
    return json({
      searchParameters: { q, gl: 'us', hl: 'en', ...rest, type: 'search', page, num, engine: 'google' },
      organic: shown.map(({ url, title, snippet }, at) => ({
        title: plain(title),
        link: url,
        snippet: plain(snippet),
        ...(at === 0 && { sitelinks: [{ title: 'More', link: `${url}/more` }], date: 'Aug 1, 2026' }),
        position: at + 1,
      })),
      peopleAlsoAsk: [{ question: 'Why?', snippet: 'Because.', title: 'Why', link: 'https://why.example/' }],
      relatedSearches: [{ query: `${q} explained` }],
      credits: 1,
    })
  },
}

const googleError = (code: number, message: string, reason: string, status: string): Answer =>
  json(
    {
      error: {
        code,
        message,
        errors: [{ message, domain: 'global', reason }],
        status,
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason,
            domain: 'googleapis.com',
            metadata: { service: 'customsearch.googleapis.com' },
          },
        ],
      },
    },
    code,
  )

export const google: Engine = {
  access: { key: keys.google, cx: keys.cx },
  answer({ path, query }, hits, mode) {
    if (path !== '/customsearch/v1') return undefined
    if (mode === 'rejects' || query.get('key') !== keys.google)
      return googleError(400, 'API key not valid. Please pass a valid API key.', 'API_KEY_INVALID', 'INVALID_ARGUMENT')
    if (mode === 'busy')
      return googleError(
        429,
        `Quota exceeded for quota metric 'Queries' and limit 'Queries per day' of service 'customsearch.googleapis.com' for consumer 'project_number:42'.`,
        'rateLimitExceeded',
        'RESOURCE_EXHAUSTED',
      )
    if (mode === 'quota used up')
      return googleError(403, 'Daily Limit Exceeded', 'dailyLimitExceeded', 'PERMISSION_DENIED')
    const [num, start] = [Number(query.get('num') ?? 10), Number(query.get('start') ?? 1)]
    if (num > 10 || start + num > 101 || query.get('cx') !== keys.cx)
      return googleError(400, 'Request contains an invalid argument.', 'badRequest', 'INVALID_ARGUMENT')
    const shown = mode === 'ok' ? hits.slice(start - 1, start - 1 + num) : []
    const about = {
      title: `Google Custom Search - ${query.get('q')}`,
      totalResults: String(mode === 'ok' ? hits.length : 0),
      searchTerms: query.get('q'),
      count: shown.length,
      startIndex: start,
      inputEncoding: 'utf8',
      outputEncoding: 'utf8',
      safe: 'off',
      cx: keys.cx,
    }
    return json({
      kind: 'customsearch#search',
      url: { type: 'application/json', template: 'https://www.googleapis.com/customsearch/v1?q={searchTerms}' },
      queries: {
        request: [about],
        ...(mode === 'ok' && hits.length >= start + num && { nextPage: [{ ...about, startIndex: start + num }] }),
      },
      context: { title: 'The web' },
      searchInformation: {
        searchTime: 0.21,
        formattedSearchTime: '0.21',
        totalResults: about.totalResults,
        formattedTotalResults: about.totalResults,
      },
      // The list is missing without results.
      ...(shown.length > 0 && { items: shown.map(googleItem) }),
    })
  },
}

const googleItem = ({ url, title, snippet }: Hit) => ({
  kind: 'customsearch#result',
  title: plain(title),
  htmlTitle: title,
  link: url,
  displayLink: new URL(url).host,
  // Lines are broken, with non-breaking spaces.
  snippet: plain(snippet).replace(/ (\S+)$/, '\u00a0...\n$1'),
  htmlSnippet: snippet,
  formattedUrl: url,
  htmlFormattedUrl: url,
  pagemap: { metatags: [{ 'og:title': plain(title) }] },
})
