/** From what was asked of a crawl to what each of its pages is asked. */
import type { CrawlInput } from '../../core/shapes/crawl.ts'
import { planScrape, type ScrapePlan } from '../scrape/plan.ts'
import { type PathRules, pathRules } from './scope.ts'

export interface CrawlPlan {
  readonly input: CrawlInput
  readonly start: URL
  readonly rules: PathRules
  /** How one page is scraped. */
  readonly page: (url: string) => ScrapePlan
}

/** @throws BaxError `invalid_request` or `url_blocked` */
export function planCrawl(input: CrawlInput): CrawlPlan {
  const page = (url: string): ScrapePlan =>
    planScrape({
      url,
      formats: input.formats,
      wait_for: input.wait_for,
      ...(input.json_options && { json_options: input.json_options }),
      only_main_content: input.only_main_content,
      remove_base64_images: input.remove_base64_images,
      render: input.render,
      timeout: input.timeout,
      max_age: 0,
      block_ads: input.block_ads,
      remove_overlays: input.remove_overlays,
      actions: [],
    })
  return { input, start: new URL(page(input.url).url), rules: pathRules(input), page }
}
