/** From what was asked of a crawl to what each of its pages is asked. */
import type { CrawlInput } from '../../core/shapes/crawl.ts'
import { planScrape, type ScrapePlan } from '../scrape/plan.ts'
import { crawlable } from './queue/address.ts'
import { type PathRules, pathRules } from './queue/scope.ts'

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
  const typed = new URL(page(input.url).url)
  const start = crawlable(typed.href)!
  return {
    input,
    start,
    rules: pathRules(input),
    // The start page is called what it was called by whoever asked.
    page: (url) => (url === start.href ? page(input.url) : withCredentials(page(url), typed)),
  }
}

/** A name and a password that were typed are for all pages of the host. */
function withCredentials(plan: ScrapePlan, { username, password, host }: URL): ScrapePlan {
  const url = new URL(plan.url)
  if (username === '' || url.host !== host) return plan
  url.username = username
  url.password = password
  return { ...plan, url: url.href }
}
