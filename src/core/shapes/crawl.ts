/** Shapes of crawls and maps: requests and responses (`spec: contract 8`). */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { scrapeData, scrapeOptions, sender, warningFields } from './scrape.ts'
import { changeStatuses, siteChanges } from './jobs/changes.ts'
import { eventOf, flag, identifier, integer, named, number, urlText } from './fields.ts'
import { llmsEntry, llmsFile, siteMap } from './jobs/sources.ts'
import { scope } from './jobs/crawl-scope.ts'
import { readSession, type SealedIdentity } from './read/identity.ts'
import { tagFields } from './read/tags.ts'
import { respectedSignals } from './read/terms.ts'
import type { UrlList } from './jobs/url-list.ts'
import { webhookInput } from './jobs/webhook.ts'

const { crawl } = limits
const {
  formats,
  wait_for,
  json_options,
  change_tracking_options,
  only_main_content,
  remove_base64_images,
  render,
  block_ads,
  remove_overlays,
  prefer_markdown,
} = scrapeOptions.shape

const crawlStatuses = ['scraping', 'completed', 'failed', 'cancelled'] as const

/** Reasons why a discovered URL was not visited, or its page is not in `data`. */
const skipReasons = [
  'excluded',
  'logout',
  'off_host',
  'too_long',
  'max_depth',
  'limit',
  'redirect_duplicate',
  'content_signal',
  'out_of_time',
  'cancelled',
] as const

const start = urlText.describe('Start page; https:// when it has no scheme, http:// on loopback hosts')
const depth = z.int().describe('Number of links away from the start page')
const counter = z.int().min(0)

export const crawlInput = z.object({
  url: start,
  limit: integer(1, crawl.mostPages)
    .default(crawl.pages)
    .describe(`Maximum number of pages; a server allows ${crawl.serverPages} unless configured otherwise`),
  max_depth: integer(0, crawl.mostDepth).default(crawl.depth).describe('Maximum link depth; 0 = the start page'),
  formats,
  wait_for,
  ...scope,
  respect_signals: respectedSignals,
  allow_external_links: flag('Also follow links to other hosts'),
  sitemap: siteMap('skip'),
  llms: llmsFile,
  only_main_content,
  ...tagFields,
  site_memory: z.boolean().default(true).describe('Remove parts of the content that repeat on other pages'),
  json_options,
  change_tracking_options,
  remove_base64_images,
  render,
  block_ads,
  remove_overlays,
  prefer_markdown,
  timeout: number(1, limits.scrape.maxTimeoutMs)
    .default(limits.scrape.timeoutMs)
    .describe('Timeout for each page in milliseconds, to which wait_for is added'),
  timeout_secs: number(1, crawl.mostSecs)
    .default(crawl.secs)
    .describe('Timeout for the whole crawl in seconds; pages finished by then are kept'),
  dry_run: flag('Only discover which pages would be visited; `data` has no content'),
  async: flag('Respond with 202 immediately; follow the crawl by its id'),
  since: identifier
    .optional()
    .describe(
      'ID of an earlier crawl of the site with the same options (in the terminal also its folder, which may be missing): unchanged pages are kept, and changes are reported',
    ),
  webhook: webhookInput,
  scrape_options: z
    .object(scrapeOptions.shape)
    .optional()
    .meta({ offTerminal: true })
    .describe('Scrape options in one object, as sent by Firecrawl clients; those in it replace the top-level ones'),
  ...sender,
  origin: sender.origin.describe(
    'Name of the client. A request with it is treated like one of a Firecrawl client, which polls: the crawl runs in ' +
      'the background, the response is 200 with its id, and paths are regular expressions',
  ),
})

const crawlError = named('CrawlError', {
  url: z.string(),
  error: z.string(),
  code: z.string().describe('Error code, e.g. timeout, connection_failed, off_host_redirect'),
  depth,
  status_code: z.int().optional(),
})

const crawlSkipped = z.object({ url: z.string(), reason: z.enum(skipReasons) }).meta({
  id: 'CrawlSkipped',
  description:
    'excluded: by a path glob; logout: it may end the session of the reader; off_host: another host; limit: limit reached; content_signal: the site refuses a use in respect_signals',
})

const outcome = {
  success: z.boolean().describe('The start page was fetched'),
  id: z.string(),
  url: z.string().describe('URL of this crawl'),
  status: z.enum(crawlStatuses),
  total: counter.describe('Admitted pages: data and errors; during the crawl also queued pages, up to limit'),
  completed: counter.describe('Number of pages in data'),
  discovered: counter.describe('Number of discovered URLs: data, errors, skipped and robots_blocked'),
  warning: z.string().optional(),
  error: z.string().optional().describe('Why the crawl failed'),
  code: z.string().optional(),
}

const accounts = {
  errors: z.array(crawlError),
  skipped: z.array(crawlSkipped).describe(`At most ${crawl.listed}; skipped_total counts them all`),
  skipped_total: counter,
  robots_blocked: z.array(z.string()),
  changes: siteChanges.optional(),
}

const pages = {
  data: z.array(scrapeData).describe('Breadth-first, in order of discovery within a depth'),
  next: z.string().optional().describe('URL of the next pages, if there are more'),
}

/** A complete crawl. */
export const crawlAnswer = named('CrawlAnswer', { ...outcome, duration_ms: z.int(), ...pages, ...accounts })

/** A crawl that runs in the background. */
export const crawlAccepted = named('CrawlAccepted', {
  success: z.boolean(),
  id: z.string(),
  url: z.string().describe('URL of this crawl'),
})

/** Kinds of jobs that visit pages: a crawl follows links; the others visit the URLs of a list. */
const jobKinds = ['crawl', 'batch', 'extract'] as const

/** State of a crawl, with some of its pages. */
export const crawlState = named('CrawlState', {
  ...outcome,
  kind: z.enum(jobKinds),
  ...pages,
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().describe('When the crawl is deleted, unless it is the latest one of a folder'),
  duration_ms: z.int(),
})

/** Running crawls and pages of a caller. */
const crawlUsage = named('CrawlUsage', {
  crawls: z.array(
    z.object({
      id: z.string(),
      url: z.string().describe('Start page'),
      kind: z.enum(jobKinds),
      created_at: z.iso.datetime(),
      options: z.record(z.string(), z.unknown()).describe('Input of the crawl'),
    }),
  ),
  active: counter.describe('Pages being visited'),
  waiting: counter.describe('URLs in the queues of the crawls'),
  latest_success: z.iso.datetime().nullable().describe('End of the latest completed crawl that is stored'),
})

/** State of a crawl, without its pages. */
export const crawlListed = named('CrawlListed', {
  ...outcome,
  kind: z.enum(jobKinds).describe('batch and extract: a job that visits the URLs of a list'),
  start_url: z.string().describe('Start page as requested; the first URL of a list'),
  errors: counter,
  created_at: z.iso.datetime(),
  duration_ms: z.int(),
  output: z
    .string()
    .optional()
    .describe('Folder that the CLI writes the pages to; only for crawls of the local engine'),
})

export const crawlAccounts = named('CrawlAccounts', { success: z.boolean(), ...accounts })

const counters = {
  total: counter,
  completed: counter,
  discovered: counter,
  errors: counter,
  skipped: counter,
  robots_blocked: counter,
}

/** Shape of `data` by type of crawl event. All events except crawl.progress are stored and can be replayed. */
export const crawlEventData = {
  'crawl.started': z.object({ id: z.string(), url: z.string(), limit: z.int(), max_depth: z.int() }),
  'crawl.resumed': z.object({ completed: counter }),
  'crawl.found': z.object({ urls: z.array(z.string()), depth }).describe('URLs added to the queue'),
  'crawl.page': z.object({
    index: counter.describe('Number of the page; data is sorted by depth, then by number'),
    depth,
    url: z.string().describe('URL as discovered'),
    page: scrapeData,
    change: z.enum(changeStatuses).optional().describe('Change since the crawl in `since`'),
    replaces: z.boolean().optional().describe('The page was scraped again and replaces the earlier one of this index'),
    ...warningFields,
  }),
  'crawl.error': crawlError,
  'crawl.skipped': z.object({ skipped: z.array(crawlSkipped) }),
  'crawl.robots_blocked': z.object({ urls: z.array(z.string()) }),
  'crawl.removed': z.object({ urls: z.array(z.string()) }).describe('Pages of the earlier crawl that are gone'),
  'crawl.warning': z.object({ message: z.string() }),
  'crawl.progress': z
    .object({
      ...counters,
      queued: counter.describe('Number of queued URLs'),
      current: z.array(z.string()).describe('URLs being visited'),
      concurrency: z.int(),
      pages_per_second: z.number().describe('Average over the last ten seconds'),
      elapsed_ms: z.int(),
    })
    .describe('Sent periodically, never replayed'),
  'crawl.finished': z.object({
    status: z.enum(crawlStatuses),
    success: z.boolean(),
    ...counters,
    duration_ms: z.int(),
    error: z.string().optional(),
    code: z.string().optional(),
  }),
} as const

export type CrawlEventType = keyof typeof crawlEventData

/** One event as it is sent. */
export const crawlEvent = eventOf(
  crawlEventData,
  'From 1 in each crawl; crawl.progress repeats the number of the event before it',
).meta({ id: 'CrawlEvent' })

export const mapInput = z.object({
  url: start,
  limit: integer(1, crawl.mostMapped).default(crawl.mapped).describe('Maximum number of URLs'),
  max_depth: integer(0, crawl.mostDepth)
    .default(crawl.depth)
    .describe('Maximum number of links away from the start page'),
  search: z.string().min(1).max(limits.input.labelChars).optional().describe('Only list URLs that contain this text'),
  ...scope,
  sitemap: siteMap('include'),
  llms: llmsFile,
  timeout_secs: number(1, crawl.mostSecs)
    .default(crawl.mapSecs)
    .describe('Timeout in seconds; URLs discovered by then are listed'),
  session_id: readSession,
  ...sender,
})

export const mapAnswer = named('MapAnswer', {
  success: z.boolean().describe('The start page was fetched'),
  links: z.array(z.string()).describe('URLs of the site, breadth-first'),
  described: z.array(llmsEntry).optional().describe('What llms.txt says about links'),
  total: counter.describe('Length of links'),
  duration_ms: z.int(),
  warning: z.string().optional(),
  error: z.string().optional(),
  code: z.string().optional(),
})

/** A crawl as requested and stored. */
export type CrawlInput = z.output<typeof crawlInput> & {
  readonly list?: UrlList
  /** Whether webhooks use the format of Firecrawl's second API. */
  readonly v2?: true
  /** The identity, encrypted, in place of its fields. */
  readonly identity?: SealedIdentity
}
export type CrawlStatus = (typeof crawlStatuses)[number]
export type CrawlError = z.output<typeof crawlError>
export type CrawlSkipped = z.output<typeof crawlSkipped>
export type SkipReason = (typeof skipReasons)[number]
export type CrawlAnswer = z.output<typeof crawlAnswer>
export type CrawlAccepted = z.output<typeof crawlAccepted>
export type CrawlListed = z.output<typeof crawlListed>
export type CrawlUsage = z.output<typeof crawlUsage>
export type CrawlState = z.output<typeof crawlState>
export type CrawlAccounts = z.output<typeof crawlAccounts>
export type CrawlEventData = { readonly [Type in CrawlEventType]: z.output<(typeof crawlEventData)[Type]> }
export type MapInput = z.output<typeof mapInput>
export type MapAnswer = z.output<typeof mapAnswer>
