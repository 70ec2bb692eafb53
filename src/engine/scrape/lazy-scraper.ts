/** The engine's scraper, loaded on first use. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { Scraper } from '../../core/engine.ts'
import type { ScrapeAnswer, ScrapeInput } from '../../core/shapes/scrape.ts'
import type { KeyShares } from '../browser/shares/key-shares.ts'
import type { Egress } from '../egress/egress.ts'
import type { PageScraper } from './scraper.ts'
import type { PageLoader, ScrapeCaller } from './steps.ts'

export interface LazyScraper extends Scraper {
  /** Returns the scraper, for callers that run the steps of a scrape separately. */
  load(): Promise<PageScraper>
  scrapeFrom(input: ScrapeInput, caller: ScrapeCaller, load: PageLoader): Promise<ScrapeAnswer>
  readonly waiting: number
  close(): Promise<void>
}

export function lazyScraper(config: EngineConfig, egress: Egress, shares: KeyShares): LazyScraper {
  let loading: Promise<PageScraper> | undefined
  let loaded: PageScraper | undefined
  const load = () =>
    (loading ??= import('./scraper.ts').then(({ PageScraper }) => (loaded = new PageScraper(config, egress, shares))))
  return {
    get waiting() {
      return loaded?.waiting ?? 0
    },
    scrape: async (input, call) => (await load()).scrape(input, call),
    parse: async (file, input, { signal, caller }) => {
      const { parseUpload } = await import('./parse-upload.ts')
      return parseUpload(file, input, { scraper: await load(), caller: { signal, from: caller.keyId } })
    },
    scrapeFrom: async (input, caller, loadPage) => (await load()).scrapeFrom(input, caller, loadPage),
    load,
    close: async () => (await loading)?.close(),
  }
}
