/** One search from request to results. */
import { type Caller, everybody } from '../../core/access/caller.ts'
import type { SearchConfig } from '../../core/config/config.ts'
import type { Scraper, Searcher } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { type SearchProviderName, searchOrder } from '../../core/config/search-providers.ts'
import { scrapeInput } from '../../core/shapes/scrape.ts'
import type { SearchAnswer, SearchInput } from '../../core/shapes/search.ts'
import { treeFromHtml } from '../extract/html-tree.ts'
import { checkSchemaOf, planScrape } from '../scrape/plan.ts'
import { ask, checkProvider } from './ask.ts'
import { type ContentMeans, contentsOf, scrapeWishes } from './contents.ts'
import type { Period, Question, SearchProvider } from './provider.ts'
import { bing } from './providers/bing.ts'
import { brave } from './providers/brave.ts'
import { duckduckgo } from './providers/duckduckgo.ts'
import { google } from './providers/google.ts'
import { searxng } from './providers/searxng.ts'
import { serper } from './providers/serper.ts'
import type { OpenResults } from './result-document.ts'

type Scrape = ContentMeans['scrape']
type Searching = Parameters<Searcher['search']>[1]

/** Runs `work` with a way to scrape in tabs of one session. */
type SessionScraping = <T>(limits: ScrapeLimits, work: (scrape: Scrape) => Promise<T>) => Promise<T>
type ScrapeLimits = Pick<ContentMeans, 'signal' | 'deadline'>

export interface SearchMeans {
  readonly config: SearchConfig
  readonly scrape: Scraper['scrape']
  /** @throws BaxError `session_not_found` or `session_closed`. */
  readonly session: (sessionId: string, caller: Caller) => SessionScraping
}

export class WebSearch implements Searcher {
  readonly #means: SearchMeans

  constructor(means: SearchMeans) {
    this.#means = means
  }

  async search(input: SearchInput, { signal, caller }: Searching): Promise<SearchAnswer> {
    const wishes = scrapeWishes(input)
    const scrapes = wishes.formats.length > 0
    // What cannot be asked of a page is said before anybody is asked anything.
    if (scrapes) await checkSchemaOf(planScrape({ ...wishes, url: 'https://page.invalid' }))
    const session = input.session_id === undefined ? undefined : this.#means.session(input.session_id, caller)
    const deadline = performance.now() + input.timeout
    const { provider, results, warnings } = await this.#ask(input, signal)
    const data = results.map((result, at) => ({ ...result, position: at + 1 }))
    if (!scrapes) return answer(provider, data, warnings)
    const within = { signal, deadline }
    const addresses = data.map(({ url }) => url)
    const scraping = (scrape: Scrape, together: number) => contentsOf(addresses, wishes, { ...within, scrape, together }) // prettier-ignore
    const { search: most } = limits
    const scraped = session
      ? await session(within, (scrape) => scraping(scrape, most.tabs))
      : await scraping((page, call) => this.#means.scrape(page, { ...call, caller }), most.together)
    const whole = data.map((result, at) => ({ ...result, content: scraped.contents[at]! }))
    return answer(provider, whole, [...warnings, ...scraped.warnings])
  }

  async #ask(input: SearchInput, caller: AbortSignal) {
    const { config } = this.#means
    if (input.provider) checkProvider(input.provider, config)
    const names = input.provider ? [input.provider] : searchOrder(config)
    const clock = new AbortController()
    const late = () => clock.abort(new BaxError('timeout', `the time of the search was over: ${input.timeout} ms`))
    const timer = setTimeout(late, input.timeout)
    try {
      return await ask(
        names.map((name) => this.#provider(name)),
        questionOf(input),
        { caller, clock: clock.signal },
      )
    } finally {
      clearTimeout(timer)
    }
  }

  #provider(name: SearchProviderName): SearchProvider {
    const access = this.#means.config.providers?.[name] ?? {}
    const makers = { searxng, brave, serper, google, duckduckgo, bing }
    return makers[name](access, this.#openResults)
  }

  /** The page as it was sent, to a browser: what scripts make of it afterwards has other shapes. */
  readonly #openResults: OpenResults = async (url, signal) => {
    const input = scrapeInput.parse({ url, formats: ['rawHtml'], render: 'browser', only_main_content: false })
    const { data, error, code } = await this.#means.scrape(input, { signal, caller: everybody })
    const html = data?.rawHtml
    if (html === undefined) throw new BaxError('provider_failed', `its page cannot be had${error ? `: ${error} [${code}]` : ''}`) // prettier-ignore
    const { status_code: status = 200, url: reached = url } = data!.metadata
    return { tree: treeFromHtml(html, reached), status }
  }
}

function questionOf({ query, limit, lang, country, tbs }: SearchInput): Question {
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
): SearchAnswer => ({
  success: true,
  data,
  provider,
  ...(warnings.length > 0 && { warning: warnings.join('; ') }),
})
