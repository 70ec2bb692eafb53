/** Converts the input of a crawl to scrape plans for its pages. */
import { noIdentity } from '../../core/identity.ts'
import { pick } from '../../core/pick.ts'
import type { UrlList } from '../../core/shapes/jobs/url-list.ts'
import type { CrawlInput } from '../../core/shapes/crawl.ts'
import { normaliseUrl } from '../../core/net/urls.ts'
import { webhookOf } from '../../core/shapes/jobs/webhook.ts'
import type { ReadIdentity } from '../render/identity/identity.ts'
import type { PageScraper } from '../scrape/scraper.ts'
import type { Origin } from '../../core/process/turns.ts'
import { scrapeUrl } from '../render/http/web-url.ts'
import { planScrape, refuseCredentials, type ScrapePlan } from '../scrape/plan.ts'
import { crawlableUrl } from './queue/url-identity.ts'
import { type PathRules, pathRules } from './queue/scope.ts'

export interface CrawlPlan {
  readonly input: CrawlInput
  /** ID of the key that the crawl belongs to. */
  readonly from: Origin
  readonly start: URL
  /** URLs of a list as written, by their normal form; undefined for a crawl that follows links. */
  readonly list?: ReadonlyMap<string, string>
  readonly rules: PathRules
  readonly page: (url: string) => ScrapePlan
}

/** Sources of the URLs of a crawl. Crawls stored by earlier versions do not have `llms`. */
export const sourcesOf = ({ list, sitemap, llms = 'skip', max_depth: depth, limit }: Sources) => ({
  links: !list && sitemap !== 'only' && llms !== 'only',
  sitemap: !list && sitemap !== 'skip' && llms !== 'only',
  llms: !list && (llms === 'only' || (llms === 'include' && sitemap !== 'only')) && depth > 0 && limit > 1,
})

type Sources = Pick<CrawlInput, 'list' | 'sitemap' | 'max_depth' | 'limit'> & Partial<Pick<CrawlInput, 'llms'>>

/** Options of a crawl that apply to each of its pages. */
const pageOptions = [
  'formats',
  'wait_for',
  'json_options',
  'change_tracking_options',
  'only_main_content',
  'include_tags',
  'exclude_tags',
  'remove_base64_images',
  'render',
  'timeout',
  'block_ads',
  'remove_overlays',
  'allowed_domains',
] as const

/** Whether a crawl, before or after its identity is encrypted, accepts any certificate. */
export const isUnverified = ({ identity, skip_tls_verification: skips }: CrawlInput): boolean =>
  identity?.unverified ?? skips

/** @throws BaxError `invalid_request` or `url_blocked` */
export function planCrawl(input: CrawlInput, from: Origin = null, identity?: ReadIdentity): CrawlPlan {
  const { prefer_markdown: prefer } = input
  // The HTML of a page has more links than its Markdown. Crawls stored by earlier versions have no preference.
  const needsHtml = prefer === 'auto' && !input.list && input.llms !== 'only'
  const options = { ...pick(input, pageOptions), prefer_markdown: needsHtml ? 'never' : (prefer ?? 'never') } as const
  const actions = [...(input.list?.actions ?? [])]
  // Versions of pages are kept apart by it.
  const tls = { skip_tls_verification: isUnverified(input) }
  const page = (url: string): ScrapePlan => {
    const plan = planScrape({ url, ...options, ...noIdentity, ...tls, max_age: 0, actions }, from)
    return identity ? { ...plan, identity: input.list ? identity.at(plan.url) : identity } : plan
  }
  const first = page(input.url)
  if (first.tracking) refuseCredentials(input, 'the format changeTracking')
  const startUrl = new URL(first.url)
  const start = crawlableUrl(startUrl.href)!
  if (input.list) return { from, ...listPlan(input, input.list, page) }
  return {
    input,
    from,
    start,
    rules: pathRules(input),
    // The start page keeps the URL as the caller wrote it.
    page: (url) => (url === start.href ? page(input.url) : withCredentials(page(url), startUrl)),
  }
}

/**
 * Checks a crawl before it is accepted.
 * @throws BaxError `invalid_request`, `url_blocked`, `model_not_configured`; the reason of the signal
 */
export async function checkCrawl(
  { input, from, start, page }: CrawlPlan,
  scraper: PageScraper,
  signal: AbortSignal,
): Promise<void> {
  await scraper.check(page(start.href))
  if (input.webhook !== undefined)
    await scraper.egress.check(normaliseUrl(webhookOf(input.webhook).url, 'webhook.url'), { from, signal })
}

/** Creates the plan of a job that visits the URLs of a list; each keeps the URL as the caller wrote it. */
function listPlan(input: CrawlInput, { urls }: UrlList, page: CrawlPlan['page']): Omit<CrawlPlan, 'from'> {
  const list = new Map<string, string>()
  for (const url of urls) {
    const { href } = crawlableUrl(scrapeUrl(url))!
    if (!list.has(href)) list.set(href, url)
  }
  return {
    input,
    start: new URL([...list.keys()][0]!),
    list,
    rules: pathRules(input),
    page: (url) => page(list.get(url) ?? url),
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
