import { isByPages, searchProviderNames } from '../core/config/search-providers.ts'
import { defineOperation } from '../core/operation/operation.ts'
import { type OnAny, onAnySession, onSession } from '../core/operation/placement.ts'
import { scrapeAnswer, type ScrapeInput, scrapeInput } from '../core/shapes/scrape.ts'
import { searchAnswer, searchInput } from '../core/shapes/search.ts'
import { pageFailures } from './browser/sessions.ts'

/** Actions may change the site, so that repeating them could do so twice. */
const hasActions = ({ actions }: { readonly actions: readonly unknown[] }): boolean => actions.length > 0

/** On any worker. Requests that accept cached pages of a URL prefer the same one, because every worker has a cache. */
export const onScraper: OnAny<ScrapeInput> = {
  on: 'any',
  label: 'render',
  once: hasActions,
  affinity: ({ url, max_age }) => (typeof url === 'string' && Number(max_age) > 0 ? url : undefined),
}

/** With a session on its worker. */
export const onScrape = { ...onAnySession, absent: onScraper }

/** Errors of the identity of a read. */
export const identityErrors = ['profile_not_found', 'profile_locked', 'conflict'] as const

/** Errors of the session of a read. */
export const readSessionErrors = ['session_closed', 'unsupported', 'controlled_by_person'] as const

export const scrape = defineOperation({
  summary: 'Scrape a page as Markdown, HTML or data',
  description:
    'Fetches over HTTP first and renders in a browser if necessary (`render`). If a page cannot be loaded, the response is ' +
    '200 with `success: false` and a code; a page with an HTTP error status is a success with `metadata.error` and a ' +
    '`warning`. `formats` selects Markdown, HTML, links, images, JSON, summary, branding, product, ' +
    'attributes and screenshot.',
  http: 'POST /v1/scrape',
  scope: 'scrape',
  runs: onScrape,
  cli: 'scrape <url>',
  example: [
    'bax scrape https://example.com',
    'bax scrape https://example.com --formats markdown,links,screenshot -o page',
    "bax scrape https://example.com --prompt 'title and links of the page'",
    'bax scrape --file urls.txt --ndjson > pages.ndjson',
  ],
  sample: { url: 'https://example.com', formats: ['markdown', 'links'] },
  input: scrapeInput,
  output: scrapeAnswer,
  errors: [
    'timeout',
    'url_blocked',
    'model_not_configured',
    'browser_not_found',
    'browser_failed',
    'dns_failed',
    'connection_failed',
    'tls_error',
    'too_many_redirects',
    'navigation_aborted',
    'navigation_failed',
    'page_crashed',
    'action_failed',
    'content_too_large',
    'unsupported_content_type',
    ...readSessionErrors,
    ...identityErrors,
  ],
  heavy: true,
  run: (engine, input, call) => engine.extractor.scrape(input, call),
})

const apis = searchProviderNames.filter((name) => !isByPages(name))
const pages = searchProviderNames.filter(isByPages)

export const search = defineOperation({
  summary: 'Search the web and scrape the results',
  description:
    `Queries the configured providers in order (${apis.join(', ')}, then the result pages of ${pages.join(' and ')}) ` +
    'until one succeeds. Results whose pages cannot be scraped stay in the list, with the reason in ' +
    '`content.metadata`. If all providers fail, `details` contains the failure of each.',
  http: 'POST /v1/search',
  scope: 'scrape',
  runs: { ...onSession, absent: { on: 'any', label: 'render' } },
  aliases: ['POST /search'],
  cli: 'search <query>',
  example: [
    "bax search 'how river deltas grow'",
    "bax search 'how river deltas grow' --limit 3 --formats markdown",
    "bax search 'flood news' --tbs qdr:w --country DE -o pages",
  ],
  sample: { query: 'how river deltas grow', limit: 3, formats: ['markdown'] },
  input: searchInput,
  output: searchAnswer,
  errors: ['search_unavailable', 'session_closed', 'url_blocked', ...pageFailures],
  heavy: true,
  run: (engine, input, call) => engine.searcher.search(input, call),
})
