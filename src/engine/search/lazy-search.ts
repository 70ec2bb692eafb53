/** Web search, loaded on first use. */
import type { Caller } from '../../core/access/caller.ts'
import type { EngineConfig } from '../../core/config/config.ts'
import type { Searcher } from '../../core/engine.ts'
import type { Session } from '../browser/session/session.ts'
import type { LazyScraper } from '../scrape/lazy-scraper.ts'

export function lazySearch(
  { search: config = {}, log }: EngineConfig,
  scraper: LazyScraper,
  /** @throws BaxError `session_closed` or `session_not_found`. */
  live: (idOrName: string, caller: Caller) => Session,
): Searcher {
  const load = async () => {
    const { WebSearch } = await import('./web-search.ts')
    return new WebSearch({
      config,
      scrape: (input, call) => scraper.scrape(input, call),
      session: (idOrName, caller) => {
        const session = live(idOrName, caller)
        return async (limits, work) => {
          const { inSessionTabs } = await import('./session-tabs.ts')
          return inSessionTabs(session, { ...limits, scraper, log }, work)
        }
      },
    })
  }
  let loaded: ReturnType<typeof load> | undefined
  return { search: async (input, call) => (await (loaded ??= load())).search(input, call) }
}
