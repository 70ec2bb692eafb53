/** Converts the input of a crawl to scrape plans for its pages. */
import type { CrawlInput } from '../../core/shapes/crawl.ts'
import { planScrape, type ScrapePlan } from '../scrape/plan.ts'
import { crawlableUrl } from './queue/url-identity.ts'
import { type PathRules, pathRules } from './queue/scope.ts'

export interface CrawlPlan {
  readonly input: CrawlInput
  readonly start: URL
  readonly rules: PathRules
  readonly page: (url: string) => ScrapePlan
}

/** @throws BaxError `invalid_request` or `url_blocked` */
export function planCrawl(input: CrawlInput): CrawlPlan {
  const { formats, wait_for, json_options, only_main_content, remove_base64_images, render, timeout, block_ads, remove_overlays } = input // prettier-ignore
  const options = { formats, wait_for, only_main_content, remove_base64_images, render, timeout, block_ads, remove_overlays, ...(json_options && { json_options }) } // prettier-ignore
  const page = (url: string): ScrapePlan => planScrape({ url, ...options, max_age: 0, actions: [] })
  const startUrl = new URL(page(input.url).url)
  const start = crawlableUrl(startUrl.href)!
  return {
    input,
    start,
    rules: pathRules(input),
    // The start page keeps the URL as the caller wrote it.
    page: (url) => (url === start.href ? page(input.url) : withCredentials(page(url), startUrl)),
  }
}

/** Adds the credentials of the start URL to pages of the same host. */
function withCredentials(plan: ScrapePlan, { username, password, host }: URL): ScrapePlan {
  const url = new URL(plan.url)
  if (username === '' || url.host !== host) return plan
  url.username = username
  url.password = password
  return { ...plan, url: url.href }
}
