/** One search from request to results. */
import type { SearchConfig } from '../../core/config.ts'
import type { Searcher } from '../../core/engine.ts'
import { BaxError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { type SearchProviderName, searchOrder } from '../../core/search-providers.ts'
import { scrapeInput } from '../../core/shapes/scrape.ts'
import type { SearchAnswer, SearchInput } from '../../core/shapes/search.ts'
import { treeFromHtml } from '../extract/html-tree.ts'
import { planScrape } from '../scrape/plan.ts'
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

export interface SearchMeans {
  readonly config: SearchConfig
  readonly scrape: Scrape
  /**
   * Runs `work` with a way to scrape in tabs of a session.
   * @throws BaxError `session_not_found` or `session_closed`.
   */
  readonly inSession: <T>(sessionId: string, signal: AbortSignal, work: (scrape: Scrape) => Promise<T>) => Promise<T>
  /** @throws BaxError as `inSession`. */
  readonly checkSession: (sessionId: string) => void
}

export class WebSearch implements Searcher {
  readonly #means: SearchMeans

  constructor(means: SearchMeans) {
    this.#means = means
  }

  async search(input: SearchInput, { signal }: { readonly signal: AbortSignal }): Promise<SearchAnswer> {
    const wishes = scrapeWishes(input)
    const scrapes = wishes.formats.length > 0
    // What cannot be asked of a page is said before anybody is asked anything.
    if (scrapes) planScrape({ ...wishes, url: 'https://page.invalid' })
    if (input.session_id !== undefined) this.#means.checkSession(input.session_id)
    const deadline = performance.now() + input.timeout
    const { provider, results, warnings } = await this.#ask(input, signal)
    const data = results.map((result, at) => ({ ...result, position: at + 1 }))
    if (!scrapes) return answer(provider, data, warnings)
    const means = { signal, deadline }
    const scraped = await this.#scraping(input.session_id, signal, (scrape, together) =>
      contentsOf(
        data.map(({ url }) => url),
        wishes,
        { ...means, scrape, together },
      ),
    )
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
    const { data, error, code } = await this.#means.scrape(input, { signal })
    const html = data?.rawHtml
    if (html === undefined) throw new BaxError('provider_failed', `its page cannot be had${error ? `: ${error} [${code}]` : ''}`) // prettier-ignore
    const { status_code: status = 200, url: reached = url } = data!.metadata
    return { tree: treeFromHtml(html, reached), status }
  }

  #scraping<T>(
    sessionId: string | undefined,
    signal: AbortSignal,
    work: (scrape: Scrape, together: number) => Promise<T>,
  ): Promise<T> {
    if (sessionId === undefined) return work(this.#means.scrape, limits.search.together)
    return this.#means.inSession(sessionId, signal, (scrape) => work(scrape, limits.search.tabs))
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
