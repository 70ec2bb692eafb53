/** Web search: queries the providers, and optionally scrapes the pages of the results. */
import { type Caller, keylessCaller } from '../../core/access/caller.ts'
import type { SearchConfig } from '../../core/config/search-providers.ts'
import type { Scraper, Searcher } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { type SearchProviderName, searchOrder } from '../../core/config/search-providers.ts'
import { scrapeInput } from '../../core/shapes/scrape.ts'
import type { SearchAnswer, SearchInput } from '../../core/shapes/search.ts'
import { treeFromHtml } from '../extract/html-tree.ts'
import { checkSchemaOf, planScrape } from '../scrape/plan.ts'
import { queryProviders, checkProvider } from './query-providers.ts'
import { type ScrapeContext, contentsOf, scrapeOptions } from './contents.ts'
import type { Period, SearchQuery } from './provider.ts'
import { bing } from './providers/bing.ts'
import { brave } from './providers/brave.ts'
import { duckduckgo } from './providers/duckduckgo.ts'
import { google } from './providers/google.ts'
import { searxng } from './providers/searxng.ts'
import { serper } from './providers/serper.ts'
import type { OpenResults } from './result-document.ts'

const providers = { searxng, brave, serper, google, duckduckgo, bing }

type Scrape = ScrapeContext['scrape']
type SearchCall = Parameters<Searcher['search']>[1]

/** Runs `work` with a function that scrapes in tabs of one session. */
type SessionScraping = <T>(limits: ScrapeLimits, work: (scrape: Scrape) => Promise<T>) => Promise<T>
type ScrapeLimits = Pick<ScrapeContext, 'signal' | 'deadline'>

export interface SearchContext {
  readonly config: SearchConfig
  readonly scrape: Scraper['scrape']
  /** @throws BaxError `session_not_found` or `session_closed`. */
  readonly session: (sessionId: string, caller: Caller) => SessionScraping
}

export class WebSearch implements Searcher {
  readonly #context: SearchContext

  constructor(context: SearchContext) {
    this.#context = context
  }

  async search(input: SearchInput, { signal, caller }: SearchCall): Promise<SearchAnswer> {
    const options = scrapeOptions(input)
    const scrapes = options.formats.length > 0
    // Reject invalid scrape options before any request.
    if (scrapes) await checkSchemaOf(planScrape({ ...options, url: 'https://page.invalid' }))
    const session = input.session_id === undefined ? undefined : this.#context.session(input.session_id, caller)
    const deadline = performance.now() + input.timeout
    const { provider, results, warnings } = await this.#ask(input, signal)
    const data = results.map((result, at) => ({ ...result, position: at + 1 }))
    if (!scrapes) return answer(provider, data, warnings)
    const common = { signal, deadline }
    const urls = data.map(({ url }) => url)
    const scraping = (scrape: Scrape, concurrency: number) => contentsOf(urls, options, { ...common, scrape, concurrency }) // prettier-ignore
    const { search: max } = limits
    const scraped = session
      ? await session(common, (scrape) => scraping(scrape, max.tabs))
      : await scraping((page, call) => this.#context.scrape(page, { ...call, caller }), max.concurrency)
    const withContents = data.map((result, at) => ({ ...result, content: scraped.contents[at]! }))
    return answer(provider, withContents, [...warnings, ...scraped.warnings])
  }

  async #ask(input: SearchInput, caller: AbortSignal) {
    const { config } = this.#context
    if (input.provider) checkProvider(input.provider, config)
    const names = input.provider ? [input.provider] : searchOrder(config)
    const clock = new AbortController()
    const late = () => clock.abort(new BaxError('timeout', `the search timed out after ${input.timeout} ms`))
    const timer = setTimeout(late, input.timeout)
    try {
      return await queryProviders(
        names.map((name) => providers[name](config.providers?.[name] ?? {}, this.#openResults)),
        questionOf(input),
        { caller, clock: clock.signal },
      )
    } finally {
      clearTimeout(timer)
    }
  }

  /** Opens a result page in a browser. Reads it as sent, because scripts change its structure. */
  readonly #openResults: OpenResults = async (url, signal) => {
    const input = scrapeInput.parse({ url, formats: ['rawHtml'], render: 'browser', only_main_content: false })
    const { data, error, code } = await this.#context.scrape(input, { signal, caller: keylessCaller })
    const html = data?.rawHtml
    if (html === undefined) throw new BaxError('provider_failed', `its result page could not be loaded${error ? `: ${error} [${code}]` : ''}`) // prettier-ignore
    const { status_code: status = 200, url: finalUrl = url } = data?.metadata ?? {}
    return { tree: treeFromHtml(html, finalUrl), status }
  }
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
