/** Web search, loaded on first use. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { Searcher } from '../../core/engine.ts'
import type { LazyScraper } from '../scrape/lazy-scraper.ts'
import type { SearchContext } from './web-search.ts'

export function lazySearch(
  { search: config = {}, log }: EngineConfig,
  scraper: LazyScraper,
  live: SearchContext['live'],
): Searcher {
  const context = { config, log, scraper, live }
  return { search: async (input, call) => (await import('./web-search.ts')).searchWeb(context, input, call) }
}
