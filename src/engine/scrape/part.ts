/** The engine's scraper, loaded when the first page is asked for. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { Scraper } from '../../core/engine.ts'
import type { ScrapeAnswer, ScrapeInput } from '../../core/shapes/scrape.ts'
import type { Egress } from '../egress/egress.ts'
import type { Obtain, PageScraper, Waiting } from './scraper.ts'
import type { PageSteps } from './steps.ts'

export interface ScraperPart extends Scraper {
  /** A page in steps, for callers that choose between them. */
  steps(): Promise<PageSteps>
  scrapeFrom(input: ScrapeInput, waiting: Waiting, way: Obtain): Promise<ScrapeAnswer>
  /** Pages that wait to be rendered. */
  readonly waiting: number
  close(): Promise<void>
}

export function scraperPart(config: EngineConfig, egress: Egress): ScraperPart {
  let loading: Promise<PageScraper> | undefined
  let loaded: PageScraper | undefined
  const load = () =>
    (loading ??= import('./scraper.ts').then(({ PageScraper }) => (loaded = new PageScraper(config, egress))))
  return {
    get waiting() {
      return loaded?.waiting ?? 0
    },
    scrape: async (input, call) => (await load()).scrape(input, call),
    scrapeFrom: async (input, waiting, way) => (await load()).scrapeFrom(input, waiting, way),
    steps: async () => (await load()).steps,
    close: async () => (await loading)?.close(),
  }
}
