/** Web search: queries the providers, and optionally scrapes the pages of the results. */
import type { Caller } from '../../core/access/caller.ts'
import type { Log } from '../../core/config/config.ts'
import type { ProxySettings } from '../../core/config/proxy-settings.ts'
import { type SearchConfig, searchOrder, type SearchProviderName } from '../../core/config/search-providers.ts'
import type { Searcher } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { assertMaySkipTls, type TlsRule } from '../../core/errors/certificates.ts'
import { identityFieldIn } from '../../core/identity.ts'
import { limits } from '../../core/limits/limits.ts'
import { scrapeInput } from '../../core/shapes/scrape.ts'
import type { SearchAnswer, SearchInput } from '../../core/shapes/search.ts'
import { treeFromHtml } from '../extract/html-tree.ts'
import type { LiveSession } from '../browser/ports/session.ts'
import type { LazyScraper } from '../scrape/lazy-scraper.ts'
import { checkOptionsOf, planScrape } from '../scrape/plan.ts'
import { queryProviders, checkProvider } from './query-providers.ts'
import { type ScrapeContext, contentsOf, scrapeOptions } from './contents.ts'
import { loadProvider, type Period, type SearchQuery } from './provider.ts'
import type { OpenResults } from './result-document.ts'

export interface SearchContext extends TlsRule {
  readonly config: SearchConfig
  /** Proxies of requests to an API. */
  readonly proxies?: ProxySettings | undefined
  readonly log: Log
  readonly scraper: Pick<LazyScraper, 'scrape' | 'scrapeFrom'>
  /** Returns a session by ID or name. @throws BaxError `session_not_found` or `session_closed` */
  readonly live: (idOrName: string, caller: Caller) => LiveSession
}

/** Runs a search; see `Searcher`. */
export async function searchWeb(
  context: SearchContext,
  input: SearchInput,
  { signal, caller }: Parameters<Searcher['search']>[1],
): Promise<SearchAnswer> {
  const options = scrapeOptions(input)
  const scrapes = options.formats.length > 0
  // Reject invalid scrape options before any request.
  if (scrapes) await checkOptionsOf(planScrape({ ...options, url: 'https://page.invalid' }))
  assertMaySkipTls(options, context)
  const { scraper, log } = context
  const own = input.session_id === undefined ? undefined : identityFieldIn(options)
  if (own !== undefined)
    throw new BaxError('invalid_request', `session_id cannot be combined with ${own}`, {
      hint: 'leave out one of them: a session has an identity of its own',
      details: [{ path: own, message: 'cannot be combined with session_id' }],
    })
  const session = input.session_id === undefined ? undefined : context.live(input.session_id, caller)
  const deadline = performance.now() + input.timeout
  const { provider, results, warnings } = await askProviders(context, input, { signal, caller })
  const data = results.map((result, at) => ({ ...result, position: at + 1 }))
  if (!scrapes) {
    const unused = identityFieldIn(options)
    const warning = `${unused} has no effect without formats: it is for the pages of the results`
    return answer(provider, data, unused === undefined ? warnings : [...warnings, warning])
  }
  const urls = data.map(({ url }) => url)
  const scraping = (scrape: ScrapeContext['scrape'], concurrency: number) =>
    contentsOf(urls, options, { signal, deadline, scrape, concurrency })
  const { tabs, concurrency } = limits.search
  const inSession = async (live: LiveSession) =>
    (await import('./session-tabs.ts')).inSessionTabs(live, { scraper, signal, deadline, log }, (scrape) =>
      scraping(scrape, tabs),
    )
  const scraped = session
    ? await inSession(session)
    : await scraping((page, call) => scraper.scrape(page, { ...call, caller }), concurrency)
  const withContents = data.map((result, at) => ({ ...result, content: scraped.contents[at]! }))
  return answer(provider, withContents, [...warnings, ...scraped.warnings])
}

async function askProviders(
  { config, proxies, scraper }: SearchContext,
  input: SearchInput,
  { signal, caller }: Parameters<Searcher['search']>[1],
) {
  if (input.provider) checkProvider(input.provider, config)
  const names = input.provider ? [input.provider] : searchOrder(config)
  const clock = new AbortController()
  const late = () => clock.abort(new BaxError('timeout', `the search timed out after ${input.timeout} ms`))
  const timer = setTimeout(late, input.timeout)
  try {
    const open = resultsOpener(scraper, caller)
    const load = (name: SearchProviderName) => loadProvider(name, config.providers?.[name] ?? {}, open, proxies)
    const providers = await Promise.all(names.map(load))
    return await queryProviders(providers, questionOf(input), { caller: signal, clock: clock.signal })
  } finally {
    clearTimeout(timer)
  }
}

/** Returns a function that opens result pages in a browser. Reads them as sent, because scripts change their structure. */
const resultsOpener =
  (scraper: SearchContext['scraper'], caller: Caller): OpenResults =>
  async (url, signal) => {
    const input = scrapeInput.parse({ url, formats: ['rawHtml'], render: 'browser', only_main_content: false })
    const { data, error, code } = await scraper.scrape(input, { signal, caller })
    const html = data?.rawHtml
    if (html === undefined)
      throw new BaxError('provider_failed', `its result page could not be loaded${error ? `: ${error} [${code}]` : ''}`)
    const { status_code: status = 200, url: finalUrl = url } = data?.metadata ?? {}
    return { tree: treeFromHtml(html, finalUrl), status }
  }

function questionOf({ query, limit, lang, country, tbs }: SearchInput): SearchQuery {
  return {
    query: query.trim(),
    limit,
    ...(lang && { lang: lang.toLowerCase() }),
    ...(country && { country: country.toLowerCase() }),
    ...(tbs && { period: tbs.slice('qdr:'.length) as Period }),
  }
}

const answer = (
  provider: SearchProviderName,
  data: SearchAnswer['data'],
  warnings: readonly string[],
): SearchAnswer => ({ success: true, data, provider, ...(warnings.length > 0 && { warning: warnings.join('; ') }) })
