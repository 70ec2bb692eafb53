/** The engine's scraper, loaded on first use. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { Scraper } from '../../core/engine.ts'
import type { ScrapeAnswer, ScrapeInput } from '../../core/shapes/scrape.ts'
import type { Egress } from '../egress/egress.ts'
import type { PageLoader, PageScraper, ScrapeCaller } from './scraper.ts'
import type { PageSteps } from './steps.ts'

export interface LazyScraper extends Scraper {
  /** Returns the steps of a scrape, for callers that run them separately. */
  steps(): Promise<PageSteps>
  scrapeFrom(input: ScrapeInput, caller: ScrapeCaller, load: PageLoader): Promise<ScrapeAnswer>
  /** Number of pages queued for rendering. */
  readonly waiting: number
  close(): Promise<void>
}

export function lazyScraper(config: EngineConfig, egress: Egress): LazyScraper {
  let loading: Promise<PageScraper> | undefined
  let loaded: PageScraper | undefined
  const open = () =>
    (loading ??= import('./scraper.ts').then(({ PageScraper }) => (loaded = new PageScraper(config, egress))))
  return {
    get waiting() {
      return loaded?.waiting ?? 0
    },
    scrape: async (input, call) => (await open()).scrape(input, call),
    scrapeFrom: async (input, caller, load) => (await open()).scrapeFrom(input, caller, load),
    steps: async () => (await open()).steps,
    close: async () => (await loading)?.close(),
  }
}
