/** The URLs of a crawl as rows of its summary page: pages, failed pages, and those that were not visited. */
import type { CrawlAccounts, CrawlError, SkipReason } from '../../../core/shapes/crawl.ts'
import type { CrawledPage } from '../mirror/mirror.ts'

export type RowKind = 'page' | 'failed' | 'skipped' | 'blocked'

export interface Row {
  readonly kind: RowKind
  readonly url: string
  readonly title?: string | undefined
  readonly depth?: number | undefined
  readonly status?: number | undefined
  /** When it was finished, as ISO 8601. */
  readonly ts?: string | undefined
  /** A warning, an error, or the reason why the URL was not visited. */
  readonly note?: string | undefined
  readonly code?: string | undefined
}

/** Why URLs are skipped, for readers who do not know the reasons. */
const skipTexts: Readonly<Record<SkipReason | 'robots', string>> = {
  excluded: 'excluded by the paths of the crawl',
  logout: 'may end the session of the reader',
  off_host: 'on another host',
  too_long: 'the URL is too long',
  max_depth: 'deeper than --max-depth',
  limit: 'beyond --limit',
  redirect_duplicate: 'redirects to a page that was visited',
  content_signal: 'the site refuses the use of its content',
  out_of_time: 'the time of the crawl was over',
  cancelled: 'the crawl was cancelled',
  robots: 'disallowed by robots.txt',
}

/** Returns what the summary keeps of a page: no content. */
export function pageRow({ depth, page, change }: CrawledPage, ts: string): Row {
  const { metadata, warning } = page
  const { url, sourceURL, title, status_code } = metadata
  const notes = [
    ...(change && change !== 'same' ? [`${change} since the earlier crawl`] : []),
    ...(warning ? [warning] : []),
  ]
  return {
    kind: 'page',
    url: url ?? sourceURL,
    title,
    depth,
    status: status_code,
    ts,
    ...(notes.length > 0 && { note: notes.join('; ') }),
  }
}

const errorRow = ({ url, error, code, depth, status_code }: CrawlError, ts: string | undefined): Row => ({
  kind: 'failed',
  url,
  depth,
  status: status_code,
  ts,
  note: error,
  code,
})

/** Returns the rows after those of the pages; `failedAt` has the times of errors by URL. */
export const otherRows = (
  { errors, skipped, robots_blocked }: CrawlAccounts,
  failedAt: ReadonlyMap<string, string> = new Map(),
): Row[] => [
  ...errors.map((error) => errorRow(error, failedAt.get(error.url))),
  ...skipped.map(({ url, reason }): Row => ({ kind: 'skipped', url, note: skipTexts[reason], code: reason })),
  ...robots_blocked.map((url): Row => ({ kind: 'blocked', url, note: skipTexts.robots, code: 'robots' })),
]
