/** Plan, stores and page loader of a running crawl. */
import type { Log } from '../../core/config/config.ts'
import type { RequestRules } from '../egress/egress.ts'
import type { PageScraper } from '../scrape/scraper.ts'
import type { EarlierPages } from './earlier.ts'
import type { Concurrency } from './pacing/concurrency.ts'
import type { SharedHosts } from './pacing/host-gate.ts'
import type { PageSource } from './pages/page-source.ts'
import type { CrawlPlan } from './plan.ts'
import type { CrawlSite } from './site.ts'
import type { CrawlAnswers } from './store/crawl-answers.ts'
import type { Journal, PlacedLine } from './store/journal.ts'
import type { PageFile } from './store/page-file.ts'
import type { CrawlRecord } from './store/record.ts'

export interface RunFacts extends Pick<PageScraper, 'track'> {
  /** Rules of requests for robots.txt and sitemaps. */
  readonly egress: RequestRules
  readonly plan: CrawlPlan
  /** Opens the source of the pages, which stops when the signal is aborted. */
  readonly openSource: (signal: AbortSignal, site: CrawlSite) => PageSource
  readonly record: CrawlRecord
  readonly journal: Journal
  readonly pages: PageFile
  readonly answers: CrawlAnswers
  readonly log: Log
  /** Pages of the crawl to compare with. */
  readonly earlier?: EarlierPages | undefined
  /** Adapts the concurrency if the request leaves it open; to the load of this machine by default. */
  readonly adapt?: (onChange: () => void) => Concurrency
  /** Limits on hosts that hold across crawls, in addition to those of this crawl. */
  readonly hosts?: SharedHosts
  /** Time until the crawl times out; that of the request by default. */
  readonly timeLeftMs?: number
  readonly before?: AsyncIterable<PlacedLine>
  /** Indexes in `data` of pages that can no longer be read. */
  readonly damaged?: readonly number[]
}
