/** The engine's scraper, loaded when the first page is asked for. */
import type { EngineConfig } from '../../core/config.ts'
import type { Scraper } from '../../core/engine.ts'
import type { PageScraper } from './scraper.ts'

export interface ScraperPart extends Scraper {
  close(): Promise<void>
}

export function scraperPart(config: EngineConfig): ScraperPart {
  let loaded: Promise<PageScraper> | undefined
  const load = () => (loaded ??= import('./scraper.ts').then(({ PageScraper }) => new PageScraper(config)))
  return {
    scrape: async (input, call) => (await load()).scrape(input, call),
    close: async () => (await loaded)?.close(),
  }
}
