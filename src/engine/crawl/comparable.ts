/** Checks whether a crawl can be compared with an earlier one, and how much their options differ. */
import { isDeepStrictEqual } from 'node:util'
import { BaxError } from '../../core/errors/errors.ts'
import type { CrawlInput } from '../../core/shapes/crawl.ts'
import { refuseCredentials } from '../scrape/plan.ts'
import { isUnverified, planCrawl } from './plan.ts'
import { hostOf, identityOf } from './queue/url-identity.ts'
import type { CrawlView } from './views.ts'

/** Options that shape the content of pages. */
const contentOptions = [
  'formats',
  'only_main_content',
  'include_tags',
  'exclude_tags',
  'site_memory',
  'json_options',
  'remove_base64_images',
  'render',
  'block_ads',
  'remove_overlays',
  'wait_for',
] as const satisfies readonly (keyof CrawlInput)[]

/** Options that select pages among the links of a page. */
const selectingOptions = [
  'include_paths',
  'exclude_paths',
  'path_syntax',
  'below_start',
  'allow_subdomains',
  'allow_external_links',
  'allowed_domains',
  'ignore_robots',
  'respect_signals',
] as const satisfies readonly (keyof CrawlInput)[]

/** The start page of a site may redirect between these forms of its URL. */
const anyForm = { www: true }

/** Checks that a crawl can be compared with an earlier one. @throws BaxError `invalid_request` or `conflict` */
export function assertComparable(
  input: CrawlInput,
  { record, isRunning }: Pick<CrawlView, 'record' | 'isRunning'>,
): void {
  const plan = planCrawl(input)
  if (plan.page(input.url).tracking)
    throw new BaxError('invalid_request', 'since cannot be combined with the format changeTracking', {
      hint: 'leave out one of them: since reports the changes of every page',
    })
  refuseCredentials(input, 'since')
  if (record.input.identity?.credentials)
    throw incomparable(`the crawl ${record.id} was read with credentials`, 'pass a crawl without them')
  const earlier = planCrawl(record.input).start
  if (record.input.list) throw incomparable(`${record.id} is no crawl, but a list of pages`, 'pass the ID of a crawl')
  if (hostOf(plan.start, anyForm) !== hostOf(earlier, anyForm))
    throw incomparable(`the crawl ${record.id} is of another site, ${earlier.origin}`, 'pass a crawl of the same site')
  if (isRunning && !record.finished) throw new BaxError('conflict', 'the crawl in since is running')
  const other = contentOptions.find((name) => !isDeepStrictEqual(input[name], record.input[name]))
  const hint = 'use the same formats and options for both crawls, or crawl once without since'
  const formOf = (of: CrawlInput) => planCrawl(of).page(of.url).markdown
  if (!other && formOf(input) !== formOf(record.input))
    throw incomparable(`the crawl ${record.id} had another value of prefer_markdown`, hint)
  if (other) throw incomparable(`the crawl ${record.id} had another value of ${other}`, hint)
  if (isUnverified(input) !== isUnverified(record.input))
    throw incomparable(`the crawl ${record.id} had another value of skip_tls_verification`, hint)
  if (record.input.dry_run || input.dry_run) throw incomparable('a dry run has no pages to compare', hint)
}

function incomparable(message: string, hint: string): BaxError {
  return new BaxError('invalid_request', `since: ${message}`, { hint, details: [{ path: 'since', message }] })
}

export interface Differences {
  /** Names of the options because of which a crawl may not find pages of the earlier one. */
  readonly names: readonly string[]
  /** Whether both crawls start to look for pages at the same place. */
  readonly haveSameSources: boolean
}

/** Returns how a crawl differs from an earlier one in the options that decide about the set of its pages. */
export function differencesOf(input: CrawlInput, earlier: CrawlInput): Differences {
  const startOf = (of: CrawlInput) => identityOf(planCrawl(of).start, anyForm)
  const sources = [
    ...(startOf(input) === startOf(earlier) ? [] : ['url']),
    ...(input.sitemap === earlier.sitemap ? [] : ['sitemap']),
    ...((input.llms ?? 'skip') === (earlier.llms ?? 'skip') ? [] : ['llms']),
  ]
  const names = [
    ...sources,
    ...(input.max_depth < earlier.max_depth ? ['max_depth'] : []),
    ...selectingOptions.filter((name) => !isDeepStrictEqual(input[name], earlier[name])),
  ]
  return { names, haveSameSources: sources.length === 0 }
}
